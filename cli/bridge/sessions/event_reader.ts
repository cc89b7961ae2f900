import { ANSWER_BYTES } from "../../../src/client/capped_body.ts";
import { linesOf, TOO_LONG } from "../lines.ts";

/**
 * Longest line of an event stream, and most text of one event. A tool's result holds what the
 * relayer answered the tool twice, as text and as data, and some words around it.
 */
export const EVENT_BYTES = 2 * ANSWER_BYTES + 1_048_576;

/** One event of a stream. */
export interface ServerEvent {
  /** Its name, `message` when it has none. */
  readonly name: string;
  /** Its data, lines joined with LF. */
  readonly data: string;
}

/**
 * Events of a stream in the format of the HTML standard, section 9.2.6, with line ends LF or CRLF.
 * Comments and events without data are left out, and so is what is not ended by an empty line.
 *
 * @throws {Error} when a line or an event is too long.
 */
export async function* readEvents(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number = EVENT_BYTES,
): AsyncGenerator<ServerEvent> {
  let name = "";
  let data: string[] = [];
  let length = 0;
  for await (const line of linesOf(stream, maxBytes)) {
    if (line === TOO_LONG || (length += line.length) > maxBytes) {
      throw new Error("an event is too long");
    }
    if (line === "") {
      if (data.length > 0) yield { name: name || "message", data: data.join("\n") };
      name = "";
      data = [];
      length = 0;
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
}

/**
 * A body as text.
 *
 * @throws {Error} when it is longer than {@linkcode EVENT_BYTES}.
 */
export async function readText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(body)) {
    bytes += chunk.length;
    if (bytes > EVENT_BYTES) throw new Error("the answer is too long");
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

/** The chunks of a body; ending early cancels it. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
