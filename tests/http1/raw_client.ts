import { within } from "../within.ts";
import {
  type HttpListener,
  type HttpListenerOptions,
  type ListenerLimits,
  listenHttp,
} from "../../src/http1/http_listener.ts";

const read = (name: string) =>
  Deno.readTextFileSync(new URL(`../testdata/tls/${name}.pem`, import.meta.url));

/** Two certificates for `localhost`, made for tests and trusted by nobody else. */
export const CERTIFICATES = {
  first: { cert: read("first.cert"), key: read("first.key") },
  second: { cert: read("second.cert"), key: read("second.key") },
} as const;

/** How a client reaches a listener. */
export type Transport = "plain" | "tls";

/** Both ways. */
export const TRANSPORTS: readonly Transport[] = ["plain", "tls"];

/** A listener on a free port; limits that a test does not give are those of the product. */
export function listenOn(
  transport: Transport,
  answer: HttpListenerOptions["answer"],
  options: Partial<HttpListenerOptions> & { readonly limits?: Partial<ListenerLimits> } = {},
): HttpListener {
  return listenHttp({
    hostname: "127.0.0.1",
    port: 0,
    answer,
    onError() {},
    certificate: transport === "tls" ? CERTIFICATES.first : undefined,
    ...options,
  });
}

/** A client that sends bytes as they are. */
export class RawClient implements Disposable {
  readonly #conn: Deno.Conn;

  private constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** Connects. */
  static async open(
    port: number,
    transport: Transport = "plain",
    certificate: keyof typeof CERTIFICATES = "first",
  ): Promise<RawClient> {
    if (transport === "plain") {
      return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
    }
    const caCerts = [CERTIFICATES[certificate].cert];
    const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts });
    try {
      await conn.handshake();
    } catch (error) {
      conn.close();
      throw error;
    }
    return new RawClient(conn);
  }

  /** Sends a text, one byte a unit; what the other end does not take any more is dropped. */
  async send(text: string): Promise<void> {
    const bytes = Uint8Array.from(text, (unit) => unit.charCodeAt(0));
    try {
      for (let done = 0; done < bytes.length;) {
        done += await this.#conn.write(bytes.subarray(done));
      }
    } catch {
      // It has closed.
    }
  }

  /** What comes next; `undefined` at the end. */
  async read(): Promise<string | undefined> {
    const buffer = new Uint8Array(65_536);
    const count = await within(this.#conn.read(buffer), () => "nothing came");
    return count === null ? undefined : new TextDecoder("latin1").decode(buffer.subarray(0, count));
  }

  /** Everything until a text has come. */
  async until(text: string): Promise<string> {
    let all = "";
    while (!all.includes(text)) {
      const piece = await this.read();
      if (piece === undefined) throw new Error(`ended behind ${JSON.stringify(all)}`);
      all += piece;
    }
    return all;
  }

  /** Everything until the other end closes, or breaks off. */
  async rest(): Promise<string> {
    let all = "";
    try {
      for (let piece = await this.read(); piece !== undefined; piece = await this.read()) {
        all += piece;
      }
    } catch (error) {
      if (
        !(error instanceof Deno.errors.ConnectionReset || /peer closed|reset/i.test(`${error}`))
      ) {
        throw error;
      }
    }
    return all;
  }

  /** Sends nothing more. */
  async finish(): Promise<void> {
    await this.#conn.closeWrite();
  }

  [Symbol.dispose](): void {
    this.#conn.close();
  }
}
