import { SvcError } from "../errors.ts";

/**
 * Reads a body of unknown length.
 *
 * @param limit most bytes it may have.
 * @throws {SvcError} `body_too_large`.
 */
export async function readCounted(
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

/**
 * Waits for a body; one that breaks off is one that does not come.
 *
 * @param timeoutMs longest wait, milliseconds.
 * @throws {SvcError} `request_timeout`, and what the reading throws of its own.
 */
export async function readInTime<T>(reading: Promise<T>, timeoutMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new SvcError("request_timeout")), timeoutMs);
  reading.catch(() => {}); // A body that fails after its deadline is nobody's error.
  try {
    return await Promise.race([reading, late.promise]);
  } catch (cause) {
    throw cause instanceof SvcError ? cause : new SvcError("request_timeout", undefined, { cause });
  } finally {
    clearTimeout(timer);
  }
}
