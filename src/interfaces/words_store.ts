import type { Scope } from "./common.ts";

/**
 * What the texts of scopes came to when they were analysed, in sealed records. It can be made again out
 * of the memories, so that nothing but time is lost with it.
 */
export interface WordsStore {
  /** The records of a scope, in the order in which they were written; none where nothing is kept. */
  read(scope: Scope): Promise<Uint8Array[]>;
  /**
   * Keeps records of a scope in the place of those before: all of them, or nothing, as when `make`
   * throws.
   *
   * @param make Makes the records, about a megabyte each; called again where that has to be done anew.
   * @throws {SvcError} `overloaded` where the owner is not this opening's; `storage_unavailable`.
   */
  write(scope: Scope, make: () => AsyncIterable<Uint8Array>): Promise<void>;
  /** Removes the records of a scope; durable once it resolves. */
  drop(scope: Scope): Promise<void>;
}
