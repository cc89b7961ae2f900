import { SvcError } from "../errors.ts";
import type { BlobLink, IndexEntry, Scope } from "../interfaces/mod.ts";
import type { Arena } from "./arena.ts";
import type { IndexedMemory, LoadedScope, Neighbour, SearchOptions } from "./loaded_scope.ts";
import { nearest } from "./nearest.ts";
import { ScopeVectors } from "./scope_vectors.ts";

/** RAM of an entry beside its vectors and payload: the object, its strings, its places in maps. */
const ENTRY_BYTES = 1024;

/** A loaded scope, with the methods that change it. Slots of the vectors are positions of entries. */
export class ResidentScope implements LoadedScope {
  /** Whose memories. */
  readonly scope: Scope;
  readonly #vectors: ScopeVectors;
  #entries: IndexedMemory[] = [];
  readonly #slots = new Map<string, number>();
  readonly #blobs = new Map<string, number>();
  /** Ids of memories without vectors. */
  readonly #bare = new Set<string>();
  #bytes = 0;
  #payloadBytes = 0;
  #released = false;

  /** Starts empty. */
  constructor(scope: Scope, arena: Arena) {
    this.scope = { owner: scope.owner, namespace: scope.namespace };
    this.#vectors = new ScopeVectors(arena);
  }

  /** Number of memories. */
  get size(): number {
    return this.#entries.length;
  }

  /** Sum of `bytes` of the memories. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Estimate of the RAM held, in bytes. */
  get residentBytes(): number {
    return this.#vectors.bytes + this.#payloadBytes + this.#entries.length * ENTRY_BYTES;
  }

  /** Whether {@linkcode ResidentScope.release} was called. */
  get released(): boolean {
    return this.#released;
  }

  /** A memory by id. */
  get(id: string): IndexedMemory | undefined {
    this.#check();
    const slot = this.#slots.get(id);
    return slot === undefined ? undefined : this.#entries[slot];
  }

  /** Every memory. */
  entries(): readonly IndexedMemory[] {
    this.#check();
    return this.#entries;
  }

  /** Memories without vectors of the present model. */
  withoutVectors(): readonly IndexedMemory[] {
    this.#check();
    return [...this.#bare].map((id) => this.#entries[this.#slots.get(id)!]!);
  }

  /** Whether a memory's record is stored in this blob. */
  hasBlob(blobId: string): boolean {
    return this.countBlob(blobId) > 0;
  }

  /** Number of memories whose record is stored in this blob. */
  countBlob(blobId: string): number {
    this.#check();
    return this.#blobs.get(blobId) ?? 0;
  }

  /** The nearest memories. */
  search(vector: Float32Array, options: SearchOptions): Neighbour[] {
    this.#check();
    const distances = this.#vectors.distances(vector);
    const { limit, maxDistance = Infinity } = options;
    const found = nearest(this.#entries, distances, limit, (entry, distance) => {
      return distance <= maxDistance && !this.#bare.has(entry.id) &&
        (options.accept?.(entry) ?? true);
    });
    return Array.from(found, (slot) => ({
      entry: this.#entries[slot]!,
      distance: distances[slot]!,
    }));
  }

  /** Distance of every memory. */
  distances(vector: Float32Array): Float32Array {
    this.#check();
    return this.#vectors.distances(vector).slice(0, this.size);
  }

  /**
   * Adds or replaces a memory; a lower version than the known one is ignored. A blob known for this
   * version stays known when the entry does not name one.
   * @throws {SvcError} `dimension_mismatch`, `overloaded`, `internal_error` for another scope's entry;
   * the scope must then be released.
   */
  put(entry: IndexEntry): void {
    const { owner, namespace } = this.scope;
    if (entry.owner !== owner || entry.namespace !== namespace) {
      throw new SvcError("internal_error", undefined, { cause: "an entry of another scope" });
    }
    const known = this.get(entry.id);
    if (known !== undefined && known.version > entry.version) return;
    const { vectors, ...rest } = entry;
    const blobId = entry.blobId ?? (known?.version === entry.version ? known.blobId : undefined);
    const memory: IndexedMemory = {
      ...rest,
      ...(blobId === undefined ? {} : { blobId }),
      // One copy of the scope's strings serves all, and no payload keeps a page's buffer alive.
      owner,
      namespace,
      payload: compact(entry.payload),
    };
    const slot = this.#slots.get(entry.id);
    if (slot === undefined) {
      this.#vectors.add(vectors);
      this.#slots.set(entry.id, this.#entries.length);
      this.#entries.push(memory);
    } else {
      this.#vectors.replace(slot, vectors);
      this.#count(this.#entries[slot]!, -1);
      this.#entries[slot] = memory;
    }
    this.#count(memory, 1);
    if (vectors.length === 0) this.#bare.add(entry.id);
    else this.#bare.delete(entry.id);
  }

  /** Notes a memory's blob; answers whether this version of the memory is here. */
  link(link: BlobLink): boolean {
    const slot = this.#slots.get(link.id);
    const known = this.get(link.id);
    if (slot === undefined || known?.version !== link.version) return false;
    const linked = { ...known, blobId: link.blobId };
    this.#count(known, -1);
    this.#entries[slot] = linked;
    this.#count(linked, 1);
    return true;
  }

  /** Removes a memory; an unknown id is ignored. */
  remove(id: string): void {
    this.#check();
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#bare.delete(id);
    this.#count(this.#entries[slot]!, -1);
    this.#vectors.remove(slot);
    const last = this.#entries.pop()!;
    if (slot === this.#entries.length) return;
    this.#entries[slot] = last;
    this.#slots.set(last.id, slot);
  }

  /** Gives all memory back. */
  release(): void {
    this.#released = true;
    this.#vectors.release();
    // A new array: whoever walks the old one keeps what it saw.
    this.#entries = [];
    this.#bytes = this.#payloadBytes = 0;
    this.#slots.clear();
    this.#bare.clear();
    this.#blobs.clear();
  }

  #check(): void {
    if (this.#released) throw new SvcError("overloaded");
  }

  #count(memory: IndexedMemory, sign: 1 | -1): void {
    this.#bytes += sign * memory.bytes;
    this.#payloadBytes += sign * memory.payload.byteLength;
    if (memory.blobId === undefined) return;
    const count = (this.#blobs.get(memory.blobId) ?? 0) + sign;
    if (count === 0) this.#blobs.delete(memory.blobId);
    else this.#blobs.set(memory.blobId, count);
  }
}

/** The bytes in a buffer of their own size. */
function compact(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}
