import { SvcError } from "../errors.ts";

/** Deeper nesting is refused: the parser's time grows with it. */
const MAX_DEPTH = 64;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where the string ends whose opening quote is at `start`; the length when it never does. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = start;;) {
    // Natively: a text of a megabyte is one string.
    end = bytes.indexOf(QUOTE, end + 1);
    if (end < 0) return bytes.length;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/** Whether brackets outside of strings nest deeper than the limit. */
function tooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = endOfString(bytes, i);
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > MAX_DEPTH) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
  }
  return false;
}

/**
 * A JSON text. Of equal members the last one counts.
 *
 * @throws {SvcError} `malformed_json` when it is none, not UTF-8, or nested deeper than 64.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (tooDeep(bytes)) throw new SvcError("malformed_json", "The body is nested too deeply");
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
