import type { MemoryLink, Standing } from "../interfaces/mod.ts";
import { addTo, dropFrom, type Group, idsIn } from "./groups.ts";
import type { IndexedMemory } from "./ranking.ts";

/** Since when a memory counts: when it became true, else when it happened or was accepted. */
export function startOf(
  { standing, occurredAt, createdAt }:
    & Pick<
      IndexedMemory,
      "occurredAt" | "createdAt"
    >
    & { readonly standing?: Pick<Standing, "validFrom"> },
): number {
  return standing?.validFrom ?? occurredAt ?? createdAt;
}

/** Whether one memory is newer than another: it counts later, or was accepted later. */
export function isNewer(a: IndexedMemory, b: IndexedMemory): boolean {
  const gap = startOf(a) - startOf(b) || a.createdAt - b.createdAt;
  return gap !== 0 ? gap > 0 : a.id > b.id;
}

/** Most memories that stand for each other one after the other; those before them stand for themselves. */
const LONGEST_CHAIN = 100;

/** A memory and the link that ties it to another. */
interface Tie {
  readonly from: string;
  readonly link: MemoryLink;
}

/**
 * How the memories of a scope stand to each other: which took another's place, which say the same, and
 * which contradict each other. Nothing of it is stored but the links of each memory, so that what
 * a deleted memory took the place of is there again.
 */
export class Relations {
  readonly #memories: (id: string) => IndexedMemory | undefined;
  /** Links to a memory, by its id. */
  readonly #ties = new Map<string, Tie[]>();
  readonly #byKey = new Map<string, Group>();
  readonly #byText = new Map<string, Group>();

  /** @param memories The memory with an id, where it is in the scope. */
  constructor(memories: (id: string) => IndexedMemory | undefined) {
    this.#memories = memories;
  }

  /** Takes a memory's links over. */
  add({ id, standing }: IndexedMemory): void {
    if (standing === undefined) return;
    const { links = [], keyDigest, textDigest } = standing;
    for (const link of links) {
      this.#ties.getOrInsertComputed(link.id, () => []).push({ from: id, link });
    }
    if (keyDigest !== undefined) addTo(this.#byKey, keyDigest, id);
    if (textDigest !== undefined) addTo(this.#byText, textDigest, id);
  }

  /** Drops the links of a memory that is removed or replaced. */
  remove({ id, standing }: IndexedMemory): void {
    if (standing === undefined) return;
    const { links = [], keyDigest, textDigest } = standing;
    for (const link of links) {
      const left = this.#ties.get(link.id)?.filter((tie) => tie.from !== id) ?? [];
      if (left.length === 0) this.#ties.delete(link.id);
      else this.#ties.set(link.id, left);
    }
    if (keyDigest !== undefined) dropFrom(this.#byKey, keyDigest, id);
    if (textDigest !== undefined) dropFrom(this.#byText, textDigest, id);
  }

  clear(): void {
    this.#ties.clear();
    this.#byKey.clear();
    this.#byText.clear();
  }

  /** Whether nothing ties a memory to others. */
  isAlone({ id, standing }: IndexedMemory): boolean {
    if (this.#ties.has(id)) return false;
    if (standing?.links !== undefined) return false;
    const { keyDigest } = standing ?? {};
    return keyDigest === undefined || typeof this.#byKey.get(keyDigest) !== "object";
  }

  /** Memories with a text, by its digest. */
  withText(textDigest: string): IndexedMemory[] {
    return this.#known(idsIn(this.#byText.get(textDigest)));
  }

  /**
   * The memory that took this one's place by a time, milliseconds since the epoch: the newest, where
   * there are several. Of memories that take each other's place in a circle, as a key and a link, an
   * import, or changes at the same moment may make one, the one that was written last counts.
   *
   * @param isShown Whether a memory is there: what is not takes nobody's place.
   */
  supersededBy(
    memory: IndexedMemory,
    at: number,
    isShown: (memory: IndexedMemory) => boolean = () => true,
  ): IndexedMemory | undefined {
    const taking = (one: IndexedMemory) =>
      this.#taking(one).filter((other) => startOf(other) <= at && isShown(other));
    const all = taking(memory);
    const newest = newestOf(all);
    // Nearly always nothing took the place of that one.
    const circle = newest && circleOf(memory, newest, (one) => newestOf(taking(one)));
    if (circle === undefined || !isWrittenLast(memory, circle)) return newest;
    return newestOf(
      all.filter((other) =>
        other !== newest && circleOf(memory, other, (one) => newestOf(taking(one))) === undefined
      ),
    );
  }

  /** What takes a memory's place at some time. */
  #taking(memory: IndexedMemory): IndexedMemory[] {
    const { keyDigest } = memory.standing ?? {};
    const sameKey = keyDigest === undefined ? [] : this.#known(idsIn(this.#byKey.get(keyDigest)));
    const others = sameKey.filter((other) => other.id !== memory.id && isNewer(other, memory));
    for (const { from, link } of this.#ties.get(memory.id) ?? []) {
      const other = link.kind === "supersedes" ? this.#memories(from) : undefined;
      if (other !== undefined && holds(memory, other, link)) others.push(other);
    }
    return others;
  }

  /** Whether what a memory says was over at a time, milliseconds since the epoch. */
  isOver(memory: IndexedMemory, at: number): boolean {
    const { standing } = memory;
    if (standing?.validTo !== undefined && standing.validTo <= at) return true;
    // Most memories are tied to none.
    if (standing?.keyDigest === undefined && !this.#ties.has(memory.id)) return false;
    return this.supersededBy(memory, at) !== undefined;
  }

  /**
   * The memory that says the same, and stands for this one. Of memories that stand for each other in a
   * circle, as an import may bring them along, the one that was accepted first stands for itself.
   */
  standsFor(memory: IndexedMemory): IndexedMemory | undefined {
    const other = this.#linkedFrom(memory);
    if (other === undefined) return undefined;
    const chain = new Set([memory]);
    for (let at: IndexedMemory | undefined = other; at; at = this.#linkedFrom(at)) {
      if (at === memory) return isFirst(memory, chain) ? undefined : other;
      if (chain.has(at)) break;
      chain.add(at);
      if (chain.size > LONGEST_CHAIN) return undefined;
    }
    return other;
  }

  /** The memory at the end of those that stand for this one; itself, where none does. */
  rootOf(memory: IndexedMemory): IndexedMemory {
    const seen = new Set<IndexedMemory>();
    let root = memory;
    for (let next: IndexedMemory | undefined = memory; next; next = this.standsFor(next)) {
      if (seen.has(next)) break;
      seen.add(next);
      root = next;
    }
    return root;
  }

  /** Whether all that stand for a memory have the text that said the same as it does. */
  isStoodForAsSaid(memory: IndexedMemory): boolean {
    const seen = new Set<IndexedMemory>();
    for (let at = memory; !seen.has(at);) {
      seen.add(at);
      const next = this.standsFor(at);
      if (next === undefined) return true;
      const link = at.standing?.links?.find(({ id, kind }) =>
        kind === "restates" && id === next.id
      );
      if ((link?.version ?? next.version) !== next.version) return false;
      at = next;
    }
    return true;
  }

  /** The memory that a link names as saying the same. */
  #linkedFrom(memory: IndexedMemory): IndexedMemory | undefined {
    for (const link of memory.standing?.links ?? []) {
      if (link.kind !== "restates") continue;
      const other = this.#memories(link.id);
      if (other !== undefined && other !== memory && isOfVersion(link, other)) return other;
    }
    return undefined;
  }

  /** Memories that say the same as this one, for which it stands. */
  restatements(memory: IndexedMemory): IndexedMemory[] {
    return this.#linked(memory, "restates")
      .filter((other) => this.standsFor(other)?.id === memory.id);
  }

  /** Memories whose place this one took. */
  supersededOf({ id, standing }: IndexedMemory): IndexedMemory[] {
    const { keyDigest, links = [] } = standing ?? {};
    const ids = links.filter(({ kind }) => kind === "supersedes").map((link) => link.id);
    const sameKey = keyDigest === undefined ? [] : idsIn(this.#byKey.get(keyDigest));
    return this.#known(new Set([...ids, ...sameKey]))
      .filter((other) => other.id !== id && this.supersededBy(other, Infinity) !== undefined);
  }

  /** Whether something newer that counts at a time says something else about the same thing. */
  isContested(memory: IndexedMemory, at: number): boolean {
    return this.conflicts(memory)
      .some((other) => isNewer(other, memory) && !this.isOver(other, at));
  }

  /** Memories that say something else about the same thing. */
  conflicts(memory: IndexedMemory): IndexedMemory[] {
    if (memory.standing?.links === undefined && !this.#ties.has(memory.id)) return [];
    const own = (memory.standing?.links ?? []).flatMap((link) => {
      const other = link.kind === "conflicts" ? this.#memories(link.id) : undefined;
      return other !== undefined && isOfVersion(link, other) ? [other] : [];
    });
    const ties = (this.#ties.get(memory.id) ?? [])
      .filter(({ link }) => link.kind === "conflicts" && isOfVersion(link, memory));
    const others = [...own, ...this.#known(ties.map(({ from }) => from))];
    return [...new Map(others.map((other) => [other.id, other])).values()];
  }

  #linked(memory: IndexedMemory, kind: MemoryLink["kind"]): IndexedMemory[] {
    const ties = this.#ties.get(memory.id) ?? [];
    return this.#known(ties.filter(({ link }) => link.kind === kind).map(({ from }) => from));
  }

  #known(ids: Iterable<string>): IndexedMemory[] {
    return [...ids].flatMap((id) => this.#memories(id) ?? []);
  }
}

/** Whether what a link names still says what was looked at. */
export function isOfVersion(
  { kind, version = 0 }: MemoryLink,
  memory: Pick<IndexedMemory, "version">,
): boolean {
  // A correction of what says the same is one of both.
  if (kind === "restates") return version <= memory.version;
  return version === 0 || version === memory.version;
}

/** The newest of some memories. */
function newestOf(memories: readonly IndexedMemory[]): IndexedMemory | undefined {
  return memories.reduce<IndexedMemory | undefined>(
    (newest, other) => newest === undefined || isNewer(other, newest) ? other : newest,
    undefined,
  );
}

/** The memories on the way from one through what follows each, where that leads back to it. */
function circleOf(
  memory: IndexedMemory,
  first: IndexedMemory,
  next: (memory: IndexedMemory) => IndexedMemory | undefined,
): ReadonlySet<IndexedMemory> | undefined {
  const way = new Set([memory]);
  for (let at: IndexedMemory | undefined = first; at !== undefined; at = next(at)) {
    if (at === memory) return way;
    if (way.has(at) || way.size > LONGEST_CHAIN) return undefined;
    way.add(at);
  }
  return undefined;
}

/** Whether no other one of some memories was written after one. */
function isWrittenLast(memory: IndexedMemory, others: Iterable<IndexedMemory>): boolean {
  for (const other of others) {
    const gap = other.updatedAt - memory.updatedAt;
    if (gap > 0 || (gap === 0 && other.id > memory.id)) return false;
  }
  return true;
}

/** Whether no other one of some memories was accepted before one. */
function isFirst(memory: IndexedMemory, others: Iterable<IndexedMemory>): boolean {
  for (const other of others) {
    const gap = other.createdAt - memory.createdAt;
    if (gap < 0 || (gap === 0 && other.id < memory.id)) return false;
  }
  return true;
}

/**
 * Whether a link counts: of two memories that name each other the one that was written last, so that no
 * pair of them disappears.
 */
function holds(memory: IndexedMemory, other: IndexedMemory, link: MemoryLink): boolean {
  if (!isOfVersion(link, memory)) return false;
  if (link.by !== "caller" && !isNewer(other, memory)) return false;
  const back = memory.standing?.links?.some(({ id, kind }) =>
    kind === "supersedes" && id === other.id
  );
  return back !== true || other.updatedAt > memory.updatedAt ||
    (other.updatedAt === memory.updatedAt && other.id > memory.id);
}
