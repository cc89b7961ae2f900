import { within } from "../../deadline.ts";
import { HttpConnection } from "../../http1/http_connection.ts";

const TIMEOUT_MS = 5000;
/** More of an answer is not read. */
const ANSWER_BYTES = 65_536;

/** A request to a listener that may be anybody's. */
export interface Question {
  /** Scheme, host and port: what certificate and Host are about. */
  readonly origin: string;
  /** Where to connect instead of the origin. */
  readonly at?: { readonly hostname: string; readonly port: number } | undefined;
  /** Certificates that are trusted besides those of the system, PEM. */
  readonly trusted?: readonly string[] | undefined;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Reply {
  readonly status: number;
  header(name: string): string | null;
  /** The body, of which 64 KiB are read at most. */
  readonly text: string;
}

/**
 * Asks over a connection of its own: no proxy of the environment stands between, no redirect is
 * followed.
 *
 * @throws {Error} when nobody answers within 5 s, the certificate is not accepted, or it is no HTTP.
 */
export async function ask(question: Question): Promise<Reply> {
  let connection: HttpConnection | undefined;
  const asked = async () => {
    connection = await connect(question);
    return await exchange(connection, question);
  };
  try {
    return await within(TIMEOUT_MS, asked(), () => {
      throw new Error("no answer within 5 s");
    });
  } finally {
    connection?.close();
  }
}

async function connect({ origin, at, trusted = [] }: Question): Promise<HttpConnection> {
  const { protocol, hostname, port, host } = new URL(origin);
  const name = hostname.replace(/^\[|\]$/g, "");
  const isTls = protocol === "https:";
  const conn = await Deno.connect(
    at ?? { hostname: name, port: Number(port) || (isTls ? 443 : 80) },
  );
  if (!isTls) return HttpConnection.over(conn, host);
  const tls = await Deno.startTls(conn, { hostname: name, caCerts: [...trusted] });
  try {
    await tls.handshake();
  } catch (error) {
    tls.close();
    throw error;
  }
  return HttpConnection.over(tls, host);
}

async function exchange(connection: HttpConnection, question: Question): Promise<Reply> {
  const { method = "GET", path, headers = {}, body } = question;
  const answer = await connection.send({
    method,
    target: path,
    headers: Object.entries({ ...headers, connection: "close" }),
    body: body === undefined ? undefined : new TextEncoder().encode(body),
  });
  const decoder = new TextDecoder();
  let text = "";
  while (answer.body !== undefined && text.length < ANSWER_BYTES) {
    const { done, value } = await answer.body.next();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return { status: answer.status, header: (name) => answer.headers.get(name), text };
}
