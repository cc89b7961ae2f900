import { SvcError } from "../errors.ts";
import { BODY_TIMEOUT_SECONDS, SIGNED_BODY_BYTES } from "../protocol/limits.ts";

/** Reads at most so many bytes. */
async function readCounted(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of body) {
    total += part.length;
    // Leaving the loop cancels the stream.
    if (total > SIGNED_BODY_BYTES) throw new SvcError("body_too_large");
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

async function readInTime(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new SvcError("request_timeout")),
    BODY_TIMEOUT_SECONDS * 1000,
  );
  try {
    const reading = readCounted(body);
    reading.catch(() => {}); // A body that fails after its deadline is nobody's error.
    return await Promise.race([reading, late.promise]);
  } catch (cause) {
    throw cause instanceof SvcError ? cause : new SvcError("request_timeout", undefined, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Refuses content types other than JSON, and encodings. */
export function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const encoding = headers.get("content-encoding")?.trim().toLowerCase();
  if (type !== "application/json" || (encoding !== undefined && encoding !== "identity")) {
    throw new SvcError("unsupported_media_type");
  }
}

/**
 * Parses the JSON body of an MCP message: at most 2 MiB, within 30 s.
 *
 * @throws {SvcError} `unsupported_media_type`, `body_too_large`, `request_timeout`,
 * `malformed_json`.
 */
export async function readMessageBody(request: Request): Promise<unknown> {
  checkMediaType(request.headers);
  if (Number(request.headers.get("content-length") ?? 0) > SIGNED_BODY_BYTES) {
    throw new SvcError("body_too_large");
  }
  const bytes = request.body === null ? new Uint8Array() : await readInTime(request.body);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new SvcError("malformed_json", undefined, { cause });
  }
}

/** Whether an `Accept` header takes a type; a missing one takes none (PROTOCOL section 11). */
function accepts(accept: string, type: string): boolean {
  return accept.split(",").some((range) => {
    const name = range.split(";")[0]?.trim().toLowerCase();
    return name === type || name === "*/*" || name === `${type.split("/")[0]}/*`;
  });
}

/**
 * Refuses a request that would not understand its answer.
 *
 * @throws {SvcError} `not_acceptable`.
 */
export function checkAccept(headers: Headers, types: readonly string[]): void {
  const accept = headers.get("accept") ?? "";
  if (types.every((type) => accepts(accept, type))) return;
  throw new SvcError("not_acceptable", `Accept must list ${types.join(" and ")}`);
}
