import { addTo, dropFrom, type Group, idsIn } from "./groups.ts";
import type { IndexedMemory } from "./ranking.ts";

/** A larger session is no conversation that somebody follows: what comes next tells nothing there. */
const LARGEST = 1_000;

/** Which memories of a scope were said in one session, as their writers name it. */
export class Sessions {
  readonly #memories: (id: string) => IndexedMemory | undefined;
  readonly #ids = new Map<string, Group>();

  /** @param memories The memory with an id, where it is in the scope. */
  constructor(memories: (id: string) => IndexedMemory | undefined) {
    this.#memories = memories;
  }

  /** Number of sessions. */
  get size(): number {
    return this.#ids.size;
  }

  /** Notes the session of a memory. */
  add({ id, standing }: IndexedMemory): void {
    if (standing?.sessionDigest !== undefined) addTo(this.#ids, standing.sessionDigest, id);
  }

  /** Forgets a memory that is removed or replaced. */
  remove({ id, standing }: IndexedMemory): void {
    if (standing?.sessionDigest !== undefined) dropFrom(this.#ids, standing.sessionDigest, id);
  }

  clear(): void {
    this.#ids.clear();
  }

  /** The memory that follows one in its session, by the positions that their writer gave. */
  following({ standing }: IndexedMemory): IndexedMemory | undefined {
    const { sessionDigest, position } = standing ?? {};
    if (sessionDigest === undefined || position === undefined) return undefined;
    const group = this.#ids.get(sessionDigest);
    if (typeof group !== "object" || group.size > LARGEST) return undefined;
    let next: IndexedMemory | undefined;
    let nearest = Infinity;
    for (const id of idsIn(group)) {
      const memory = this.#memories(id);
      const place = memory?.standing?.position ?? -Infinity;
      if (place > position && place < nearest) [next, nearest] = [memory, place];
    }
    return next;
  }
}
