import { SvcError } from "../errors.ts";

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
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new SvcError("request_timeout")), this.#timeoutMs);
    try {
      // The declared length is enforced by the framing of HTTP itself.
      const reading = Number.isFinite(declared)
        ? request.bytes() as Promise<Uint8Array<ArrayBuffer>>
        : readCounted(request.body, limit);
      reading.catch(() => {}); // A body that fails after its deadline is nobody's error.
      return await Promise.race([reading, late.promise]);
    } catch (error) {
      if (error instanceof SvcError) throw error;
      throw new SvcError("request_timeout", undefined, { cause: error });
    } finally {
      clearTimeout(timer);
      this.#held -= reserved;
    }
  }
}

async function readCounted(
  body: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of body) {
    total += part.length;
    // Leaving the loop cancels the stream.
    if (total > limit) throw new SvcError("body_too_large");
    parts.push(part);
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
