import { SvcError } from "../errors.ts";
import { readCounted, readInTime } from "../protocol/read_body.ts";

/** Reads bodies: counted, within a deadline, and not too many unverified bytes at once. */
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
    if (request.body === null) return new Uint8Array();
    const declared = Number(request.headers.get("content-length") ?? NaN);
    // A body of unknown length is counted with the most it may have.
    const reserved = Number.isFinite(declared) ? declared : limit;
    if (this.#held + reserved > this.#budget) throw new SvcError("overloaded");
    this.#held += reserved;
    try {
      // The declared length is enforced by the framing of HTTP itself.
      const reading = Number.isFinite(declared)
        ? request.bytes() as Promise<Uint8Array<ArrayBuffer>>
        : readCounted(request.body, limit);
      return await readInTime(reading, this.#timeoutMs);
    } finally {
      this.#held -= reserved;
    }
  }
}
