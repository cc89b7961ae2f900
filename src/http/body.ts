import { SvcError } from "../errors.ts";
import { isTooDeep, readBody } from "../wire/body/read_body.ts";

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

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * A JSON text. Of equal members the last one counts.
 *
 * @throws {SvcError} `malformed_json` when it is none, not UTF-8, or nested deeper than 64.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (isTooDeep(bytes)) throw new SvcError("malformed_json", "The body is nested too deeply");
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    // Without the cause: the parser's message quotes the body.
    throw new SvcError("malformed_json");
  }
}

/**
 * Lets a body through that says it is JSON and uncompressed.
 *
 * @throws {SvcError} `unsupported_media_type`.
 */
export function checkJsonHeaders(headers: Headers): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (type !== "application/json" || encoding !== "identity") {
    throw new SvcError("unsupported_media_type");
  }
}
