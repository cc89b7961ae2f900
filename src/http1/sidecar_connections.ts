import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { ConnectionPool, HttpConnection } from "./http_connection.ts";

/** Header that carries the shared secret between relayer and sidecar, both ways. */
export const TOKEN_HEADER = "x-svc-sidecar-token";

/** What the holder of the token answers to a nonce: HMAC-SHA256, 64 hex characters. */
export function answerChallenge(token: string, nonce: string): string {
  return createHmac("sha256", token).update(nonce).digest("hex");
}

/** Compares secrets in a time that tells nothing about them, whatever their lengths. */
export function isSameSecret(given: string, secret: string): boolean {
  // Digests have one length and leave only the comparison itself.
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(given), digest(secret));
}

/**
 * Whether the listener at an address knows the token, before it gets to see anything secret.
 *
 * @param url Address of the sidecar, without a path.
 * @returns `false` for a stranger and for silence.
 */
export async function isSidecar(
  url: string,
  token: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const nonce = crypto.getRandomValues(new Uint8Array(32)).toHex();
  try {
    const response = await fetch(`${url}/challenge`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ nonce }),
      redirect: "error",
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const answer = await firstBytes(response.body, 64);
    return response.ok && isSameSecret(answer, answerChallenge(token, nonce));
  } catch {
    return false;
  }
}

/** The start of a body as text; a stranger's endless answer is cut off. */
async function firstBytes(body: ReadableStream<Uint8Array> | null, count: number): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  let text = "";
  while (text.length <= count) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += new TextDecoder("latin1").decode(value.subarray(0, count + 1));
  }
  await reader.cancel();
  return text;
}

/** Where the sidecar is and what proves it. */
export interface SidecarAddress {
  /** Loopback address, `http://127.0.0.1:9000`. */
  readonly url: string;
  /** Secret shared with it, at least 16 visible ASCII characters. */
  readonly token: string;
}

/** Longest wait for a proof: a machine with much to do takes more than a second now and then. */
const CHALLENGE_MS = 3000;

/**
 * Connections to the sidecar. Each is challenged when it is made and belongs to one process for its
 * whole life, so that nothing secret is ever sent to whoever takes the port of a sidecar that died;
 * a client that connects anew without a word could not promise that. A request is refused when nobody
 * answers, or whoever does cannot prove that it is the sidecar.
 */
export function sidecarConnections(address: SidecarAddress): ConnectionPool {
  return new ConnectionPool(() => connect(address));
}

async function connect({ url, token }: SidecarAddress): Promise<HttpConnection> {
  const connection = await HttpConnection.open(url);
  const late = setTimeout(() => connection.close(), CHALLENGE_MS);
  try {
    if (await isAnswered(connection, token) && connection.isReusable) return connection;
  } catch {
    // Told below, like a wrong answer.
  } finally {
    clearTimeout(late);
  }
  connection.close();
  throw new Error("The listener at SIDECAR_URL is not the sidecar");
}

/** Whether the other end answers a fresh nonce under the token. */
async function isAnswered(connection: HttpConnection, token: string): Promise<boolean> {
  const nonce = crypto.getRandomValues(new Uint8Array(32)).toHex();
  const { status, body } = await connection.send({
    method: "POST",
    target: "/challenge",
    headers: [["content-type", "application/json"]],
    body: new TextEncoder().encode(JSON.stringify({ nonce })),
  });
  let answer = "";
  while (answer.length <= 64) {
    const piece = await body?.next();
    if (piece === undefined || piece.done) {
      return status === 200 && isSameSecret(answer, answerChallenge(token, nonce));
    }
    answer += new TextDecoder("latin1").decode(piece.value);
  }
  return false;
}
