import type { ComponentChildren } from "preact";
import type { SvcClient } from "../../../../src/client/client.ts";
import type { ShownMemory } from "../shown_memory.ts";

/** How somebody settled which of some memories count. */
export interface Settlement {
  /** The memories it is about. */
  readonly ids: readonly string[];
  /** The one that is looked at next. */
  readonly goTo: string;
  /** What it came to, in words. */
  readonly words: string;
  /** Whether all of them stay. */
  readonly keepsAll: boolean;
  /** What is asked of the relayer. */
  readonly work: (client: SvcClient) => Promise<void>;
}

/** What it came to where one took the place of all others. */
export const ONLY_THIS = "Only this one counts now. What it replaced is over, and still below.";

/** What became of it. */
export interface Settled extends Settlement {
  /** Why it was not settled, or not all of it. */
  readonly error: unknown;
}

/** What cards of memories need of the list that they are in. */
export interface Surroundings {
  /** When the memories are looked at, milliseconds since the epoch; absent: now, so that they can change. */
  readonly at: number | undefined;
  /** Whether what is over is shown. */
  readonly withOver: boolean;
  /** What was settled last. */
  readonly settled: Settled | undefined;
  /** What else is known of a memory of the list. */
  readonly about: (memory: ShownMemory) => ComponentChildren;
  /** Loads anew what a correction of a memory changes. */
  readonly onChanged: (memoryId: string) => Promise<void>;
  /** Settles something, and shows what it came to. */
  readonly settle: (settlement: Settlement) => Promise<void>;
}
