import { SvcError } from "../errors.ts";
import { readBody } from "../wire/body/read_body.ts";

/** Reads bodies within a size limit, a deadline, and a bound on all unverified bytes in memory. */
export class BodyReader {
  readonly #budget: number;
  readonly #timeoutMs: number;
  #held = 0;

  /** Holds at most `budget` bytes at a time; a body may take `timeoutMs`. */
  constructor(budget: number, timeoutMs: number) {
    this.#budget = budget;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Reads a whole body.
   *
   * @param limit bytes.
   * @throws {SvcError} `body_too_large`, `request_timeout`, `overloaded`.
   */
  async read(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
    let own = 0;
    // What has come is counted, not what is announced: announcing costs a stranger nothing.
    const onPart = (bytes: number) => {
      if (this.#held + bytes > this.#budget) throw new SvcError("overloaded");
      this.#held += bytes;
      own += bytes;
    };
    try {
      return await readBody(request, { limit, timeoutMs: this.#timeoutMs, onPart });
    } finally {
      this.#held -= own;
    }
  }
}
