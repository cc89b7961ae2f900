import { SvcError } from "../errors.ts";
import { isTooDeep } from "../wire/json_depth.ts";

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
