import { SvcAnswerError } from "./failures.ts";

/** Most bytes of one answer, and most characters of one line of a streamed answer: 32 Mi. */
export const ANSWER_BYTES = 33_554_432;

/** The chunks of a stream; ending early cancels it. Some browsers cannot iterate a stream itself. */
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

/**
 * Whether the body is known to be no larger than the cap: then reading it as one piece costs half. Of
 * another origin's answer a browser shows the length but not the compression.
 */
function isShort({ type, headers }: Response): boolean {
  if (type === "cors" || headers.has("content-encoding")) return false;
  // With chunked encoding the length says nothing.
  if (headers.has("transfer-encoding")) return false;
  const length = headers.get("content-length") ?? "";
  return /^\d+$/.test(length) && Number(length) <= ANSWER_BYTES;
}

/** The whole body as text; `undefined` when it is larger than the cap. */
export async function readCapped(response: Response): Promise<string | undefined> {
  return isShort(response) ? await response.text() : await cappedText(response.body, ANSWER_BYTES);
}

/** A body as text; `undefined` when it has more bytes than `most`. */
export async function cappedText(
  body: ReadableStream<Uint8Array> | null,
  most: number,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(body)) {
    bytes += chunk.byteLength;
    if (bytes > most) return undefined;
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

/**
 * The lines of a body, without empty ones.
 *
 * @throws {SvcAnswerError} when a line is larger than the cap.
 */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunksOf(body)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > ANSWER_BYTES) {
      throw new SvcAnswerError("A line of the answer is too long", 200);
    }
    for (const line of lines) if (line !== "") yield line;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
