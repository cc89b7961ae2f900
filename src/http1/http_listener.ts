import type { SecureContext } from "node:tls";
import { type ConnectionCaps, OpenConnections } from "./open_connections.ts";
import {
  type Answer,
  type ConnectionLimits,
  ServedConnection,
  type Serving,
} from "./served_connection.ts";
import { type Certificate, TlsConn, tlsContext } from "./tls_conn.ts";

export type { Certificate };

/** Limits of a listener; those of time are in milliseconds. */
export interface ListenerLimits extends ConnectionLimits, ConnectionCaps {}

/** A client's network: what its connections are counted by. */
export interface ClientNetwork {
  readonly key: string;
  /** Whether it may have only so many. */
  readonly isBounded: boolean;
}

export interface HttpListenerOptions {
  readonly hostname: string;
  /** Port; 0 = chosen by the system. */
  readonly port: number;
  readonly answer: Answer;
  /** Notes what `answer` threw, and why no connection could be taken. */
  readonly onError: (thrown: unknown) => void;
  /** Replaces limits for clients that nothing is known of. */
  readonly limits?: Partial<ListenerLimits>;
  /** The network of an address; without it all are one, which has no limit of its own. */
  readonly networkOf?: (hostname: string) => ClientNetwork;
  /** Whether a network, by its key, gives up connections only when no stranger can. */
  readonly isKnown?: (key: string) => boolean;
  /** Present where the listener speaks TLS. */
  readonly certificate?: Certificate | undefined;
  /** Header lines of every answer, each with its end. */
  readonly lines?: string;
}

/** A listener; disposing of it waits for the answers under way. */
export interface HttpListener extends AsyncDisposable {
  readonly port: number;
  /** From now on ends each connection after its next answer; it goes on to take new ones. */
  closeAfterAnswers(): void;
  /**
   * Takes no more connections, lets the answers under way be given, and cuts what is left after so
   * many milliseconds.
   */
  shutdown(ms: number): Promise<void>;
  /**
   * Proves its name with another certificate from then on; open connections keep theirs.
   *
   * @throws what the platform says of one that it cannot use; the former one stays.
   */
  setCertificate(certificate: Certificate): void;
}

/** Limits for clients that nothing is known of. */
export const DEFAULT_LIMITS: ListenerLimits = {
  headMs: 10_000,
  headBytes: 16_384,
  bodyMs: 30_000,
  paceAfterMs: 5000,
  bytesPerSecond: 1024,
  idleMs: 60_000,
  stallMs: 30_000,
  connections: 4000,
  connectionsPerNetwork: 512,
};

/** Limits between relayer and sidecar, which keep connections to each other. */
export const INTERNAL_LIMITS: Partial<ListenerLimits> = { idleMs: Infinity, headBytes: 65_536 };

/** Pause between looks at the connections; shorter where a limit is. */
const CHECK_MS = 1000;
/** Pause after a connection could not be taken, milliseconds. */
const ACCEPT_PAUSE_MS = 20;
/** Connections that the system takes before they are accepted; else their clients try again late. */
const BACKLOG = 4096;
/** Failures in a row after which the port is listened on anew. */
const MAX_FAILURES = 5;
const FIRST_LIMITS = ["headMs", "bodyMs", "paceAfterMs", "idleMs", "stallMs"] as const;

/**
 * HTTP/1.1 on a port. It outlives what ends `Deno.serve`: when descriptors run out, it makes room and
 * goes on. An open stream takes some 40 KB less than there, whose channels are sized for throughput,
 * and a sidecar has a thousand of them.
 *
 * @throws {Deno.errors.AddrInUse} when somebody else has the port.
 */
export function listenHttp(options: HttpListenerOptions): HttpListener {
  return new Listener(options);
}

class Listener implements HttpListener {
  readonly #options: HttpListenerOptions;
  readonly #connections: OpenConnections;
  readonly #serving: Serving;
  readonly #served = new Set<Promise<void>>();
  readonly #check: ReturnType<typeof setInterval>;
  readonly #accepting: Promise<void>;
  readonly port: number;
  #context: SecureContext | undefined;
  #listener: Deno.TcpListener;
  #closing = false;
  /** Whether connections are kept after an answer. */
  #keeps = true;
  #ended: Promise<void> | undefined;

  constructor(options: HttpListenerOptions) {
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#options = options;
    if (options.certificate !== undefined) this.setCertificate(options.certificate);
    this.#listener = this.#listen(options.port);
    this.port = this.#listener.addr.port;
    this.#connections = new OpenConnections(limits, options.isKnown);
    this.#serving = {
      answer: options.answer,
      onError: options.onError,
      limits,
      connections: this.#connections,
      lines: options.lines ?? "",
      isClosing: () => this.#closing,
      isKeeping: () => this.#keeps,
    };
    const pause = Math.min(CHECK_MS, ...FIRST_LIMITS.map((name) => limits[name] / 4));
    this.#check = setInterval(() => this.#connections.check(performance.now()), pause);
    this.#accepting = this.#accept();
  }

  setCertificate(certificate: Certificate): void {
    this.#context = tlsContext(certificate);
  }

  #listen(port: number): Deno.TcpListener {
    return Deno.listen({ hostname: this.#options.hostname, port, tcpBacklog: BACKLOG });
  }

  async #accept(): Promise<void> {
    for (let failures = 0; !this.#closing;) {
      try {
        this.#take(await this.#listener.accept());
        failures = 0;
      } catch (error) {
        if (this.#closing) return;
        // Whoever it was has left before it was their turn, which must cost nobody else anything.
        if (error instanceof Deno.errors.NotConnected) continue;
        const isShort = isOutOfDescriptors(error);
        if (failures++ === 0) this.#options.onError(isShort ? new OutOfDescriptors() : error);
        if (isShort) this.#connections.shrink();
        else if (failures > MAX_FAILURES) this.#listenAnew();
        await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE_MS));
      }
    }
  }

  #listenAnew(): void {
    try {
      this.#listener.close();
    } catch {
      // It is closed.
    }
    try {
      this.#listener = this.#listen(this.port);
    } catch {
      // Tried again after the next failure.
    }
  }

  #take(conn: Deno.TcpConn): void {
    const { hostname } = conn.remoteAddr as Deno.NetAddr;
    const { key, isBounded } = this.#options.networkOf?.(hostname) ??
      { key: "", isBounded: false };
    if (!this.#connections.admits(key, isBounded)) return conn.close();
    const context = this.#context;
    const secured = context === undefined ? conn : new TlsConn(conn, context);
    const connection = new ServedConnection(secured, key, this.#serving);
    this.#connections.add(connection);
    const served = connection.serve().finally(() => this.#served.delete(served));
    this.#served.add(served);
  }

  closeAfterAnswers(): void {
    this.#keeps = false;
  }

  shutdown(ms: number): Promise<void> {
    return this.#ended ??= this.#end(ms);
  }

  async #end(ms: number): Promise<void> {
    this.#closing = true;
    this.#keeps = false;
    this.#listener.close();
    this.#connections.closeIdle();
    await this.#accepting;
    const late = Promise.withResolvers<void>();
    const timer = ms === Infinity ? undefined : setTimeout(late.resolve, ms);
    await Promise.race([Promise.all(this.#served), late.promise]);
    clearTimeout(timer);
    clearInterval(this.#check);
    for (const connection of [...this.#connections]) connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown(Infinity);
  }
}

/** Noted when the system gives no more descriptors: from then on there are fewer connections. */
class OutOfDescriptors extends Error {
  override readonly name = "OutOfDescriptors";
}

/** Whether the process, or the machine, has no more descriptors. */
function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && /os error (23|24)\)|EMFILE|ENFILE/.test(error.message);
}
