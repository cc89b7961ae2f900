import { SvcError } from "../errors.ts";
import { isTooDeep, readBody } from "../wire/body/read_body.ts";
import { BODY_TIMEOUT_SECONDS, SIGNED_BODY_BYTES } from "../wire/limits.ts";

/** Refuses content types other than JSON, and encodings. */
function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const encoding = headers.get("content-encoding")?.trim().toLowerCase();
  if (type !== "application/json" || (encoding !== undefined && encoding !== "identity")) {
    throw new SvcError("unsupported_media_type");
  }
}

/**
 * Parses the JSON body of an MCP message: at most 2 MiB, 64 levels deep, within 30 s.
 *
 * @param answers Types that the answer may have; the sender must accept each.
 * @throws {SvcError} `unsupported_media_type`, `not_acceptable`, `body_too_large`,
 * `request_timeout`, `malformed_json`.
 */
export async function readMessageBody(
  request: Request,
  answers: readonly string[] = [],
): Promise<unknown> {
  checkMediaType(request.headers);
  checkAccept(request.headers, answers);
  if (Number(request.headers.get("content-length") ?? 0) > SIGNED_BODY_BYTES) {
    throw new SvcError("body_too_large");
  }
  const timeoutMs = BODY_TIMEOUT_SECONDS * 1000;
  const bytes = await readBody(request, { limit: SIGNED_BODY_BYTES, timeoutMs });
  if (isTooDeep(bytes)) throw new SvcError("malformed_json", "The body is nested too deeply");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new SvcError("malformed_json", undefined, { cause });
  }
}

/** A weight that says "not acceptable" (RFC 9110, section 12.4.2). */
const NO_WEIGHT = /^q=0(?:\.0*)?$/;

/**
 * Whether an `Accept` header takes a type; a missing one takes none (docs/protocol.md#11). Of the
 * ranges that have it, the narrowest decides.
 */
function accepts(accept: string, type: string): boolean {
  const ranges = accept.toLowerCase().split(",").map((range) => {
    const [name, ...parameters] = range.split(";").map((part) => part.trim());
    return { name, isTaken: !parameters.some((parameter) => NO_WEIGHT.test(parameter)) };
  });
  for (const name of [type, `${type.split("/")[0]}/*`, "*/*"]) {
    const same = ranges.filter((range) => range.name === name);
    if (same.length > 0) return same.some(({ isTaken }) => isTaken);
  }
  return false;
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
