import type { Scope } from "../interfaces/mod.ts";

/** Says that no other relayer works for the owner of words until it ends. */
export interface WritingHold extends Disposable {
  /** @throws {SvcError} `overloaded` where one may do so by now. */
  settled(): Promise<void>;
}

/**
 * The analysed words of scopes, in sealed records: the first recall after a start, or by another
 * relayer, need not open and analyse every memory. They are sealed as memories are, with the account's
 * keys: whoever opens one needs what opens a memory. They can be lost, since the memories hold the same.
 */
export interface SavedWords {
  /** How often the words of a scope are read or written at most, milliseconds. */
  readonly pauseMs: number;
  /** Whether nothing more is taken just now: whoever has words to write comes again. */
  readonly isBusy: boolean;
  /** Whether bytes of what was dropped stay, sealed, where no call can overwrite them. */
  readonly leavesDeleted: boolean;
  /** The records of a scope; nothing where there are none, or none that can be read. */
  read(scope: Scope): Promise<readonly Uint8Array[]>;
  /**
   * Writes the records of a scope, unless it was dropped since it had been dropped `drops` times.
   *
   * @param hold Says that no other relayer removed anything since the records were as they are: it is
   * ended as soon as a later removal would be noticed.
   */
  write(
    scope: Scope,
    drops: number,
    make: () => AsyncIterable<Uint8Array>,
    hold: WritingHold,
  ): Promise<void>;
  /** Removes what is kept of a scope in which something was deleted. */
  drop(scope: Scope): Promise<void>;
  /** How often a scope was dropped. */
  drops(scope: Scope): number;
}
