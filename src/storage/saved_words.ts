import type { Scope } from "../interfaces/mod.ts";

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
   * @param isHere Whether the relayer has had the scope in memory since then: where relayers share
   * words, another one may have dropped it as soon as it has not.
   */
  write(
    scope: Scope,
    drops: number,
    make: () => AsyncIterable<Uint8Array>,
    isHere?: () => boolean,
  ): Promise<void>;
  /** Removes what is kept of a scope in which something was deleted. */
  drop(scope: Scope): Promise<void>;
  /** How often a scope was dropped. */
  drops(scope: Scope): number;
}
