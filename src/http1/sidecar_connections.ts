import { ConnectionPool, HttpConnection } from "./http_connection.ts";
import { proveMutually, type Shared } from "./mutual_proof.ts";

/** Where the sidecar is and what proves it. */
export interface SidecarAddress {
  /** Loopback address, `http://127.0.0.1:9000`. */
  readonly url: string;
  /** Secret shared with it, at least 16 visible ASCII characters. */
  readonly token: string;
}

/** Longest wait for a proof: a machine with much to do takes more than a second now and then. */
const PROOF_MS = 3000;

/**
 * Connections to the sidecar. On each both ends prove themselves when it is made, and it belongs to
 * one process for its whole life, so that nothing secret is ever sent to whoever takes the port of a
 * sidecar that died. A client that reconnects on its own could not promise that. A request is refused
 * when nobody answers, or whoever does cannot prove that it is the sidecar.
 */
export function sidecarConnections({ url, token }: SidecarAddress): ConnectionPool {
  return new ConnectionPool(() => connectProven(url, { token, listens: "sidecar" }));
}

/**
 * Whether the listener at an address is the sidecar; `false` also for silence.
 *
 * @param url Address of the sidecar, without a path.
 */
export async function isSidecar(
  url: string,
  token: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  try {
    (await connectProven(url, { token, listens: "sidecar" }, options.signal)).close();
    return true;
  } catch {
    return false;
  }
}

/**
 * A connection whose two ends have proven themselves to each other.
 *
 * @throws {Error} when nobody answers, or a stranger.
 */
export async function connectProven(
  url: string,
  shared: Shared,
  signal: AbortSignal = AbortSignal.timeout(PROOF_MS),
): Promise<HttpConnection> {
  const connection = await HttpConnection.open(url);
  const giveUp = () => connection.close();
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    if (await proveMutually(connection, shared, Number(new URL(url).port || 80))) return connection;
  } catch {
    // Told below, like a wrong answer.
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
  connection.close();
  throw new Error(`The listener at ${url} is not the ${shared.listens}`);
}
