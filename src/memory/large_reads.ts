import { Deadline } from "../deadline.ts";
import type { IndexedMemory } from "../index/ranking.ts";
import type { Scope } from "../interfaces/mod.ts";
import type { Caller } from "./caller.ts";
import type { FairTurns } from "./fair_turns.ts";
import { type Opened, type Opening, openMemories } from "./open.ts";

/** Most sealed bytes of the memories that one answer holds, where it is more than one: 4 MiB. */
export const ANSWER_BYTES = 4_194_304;
/** Reads of more sealed bytes than this take turns: 256 KiB. */
const LARGE_BYTES = 262_144;
/** Sealed bytes that are opened at once: about 2 ms of the event loop. */
const PART_BYTES = 524_288;
/** Longest wait for a turn, milliseconds. */
const WAIT_MS = 20_000;

/** How many of some memories fit into one answer, by the bytes of each; at least one. */
export function countThatFits(memories: readonly Pick<IndexedMemory, "bytes">[]): number {
  let sum = 0;
  const end = memories.findIndex(({ bytes }) => (sum += bytes) > ANSWER_BYTES);
  return end < 0 ? memories.length : Math.max(1, end);
}

/** Memories in parts, in their order: of at most so many, and of 512 KiB where one is not larger. */
export function* partsOf(
  memories: readonly IndexedMemory[],
  most = Infinity,
): Generator<IndexedMemory[], void> {
  let part: IndexedMemory[] = [];
  let bytes = 0;
  for (const memory of memories) {
    if (part.length >= most || (part.length > 0 && bytes + memory.bytes > PART_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(memory);
    bytes += memory.bytes;
  }
  if (part.length > 0) yield part;
}

/** Where the turns of large reads are taken. */
export type ReadingPages = Opening & { readonly largeReads: FairTurns };

/**
 * Opens the memories of one answer as {@linkcode openMemories} does. Large reads take turns among
 * owners, and let other work run between their parts.
 *
 * @throws {SvcError} what `openMemories` throws; `overloaded` where no turn came in time.
 */
export async function openPage(
  domain: ReadingPages,
  caller: Caller,
  scope: Scope,
  memories: readonly IndexedMemory[],
): Promise<Opened[]> {
  const bytes = memories.reduce((sum, memory) => sum + memory.bytes, 0);
  if (bytes <= LARGE_BYTES) return await openMemories(domain, caller, scope, memories);
  using deadline = new Deadline(WAIT_MS, caller.signal);
  const leave = await domain.largeReads.enter(deadline.signal, scope.owner);
  try {
    const opened: Opened[] = [];
    for (const part of partsOf(memories)) {
      opened.push(...await openMemories(domain, caller, scope, part));
      await new Promise<void>((resolve) => setTimeout(resolve));
    }
    return opened;
  } finally {
    leave();
  }
}
