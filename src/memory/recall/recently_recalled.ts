import { BoundedMap } from "../../bounded_map.ts";
import type { Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";

/** How long after an answer a writer may say again what was in it, milliseconds. */
const ECHO_MS = 10 * 60_000;
/** Memories that are known of one key in one namespace, the latest. */
const MOST_MEMORIES = 64;
/** Keys and namespaces that are known at once; whoever recalled the longest ago makes way. */
const MOST_READERS = 1_000;

/**
 * Which memories were answered to which key in the last minutes, so that what an agent saves because it
 * has just read it can be told from what it was told anew. Ids and times only, and in RAM alone: after
 * a restart nobody has recalled anything.
 */
export class RecentlyRecalled {
  readonly #now: () => number;
  readonly #readers = new BoundedMap<string, BoundedMap<string, number>>(MOST_READERS);

  /** @param now Milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes what was answered to a key; to the relayer itself, where it has none. */
  note(scope: Scope, publicKey: string | undefined, ids: readonly string[]): void {
    if (ids.length === 0) return;
    const reader = readerOf(scope, publicKey);
    const known = this.#readers.get(reader) ?? new BoundedMap<string, number>(MOST_MEMORIES);
    // The latest one to be set is the newest.
    this.#readers.set(reader, known);
    const now = this.#now();
    for (const id of ids.slice(0, MOST_MEMORIES)) known.set(id, now);
  }

  /** Whether a memory was answered to a key in the minutes before a time, milliseconds since the epoch. */
  has(scope: Scope, publicKey: string | undefined, id: string, before: number): boolean {
    const at = this.#readers.get(readerOf(scope, publicKey))?.get(id);
    return at !== undefined && at <= before && before - at <= ECHO_MS;
  }
}

function readerOf(scope: Scope, publicKey = ""): string {
  return `${publicKey} ${scopeKey(scope)}`;
}
