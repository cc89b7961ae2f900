import { headerLine } from "./wire_headers.ts";
import { bytesOf, concat, isSettled, type WireSocket } from "./wire_socket.ts";

/** An answer whose body is sent as it comes, as that of an event stream is. */
export class StreamedResponse extends Response {}

/** How an answer is written. */
export interface AnswerForm {
  /** Further header lines. */
  readonly lines: string;
  /** Whether the request was of HTTP/1.0, which knows no chunks. */
  readonly isOld: boolean;
  /** Whether only the head was asked for. */
  readonly isHead: boolean;
}

/** Longest time that the head of a stream waits for its first piece, milliseconds. */
const HOLD_MS = 25;
/** Bytes up to which pieces are joined, and a body with its head: each write costs more than a copy. */
const JOINED = 65_536;
const LINE_END = bytesOf("\r\n");
const EMPTY = new Uint8Array();
const LAST_CHUNK = bytesOf("0\r\n\r\n");
/** What is ours to say: where the body ends, and whether the connection does. */
const OWN: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

/**
 * Writes an answer: events and a {@linkcode StreamedResponse} as they come, anything else in one piece.
 *
 * @param signal Aborted when the client leaves.
 * @throws what the body fails with, and when the connection ends.
 */
export async function sendAnswer(
  socket: WireSocket,
  response: Response,
  form: AnswerForm,
  signal: AbortSignal,
): Promise<void> {
  const { status, headers } = response;
  let head = `HTTP/1.1 ${status} \r\n`;
  // A loop over them takes six times as long.
  headers.forEach((value, name) => {
    if (!OWN.has(name)) head += headerLine(name, value);
  });
  head += `${form.lines}date: ${new Date().toUTCString()}\r\n`;
  const hasNoBody = form.isHead || status === 204 || status === 304;
  const isStreamed = response instanceof StreamedResponse ||
    headers.get("content-type")?.startsWith("text/event-stream");
  if (hasNoBody || !isStreamed) {
    const bytes = await response.bytes();
    const length = form.isHead ? headers.get("content-length") : bytes.length;
    if (length !== null && status !== 204 && status !== 304) {
      head += headerLine("content-length", String(length));
    }
    return await sendWhole(socket, bytesOf(`${head}\r\n`), hasNoBody ? EMPTY : bytes);
  }
  const { body } = response;
  if (body === null) return await socket.write(bytesOf(`${head}content-length: 0\r\n\r\n`));
  if (!form.isOld) head += "transfer-encoding: chunked\r\n";
  await sendStream(socket, bytesOf(`${head}\r\n`), body, { isOld: form.isOld, signal });
}

async function sendWhole(socket: WireSocket, head: Uint8Array, body: Uint8Array): Promise<void> {
  if (body.length <= JOINED) return await socket.write(concat(head, body));
  await socket.write(head);
  await socket.write(body);
}

async function sendStream(
  socket: WireSocket,
  head: Uint8Array,
  body: ReadableStream<Uint8Array>,
  { isOld, signal }: { readonly isOld: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  // Each write wakes the other process, so pieces that are ready together are written together.
  let waiting = head;
  try {
    let isHead = true;
    for (;;) {
      const next = reader.read();
      const isThere = isHead ? await isSettledIn(next, HOLD_MS) : await isSettled(next);
      if (!isThere || waiting.length > JOINED) {
        const bytes = waiting;
        waiting = EMPTY;
        await socket.write(bytes);
      }
      isHead = false;
      const { done, value } = await next;
      if (done) break;
      // A chunk without bytes would be the last one.
      if (value.length > 0) waiting = concat(waiting, isOld ? value : chunkOf(value));
    }
    if (!signal.aborted) await socket.write(concat(waiting, isOld ? EMPTY : LAST_CHUNK));
  } catch (error) {
    leave();
    // What came before the failure is sent; then the answer breaks off.
    if (!signal.aborted) await socket.write(waiting).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

function chunkOf(bytes: Uint8Array): Uint8Array {
  return concat(bytesOf(`${bytes.length.toString(16)}\r\n`), concat(bytes, LINE_END));
}

/** Whether a promise is settled within some milliseconds. */
function isSettledIn(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds, false);
    const settle = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settle, settle);
  });
}
