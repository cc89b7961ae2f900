import { Duplex } from "node:stream";
import { setImmediate } from "node:timers";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";

/** What a listener proves its name with, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Room for what comes next on a connection, bytes: more where that was filled. */
const SMALL_PIECE = 2048;
const LARGE_PIECE = 32_768;

/**
 * What TLS connections of a certificate share.
 *
 * @throws what the platform says of a pair that it cannot use.
 */
export function tlsContext(certificate: Certificate): SecureContext {
  // A context is made of anything; this looks whether the two belong together.
  Deno.createHttpClient({ ...certificate }).close();
  return createSecureContext({ ...certificate });
}

/** Type of a record that holds a part of a handshake, and bytes before what a record holds. */
const HANDSHAKE = 0x16;
const RECORD_HEAD = 5;
/** Most bytes of a first record. */
const MAX_RECORD = 16_384 + RECORD_HEAD;

/**
 * The first record of a client, which holds its hello: TLS costs something only for who has sent it.
 *
 * @throws {Error} for anything else.
 */
async function readHello(conn: Deno.TcpConn): Promise<Uint8Array> {
  let read = new Uint8Array(SMALL_PIECE);
  let count = 0;
  for (;;) {
    const [type, , , high = 0, low = 0] = read;
    const length = RECORD_HEAD + 256 * high + low;
    const isOne = count === 0 || type === HANDSHAKE;
    if (!isOne || length > MAX_RECORD) throw new Error("No TLS");
    if (count >= RECORD_HEAD && count >= length) return read.subarray(0, count);
    if (count === read.length) {
      const larger = new Uint8Array(MAX_RECORD);
      larger.set(read);
      read = larger;
    }
    const more = await conn.read(read.subarray(count));
    if (more === null) throw new Error("The client left");
    count += more;
  }
}

/** The bytes of a TCP connection as a stream of Node. */
class Encrypted extends Duplex {
  readonly #conn: Deno.TcpConn;
  #room = SMALL_PIECE;
  #first: Uint8Array | undefined;

  /** @param first What has been read of it. */
  constructor(conn: Deno.TcpConn, first: Uint8Array) {
    super();
    this.#conn = conn;
    this.#first = first;
    this.on("error", () => {}); // TLS is told of it.
  }

  override async _read(): Promise<void> {
    const first = this.#first;
    if (first !== undefined) {
      this.#first = undefined;
      // A socket that ends before it has begun throws where nobody catches it.
      return void setImmediate(() => this.push(first));
    }
    try {
      const piece = new Uint8Array(this.#room);
      const count = await this.#conn.read(piece);
      this.#room = count === piece.length ? LARGE_PIECE : SMALL_PIECE;
      this.push(count === null ? null : piece.subarray(0, count));
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override async _write(
    bytes: Uint8Array,
    _encoding: string,
    done: (error?: Error) => void,
  ): Promise<void> {
    try {
      for (let at = 0; at < bytes.length;) at += await this.#conn.write(bytes.subarray(at));
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _final(done: (error?: Error) => void): void {
    this.#conn.closeWrite().then(() => done(), done);
  }
}

/**
 * The listener's end of TLS over a TCP connection. `Deno.listenTls` would not do: closing one of its
 * connections before the handshake is over, or with words on it that nobody reads, leaves its
 * descriptor open for as long as the client likes.
 */
export class TlsConn implements Pick<Deno.Conn, "read" | "write" | "close" | "closeWrite"> {
  readonly remoteAddr: Deno.NetAddr;
  readonly localAddr: Deno.NetAddr;
  readonly #conn: Deno.TcpConn;
  readonly #context: SecureContext;
  #tls: TLSSocket | undefined;
  #left: Uint8Array | null = null;
  #isSecure = false;
  #hasEnded = false;
  #failure: Error | undefined;
  /** Settles when something has happened. */
  #news = Promise.withResolvers<void>();
  readonly #failed = Promise.withResolvers<never>();

  constructor(conn: Deno.TcpConn, context: SecureContext) {
    this.#conn = conn;
    this.#context = context;
    this.remoteAddr = conn.remoteAddr as Deno.NetAddr;
    this.localAddr = conn.localAddr as Deno.NetAddr;
    conn.setNoDelay(true);
    this.#failed.promise.catch(() => {});
  }

  /** Makes the connection a secure one; to be waited for before anything else. */
  async handshake(): Promise<void> {
    const tls = new TLSSocket(new Encrypted(this.#conn, await readHello(this.#conn)), {
      isServer: true,
      secureContext: this.#context,
      ALPNProtocols: ["http/1.1"],
    });
    this.#tls = tls;
    tls.on("secure", () => this.#tell(() => this.#isSecure = true));
    tls.on("readable", () => this.#tell(() => {}));
    tls.on("end", () => this.#tell(() => this.#hasEnded = true));
    tls.on("error", (error: Error) => this.#fail(error));
    tls.on("close", () => this.#fail(new Error("The connection is closed")));
    while (!this.#isSecure) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#hasEnded) throw new Error("The client left");
      await this.#news.promise;
    }
  }

  async read(into: Uint8Array): Promise<number | null> {
    for (;;) {
      const piece: Uint8Array | null = this.#left ?? this.#tls!.read();
      if (piece !== null) {
        const count = Math.min(piece.length, into.length);
        into.set(piece.subarray(0, count));
        this.#left = count < piece.length ? piece.subarray(count) : null;
        return count;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#hasEnded) return null;
      await this.#news.promise;
    }
  }

  async write(bytes: Uint8Array): Promise<number> {
    if (this.#failure !== undefined) throw this.#failure;
    const written = Promise.withResolvers<void>();
    this.#tls?.write(bytes, (error) => error ? written.reject(error) : written.resolve());
    await Promise.race([written.promise, this.#failed.promise]);
    return bytes.length;
  }

  async closeWrite(): Promise<void> {
    const ended = Promise.withResolvers<void>();
    this.#tls?.end(() => ended.resolve());
    await Promise.race([ended.promise, this.#failed.promise]);
  }

  /** Closes it at once, whatever the client has not read. */
  close(): void {
    this.#fail(new Error("The connection is closed"));
    setImmediate(() => this.#tls?.destroy());
    this.#conn.close();
  }

  #tell(change: () => void): void {
    change();
    const { resolve } = this.#news;
    this.#news = Promise.withResolvers();
    resolve();
  }

  #fail(error: Error): void {
    this.#tell(() => this.#failure ??= error);
    this.#failed.reject(error);
  }
}
