import type { OpenConnection, OpenConnections } from "./open_connections.ts";
import { type BodyPace, RequestBody } from "./request_body.ts";
import { MAX_REQUEST_LINE, parseHead, type RequestHead } from "./request_head.ts";
import { sendAnswer } from "./send_answer.ts";
import { TlsConn } from "./tls_conn.ts";
import { BadHead, WireSocket } from "./wire_socket.ts";

/** How long a client may take, milliseconds, and how much it may send. */
export interface ConnectionLimits extends BodyPace {
  /** From the first byte of a head to its end; of a new connection from its start. */
  readonly headMs: number;
  /** Between an answer and the next request. */
  readonly idleMs: number;
  /** Without reading anything of an answer. */
  readonly stallMs: number;
  /** Largest head without its first line, bytes. */
  readonly headBytes: number;
}

/** What is known of a request besides itself. */
export interface RequestInfo {
  /** The other end of the connection. */
  readonly remoteAddr: Deno.NetAddr;
  /** Path and query as they came: a URL would have normalised them. */
  readonly target: string;
  /** Port that the connection was made to. */
  readonly localPort: number;
  /** The same object for all requests of a connection, and no other. */
  readonly connection: object;
}

/** Answers a request; its signal is aborted when the client leaves. */
export type Answer = (request: Request, info: RequestInfo) => Promise<Response>;

/** What the connections of a listener share. */
export interface Serving {
  readonly answer: Answer;
  /** Notes what `answer` threw; the client gets 500. */
  readonly onError: (thrown: unknown) => void;
  readonly limits: ConnectionLimits;
  readonly connections: OpenConnections;
  /** Header lines of every answer. */
  readonly lines: string;
  /** Whether the listener is about to end. */
  readonly isClosing: () => boolean;
  /** Whether a connection may have another request after an answer. */
  readonly isKeeping: () => boolean;
}

/** Room for a request on a connection that waits, bytes: most fit. */
const PIECE = 2048;
/** Most bytes of a refused body that are read so that its sender sees the refusal: 4 MiB. */
const MAX_DRAINED = 4_194_304;
/** Longest wait for those bytes, milliseconds. */
const DRAIN_MS = 5000;

const REASONS = {
  400: "Bad Request",
  408: "Request Timeout",
  414: "URI Too Long",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
  501: "Not Implemented",
} as const;

/** One connection of a client: its requests one after the other. */
export class ServedConnection implements OpenConnection {
  readonly network: string;
  readonly #conn: Deno.TcpConn | TlsConn;
  readonly #socket: WireSocket;
  readonly #serving: Serving;
  #doing: "waiting" | "answering" | "draining" = "waiting";
  /** Since when it does that, `performance.now()`. */
  #since = performance.now();
  /** When the first bytes of a head were seen on a kept connection. */
  #headSince: number | undefined = this.#since;
  #body: RequestBody | undefined;

  constructor(conn: Deno.TcpConn | TlsConn, network: string, serving: Serving) {
    this.network = network;
    this.#conn = conn;
    this.#socket = new WireSocket(conn, PIECE);
    this.#serving = serving;
  }

  close(): void {
    this.#socket.close();
  }

  check(now: number): void {
    const { limits } = this.#serving;
    const { writingSince, hasRest } = this.#socket;
    if (writingSince !== undefined && now - writingSince > limits.stallMs) return this.close();
    if (this.#doing === "answering") {
      if (this.#body?.isLate(now, limits)) this.#body.giveUp();
    } else if (this.#doing === "draining") {
      if (now - this.#since > DRAIN_MS) this.close();
    } else {
      if (hasRest) this.#headSince ??= now;
      const isLate = this.#headSince === undefined
        ? now - this.#since > limits.idleMs
        : now - this.#headSince > limits.headMs;
      if (isLate) void this.#endLate(hasRest);
    }
  }

  /** Answers requests until either side ends; never throws. */
  async serve(): Promise<void> {
    const { connections, isClosing, onError } = this.#serving;
    try {
      if (this.#conn instanceof TlsConn) await this.#conn.handshake();
      while (await this.#exchange() && !isClosing()) {
        connections.setIdle(this);
        this.#headSince = undefined;
        this.#do("waiting");
      }
    } catch (error) {
      // Nearly always the client left, or speaks something else.
      if (error instanceof TypeError) onError(error);
    } finally {
      connections.remove(this);
      this.close();
    }
  }

  #do(what: "waiting" | "answering" | "draining"): void {
    this.#doing = what;
    this.#since = performance.now();
  }

  /** One request and its answer; whether another may follow. */
  async #exchange(): Promise<boolean> {
    let text: string;
    try {
      const limit = MAX_REQUEST_LINE + this.#serving.limits.headBytes;
      text = await this.#socket.until("\r\n\r\n", limit);
    } catch (error) {
      if (error instanceof BadHead) await this.#refuse(error.isTooLong ? 431 : 400);
      return false;
    }
    const head = parseHead(text);
    if (typeof head === "number") {
      await this.#refuse(head);
      return false;
    }
    this.#do("answering");
    const body = new RequestBody(this.#socket, head.length, head.expectsContinue);
    this.#body = body;
    const isKept = await this.#answer(head, body);
    this.#body = undefined;
    return isKept;
  }

  async #answer(head: RequestHead, body: RequestBody): Promise<boolean> {
    const { answer, onError, connections, lines, isKeeping } = this.#serving;
    const gone = new AbortController();
    const whole = async () => {
      // From now on nothing but the client's leaving is to be seen.
      connections.setBusy(this);
      if (await this.#socket.isGone()) gone.abort();
    };
    const bytes = await body.whole();
    if (body.isRead) void whole();
    const { signal } = gone;
    const request = requestOf(head, this.#conn instanceof TlsConn, {
      // The platform has no bodies of these; one that comes is read and dropped.
      body: /^(GET|HEAD)$/.test(head.method) ? null : bytes ??
        (body.isRead ? null : body.stream(() => void whole())),
      signal,
    });
    if (request === undefined) {
      await this.#refuse(400);
      return false;
    }
    const { remoteAddr, localAddr } = this.#conn;
    const response = await answer(request, {
      remoteAddr: remoteAddr as Deno.NetAddr,
      target: head.target,
      localPort: (localAddr as Deno.NetAddr).port,
      connection: this,
    }).catch((thrown) => {
      onError(thrown);
      return new Response("Internal server error\n", { status: 500 });
    });
    if (body.isMalformed) {
      await this.#refuse(400);
      return false;
    }
    const isKept = head.isKept && isKeeping() && (body.isRead || body.isShort(MAX_DRAINED));
    await sendAnswer(this.#socket, response, {
      lines: isKept ? lines : `${lines}connection: close\r\n`,
      isOld: head.isOld,
      isHead: head.method === "HEAD",
    }, signal);
    return await this.#drain(body, isKept);
  }

  /**
   * Reads what is left of a body. A connection that is closed with bytes unread is reset, and its
   * other end, which may still be sending, would lose the answer.
   */
  async #drain(body: RequestBody, isKept: boolean): Promise<boolean> {
    if (body.isRead) return isKept;
    this.#do("draining");
    if (isKept) await body.skip();
    else await this.#socket.finish(MAX_DRAINED);
    return isKept;
  }

  /** Answers what is no request, and ends. */
  async #refuse(status: keyof typeof REASONS): Promise<void> {
    this.#do("draining");
    await this.#say(status);
    await this.#socket.finish(MAX_DRAINED);
  }

  async #say(status: keyof typeof REASONS): Promise<void> {
    const head = `HTTP/1.1 ${status} ${REASONS[status]}\r\n${this.#serving.lines}` +
      "content-length: 0\r\nconnection: close\r\n\r\n";
    await this.#socket.write(new TextEncoder().encode(head));
  }

  /** Ends a connection whose request did not come: whoever has begun one is told. */
  async #endLate(hasBegun: boolean): Promise<void> {
    this.#do("draining");
    if (hasBegun) await this.#say(408).catch(() => {});
    this.close();
  }
}

/** The request for the application; `undefined` when the host is no part of an address. */
function requestOf(
  { method, target, host, headers }: RequestHead,
  isSecure: boolean,
  init: { readonly body: BodyInit | null; readonly signal: AbortSignal },
): Request | undefined {
  const url = `${isSecure ? "https" : "http"}://${host}${target}`;
  try {
    return new Request(url, { method, headers: [...headers], ...init });
  } catch {
    return undefined;
  }
}
