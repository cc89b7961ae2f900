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
 * whole life, so that nothing secret is ever sent to whoever takes the port of a sidecar that died.
 * A client that reconnects on its own could not promise that. A request is refused when nobody
 * answers, or whoever does cannot prove that it is the sidecar.
 */
export function sidecarConnections(address: SidecarAddress): ConnectionPool {
  return new ConnectionPool(() => connect(address));
}

/**
 * Whether the listener at an address knows the token; `false` also for silence.
 *
 * @param url Address of the sidecar, without a path.
 */
export async function isSidecar(
  url: string,
  token: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  try {
    (await connect({ url, token }, options.signal)).close();
    return true;
  } catch {
    return false;
  }
}

async function connect(
  { url, token }: SidecarAddress,
  signal: AbortSignal = AbortSignal.timeout(CHALLENGE_MS),
): Promise<HttpConnection> {
  const connection = await HttpConnection.open(url);
  const giveUp = () => connection.close();
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    if (await isAnswered(connection, token) && connection.isReusable) return connection;
  } catch {
    // Told below, like a wrong answer.
  } finally {
    signal.removeEventListener("abort", giveUp);
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
