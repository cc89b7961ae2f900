import { headerLine, WireHeaders } from "./wire_headers.ts";
import { bytesOf, concat, isSettled, WireSocket } from "./wire_socket.ts";

interface HttpListenerOptions {
  readonly hostname: string;
  /** Port; 0 = chosen by the system. */
  readonly port: number;
  /** Answers a request; its signal is aborted when the client leaves. */
  readonly answer: (request: Request) => Promise<Response>;
  /** Notes what `answer` threw; the client gets 500. */
  readonly onError: (thrown: unknown) => void;
}

/** A listener; disposing of it waits for the answers under way. */
export interface HttpListener extends AsyncDisposable {
  readonly port: number;
}

/** Pause after a connection could not be taken, milliseconds. */
const ACCEPT_PAUSE_MS = 100;
/** Most bytes of a refused body that are read so that its sender sees the refusal: 4 MiB. */
const MAX_DRAINED = 4_194_304;
/** Longest wait for those bytes, milliseconds. */
const DRAIN_MS = 5000;
/** Longest time that the head of a stream waits for its first piece, milliseconds. */
const HOLD_MS = 25;
/** Waiting pieces of a stream are joined up to this many bytes. */
const JOINED = 65_536;
const LINE_END = bytesOf("\r\n");
const BAD_REQUEST = bytesOf("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
const EMPTY = new Uint8Array();
const LAST_CHUNK = bytesOf("0\r\n\r\n");

/**
 * HTTP/1.1 for clients of ours on this machine: no pipelining, no bodies of unknown length. An open
 * stream takes some 40 KB less than with `Deno.serve`, whose channels are sized for throughput, and a
 * sidecar has a thousand of them.
 *
 * @throws {Deno.errors.AddrInUse} when somebody else has the port.
 */
export function listenHttp(options: HttpListenerOptions): HttpListener {
  const { hostname, port } = options;
  return new Listener(Deno.listen({ hostname, port }), options);
}

class Listener implements HttpListener {
  readonly #listener: Deno.TcpListener;
  readonly #options: HttpListenerOptions;
  /** Connections that wait for a request. */
  readonly #idle = new Set<WireSocket>();
  readonly #serving = new Set<Promise<void>>();
  readonly #accepting: Promise<void>;
  #closing = false;

  constructor(listener: Deno.TcpListener, options: HttpListenerOptions) {
    this.#listener = listener;
    this.#options = options;
    this.#accepting = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async #accept(): Promise<void> {
    while (!this.#closing) {
      try {
        const socket = new WireSocket(await this.#listener.accept());
        const served = this.#serve(socket).finally(() => this.#serving.delete(served));
        this.#serving.add(served);
      } catch (error) {
        if (this.#closing) return;
        // Such as too many open files: those who wait get their turn when others have left.
        this.#options.onError(error);
        await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE_MS));
      }
    }
  }

  async #serve(socket: WireSocket): Promise<void> {
    try {
      while (!this.#closing) {
        this.#idle.add(socket);
        const head = await socket.until("\r\n\r\n");
        this.#idle.delete(socket);
        if (!await this.#exchange(socket, head)) return;
      }
    } catch {
      // The client left, or speaks something else.
    } finally {
      this.#idle.delete(socket);
      socket.close();
    }
  }

  /** One request and its answer; whether another may follow. */
  async #exchange(socket: WireSocket, head: string): Promise<boolean> {
    const parsed = parseHead(head);
    if (parsed === undefined) {
      await socket.write(BAD_REQUEST);
      return false;
    }
    const { method, url, headers, length } = parsed;
    const gone = new AbortController();
    const watch = async () => {
      if (await socket.isGone()) gone.abort();
    };
    const whole = length > 0 && (await socket.ready(length)).length >= length
      ? socket.take(length) as Uint8Array<ArrayBuffer>
      : undefined;
    const pieces = socket.exactly(length);
    let isRead = length === 0 || whole !== undefined;
    const body = isRead ? whole ?? null : bodyOf(pieces, () => {
      isRead = true;
      void watch();
    });
    if (isRead) void watch();
    const { signal } = gone;
    const request = new Request(url, { method, headers: [...headers], body, signal });
    const response = await this.#options.answer(request).catch((thrown) => {
      this.#options.onError(thrown);
      return new Response("Internal server error\n", { status: 500 });
    });
    await send(socket, response, signal);
    if (!isRead && length <= MAX_DRAINED) isRead = await drain(socket, pieces);
    return isRead && headers.get("connection")?.toLowerCase() !== "close";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    this.#listener.close();
    for (const socket of this.#idle) socket.close();
    await this.#accepting;
    await Promise.all(this.#serving);
  }
}

interface Head {
  readonly method: string;
  readonly url: string;
  readonly headers: WireHeaders;
  /** Length of the body, bytes. */
  readonly length: number;
}

/** Reads a head; `undefined` for what no client of ours sends. */
function parseHead(head: string): Head | undefined {
  const [first = "", ...lines] = head.split("\r\n");
  const [, method, target] = /^(GET|POST|PUT|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1$/.exec(first) ??
    [];
  if (method === undefined || target === undefined) return undefined;
  let headers: WireHeaders;
  try {
    headers = WireHeaders.parse(lines);
  } catch {
    return undefined;
  }
  const length = headers.get("content-length") ?? "0";
  if (!/^\d{1,9}$/.test(length) || headers.has("transfer-encoding")) return undefined;
  if (method === "GET" && Number(length) > 0) return undefined;
  return { method, url: `http://127.0.0.1${target}`, headers, length: Number(length) };
}

/**
 * Reads what is left of a body. A connection that is closed with bytes unread is reset, and its
 * other end, which may still be sending, would lose the answer.
 *
 * @returns whether all of it came in time.
 */
async function drain(socket: WireSocket, pieces: AsyncIterator<Uint8Array>): Promise<boolean> {
  const late = setTimeout(() => socket.close(), DRAIN_MS);
  try {
    while (!(await pieces.next()).done);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(late);
  }
}

/** A body that is read from the connection when its reader asks. */
function bodyOf(pieces: AsyncIterator<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (!done) return controller.enqueue(value);
      onEnd();
      controller.close();
    },
  }, { highWaterMark: 0 });
}

async function send(socket: WireSocket, response: Response, signal: AbortSignal): Promise<void> {
  const { status, headers, body } = response;
  let head = `HTTP/1.1 ${status} \r\n`;
  // A loop over them takes six times as long.
  headers.forEach((value, name) => {
    if (name !== "content-length") head += headerLine(name, value);
  });
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (body === null || !isStream) {
    const bytes = await response.bytes();
    await socket.write(concat(bytesOf(`${head}content-length: ${bytes.length}\r\n\r\n`), bytes));
    return;
  }
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  // Each write wakes the other process, so pieces that are ready together are written together.
  let waiting = bytesOf(`${head}transfer-encoding: chunked\r\n\r\n`);
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
      if (value.length === 0) continue;
      const size = bytesOf(`${value.length.toString(16)}\r\n`);
      waiting = concat(waiting, concat(concat(size, value), LINE_END));
    }
    if (!signal.aborted) await socket.write(concat(waiting, LAST_CHUNK));
  } catch (error) {
    leave();
    // What came before the failure is sent; then the answer breaks off.
    if (!signal.aborted) await socket.write(waiting).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
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
