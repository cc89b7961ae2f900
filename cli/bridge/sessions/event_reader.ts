import { createParser } from "eventsource-parser";
import { ANSWER_BYTES, cappedText } from "../../../src/client/capped_body.ts";

/**
 * Longest line of an event stream, and most text of one event, in characters. A tool's result holds
 * what the relayer answered the tool twice, as text and as data, and some words around it.
 */
const EVENT_CHARACTERS = 2 * ANSWER_BYTES + 1_048_576;

export interface ServerEvent {
  /** Its name, `message` when it has none. */
  readonly name: string;
  /** Its data, lines joined with LF. */
  readonly data: string;
}

/**
 * Events of a stream in the format of the HTML standard, section 9.2.6. Comments and events without
 * data are left out, and so is what is not ended by an empty line.
 *
 * @throws {Error} when a line or an event is too long.
 */
export async function* readEvents(
  stream: AsyncIterable<Uint8Array>,
  most: number = EVENT_CHARACTERS,
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const events: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: most,
    onEvent: ({ event = "message", data }) => void events.push({ name: event, data }),
    onError({ type }) {
      // Of fields that it does not know a reader takes no notice.
      if (type === "max-buffer-size-exceeded") throw new Error("an event is too long");
    },
  });
  for await (const chunk of stream) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
  }
}

/**
 * A body as text.
 *
 * @throws {Error} when it is longer than an event may be.
 */
export async function readText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const text = await cappedText(body, EVENT_CHARACTERS);
  if (text === undefined) throw new Error("the answer is too long");
  return text;
}
