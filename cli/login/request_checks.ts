import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { within } from "../../src/deadline.ts";

/** Why the listener refuses a request. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The address is older than five minutes, was used, or gave way to another login. */
export const gone = (): Refusal =>
  new Refusal(410, "login_expired", "This sign-in is over: start a new one");

/** Largest body, in bytes. */
const BODY_BYTES = 16_384;
/** Longest wait for the rest of a body, in milliseconds. */
const BODY_MS = 10_000;

/** The value of a header that came exactly once. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const { rawHeaders } = request;
  let found: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== name) continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[i + 1]!;
  }
  return found;
}

/**
 * A page that rebinds its own name to this machine sends that name.
 *
 * @throws {Refusal} 403.
 */
export function checkHost(request: IncomingMessage, port: number): void {
  const host = headerOf(request, "host");
  if (host === `127.0.0.1:${port}` || host === `localhost:${port}`) return;
  throw new Refusal(403, "host_not_allowed", "This host name is not allowed");
}

/**
 * The method, the path, the origin and the content type, in this order.
 *
 * @param origin Origin of the dashboard.
 * @returns the path, one of `paths`.
 * @throws {Refusal} 404, 403, 415.
 */
export function checkHead(
  request: IncomingMessage,
  origin: string,
  paths: readonly string[],
): string {
  const { method, url = "" } = request;
  if (method !== "POST" || !paths.includes(url)) {
    throw new Refusal(404, "not_found", "There is nothing here");
  }
  if (headerOf(request, "origin") !== origin) {
    throw new Refusal(403, "origin_not_allowed", "This origin is not allowed");
  }
  const type = headerOf(request, "content-type") ?? "";
  if (!/^application\/json[ \t]*(;|$)/i.test(type)) {
    throw new Refusal(415, "unsupported_media_type", "The body must be JSON");
  }
  return url;
}

const tooLarge = (): Refusal =>
  new Refusal(413, "body_too_large", `The body is larger than ${BODY_BYTES} bytes`);

const tooLate = (): Refusal =>
  new Refusal(408, "request_timeout", "The body did not arrive in time");

/** The body's bytes; what comes after too many is dropped, so that the answer can still leave. */
function collect(request: IncomingMessage): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>();
  const late = (): void => reject(tooLate());
  request.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes <= BODY_BYTES) chunks.push(chunk);
    else reject(tooLarge());
  });
  request.on("end", () => resolve(chunks));
  request.on("error", late);
  request.on("close", late);
  return within(BODY_MS, promise, () => {
    throw tooLate();
  });
}

/**
 * Reads a body.
 *
 * @throws {Refusal} 413 over 16 KiB, 408 when it does not arrive in time, 400 when it is not UTF-8.
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  if (Number(headerOf(request, "content-length") ?? 0) > BODY_BYTES) throw tooLarge();
  const bytes = Buffer.concat(await collect(request));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(400, "malformed_json", "The body is not UTF-8");
  }
}
