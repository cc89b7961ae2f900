import type { ChainObject } from "./object.ts";

function ownerKey({ owner }: ChainObject): string | undefined {
  if (owner.kind === "address") return `a${owner.address}`;
  if (owner.kind === "object") return `o${owner.parent}`;
  return undefined;
}

/** The live objects of the chain, findable by id, by owner and by parent. */
export class ObjectStore {
  readonly #objects = new Map<string, ChainObject>();
  readonly #owned = new Map<string, Set<string>>();

  /** The object of a normalized id. */
  get(id: string): ChainObject | undefined {
    return this.#objects.get(id);
  }

  /** Writes an object in place of its earlier version. */
  set(object: ChainObject): void {
    this.delete(object.id);
    this.#objects.set(object.id, object);
    const key = ownerKey(object);
    if (key === undefined) return;
    const ids = this.#owned.get(key) ?? new Set();
    ids.add(object.id);
    this.#owned.set(key, ids);
  }

  /** Removes an object; absent ids are ignored. */
  delete(id: string): void {
    const before = this.#objects.get(id);
    if (before === undefined) return;
    this.#objects.delete(id);
    const key = ownerKey(before);
    if (key === undefined) return;
    const ids = this.#owned.get(key);
    ids?.delete(id);
    if (ids?.size === 0) this.#owned.delete(key);
  }

  /** Every object. */
  values(): IterableIterator<ChainObject> {
    return this.#objects.values();
  }

  /** Objects of an address in the order of their ids: the order of pages is stable. */
  ownedBy(address: string): ChainObject[] {
    return this.#list(`a${address}`);
  }

  /** Children of an object in the order of their ids. */
  childrenOf(parent: string): ChainObject[] {
    return this.#list(`o${parent}`);
  }

  #list(key: string): ChainObject[] {
    const found: ChainObject[] = [];
    for (const id of [...this.#owned.get(key) ?? []].sort()) {
      const object = this.#objects.get(id);
      if (object !== undefined) found.push(object);
    }
    return found;
  }
}
