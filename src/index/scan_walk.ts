import { SvcError } from "../errors.ts";
import type { ScanPage } from "../interfaces/mod.ts";

/** Pages in a row that may be empty: what they held may just have been removed. */
const MOST_EMPTY = 100;

/** A walk through the pages of a scan; one that would not end is refused. */
export class ScanWalk {
  readonly #followed = new Set<string>();
  #empty = 0;

  /**
   * Where the page after this one starts; `undefined` after the last one.
   *
   * @throws {SvcError} `storage_unavailable`, not retryable, when the store leads in a circle, or on and
   * on without entries.
   */
  next({ entries, cursor }: ScanPage): string | undefined {
    if (cursor === undefined) return undefined;
    this.#empty = entries.length > 0 ? 0 : this.#empty + 1;
    if (this.#followed.has(cursor) || this.#empty > MOST_EMPTY) {
      throw new SvcError("storage_unavailable", "The vector store's scan does not end", {
        retryable: false,
      });
    }
    this.#followed.add(cursor);
    return cursor;
  }
}
