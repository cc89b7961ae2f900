import { connect, type TLSSocket } from "node:tls";
import type { ByteConn } from "../../http1/wire_socket.ts";

/** The bytes of a TLS socket of Node. */
class ProvenConnection implements ByteConn {
  readonly #socket: TLSSocket;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    this.#pieces = socket[Symbol.asyncIterator]();
  }

  async read(into: Uint8Array): Promise<number | null> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next();
      if (next.done === true) return null;
      this.#rest = next.value;
    }
    const count = Math.min(this.#rest.length, into.length);
    into.set(this.#rest.subarray(0, count));
    this.#rest = this.#rest.subarray(count);
    return count;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const written = Promise.withResolvers<void>();
    this.#socket.write(bytes, (error) => error ? written.reject(error) : written.resolve());
    await written.promise;
    return bytes.length;
  }

  async closeWrite(): Promise<void> {
    const ended = Promise.withResolvers<void>();
    this.#socket.end(() => ended.resolve());
    await ended.promise;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/**
 * A connection to an address whose other end has proven a name by its certificate. The name is not
 * looked up again. `Deno.startTls` would not do: what is closed before the handshake is over keeps its
 * descriptor for as long as the other end likes.
 *
 * @param address In numbers.
 * @param signal Closes the connection, also under the handshake and afterwards.
 * @param port 443 but in tests.
 * @param caCerts Further authorities, PEM; in tests.
 * @throws what the platform says, or the signal's reason.
 */
export async function connectProven(
  address: string,
  name: string,
  signal: AbortSignal,
  port = 443,
  caCerts: string[] = [],
): Promise<ByteConn> {
  signal.throwIfAborted();
  const socket = connect({
    host: address,
    port,
    servername: name,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
    ...(caCerts.length === 0 ? {} : { ca: caCerts }),
  });
  const proven = Promise.withResolvers<void>();
  const leave = () => {
    proven.reject(signal.reason);
    socket.destroy();
  };
  signal.addEventListener("abort", leave);
  socket.once("secureConnect", () => proven.resolve());
  // Whoever reads is told by the stream itself.
  socket.on("error", proven.reject);
  socket.once("close", () => {
    signal.removeEventListener("abort", leave);
    proven.reject(new Error("The other end left"));
  });
  await proven.promise;
  return new ProvenConnection(socket);
}
