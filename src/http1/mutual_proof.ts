import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { HttpConnection } from "./http_connection.ts";
import type { Answer, RequestInfo } from "./served_connection.ts";

/** Where the two ends of a connection prove that they share a secret. */
const PATH = "/proof";
const HEX = /^[0-9a-f]{64}$/;

/** What both ends know before they talk. */
export interface Shared {
  /** Secret of both, at least 16 visible ASCII characters. It never crosses a connection. */
  readonly token: string;
  /** Which of the two listens on this connection: a proof for the one says nothing to the other. */
  readonly listens: "relayer" | "sidecar";
}

/** A request of a connection that may have been proven. */
export interface ProvenInfo extends RequestInfo {
  /** Whether the other end of the connection proved that it shares the secret. */
  readonly isProven: boolean;
}

/** Compares secrets in a time that tells nothing about them, whatever their lengths. */
export function isSameSecret(given: string, secret: string): boolean {
  // Digests have one length and leave only the comparison itself.
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(given), digest(secret));
}

/**
 * What one end says under the secret: who it is, where the other end was called, and both nonces. So
 * what was said on one connection, by one end, or for one direction is worth nothing elsewhere.
 */
function proof({ token, listens }: Shared, who: "listener" | "caller", facts: Facts): string {
  const { port, callersNonce, listenersNonce } = facts;
  const text =
    `svc proof 1\n${listens} listens at ${port}\n${who}\n${callersNonce}\n${listenersNonce}`;
  return createHmac("sha256", token).update(text).digest("hex");
}

interface Facts {
  readonly port: number;
  readonly callersNonce: string;
  readonly listenersNonce: string;
}

const nonce = () => crypto.getRandomValues(new Uint8Array(32)).toHex();
const notFound = () => new Response("Not found\n", { status: 404 });

/**
 * Lets callers prove themselves, connection by connection: the caller sends a nonce, gets one and the
 * listener's proof, and answers with its own. One wrong word, and the connection stays unproven.
 */
export function proving(
  shared: Shared,
  answer: (request: Request, info: ProvenInfo) => Promise<Response>,
): Answer {
  const asked = new WeakMap<object, Facts>();
  const proven = new WeakSet<object>();
  return async (request, info) => {
    const { connection, target, localPort } = info;
    const isProven = proven.has(connection);
    if (target !== PATH || isProven) return await answer(request, { ...info, isProven });
    const text = await shortText(request);
    if (text === undefined) return notFound();
    const facts = asked.get(connection);
    asked.delete(connection);
    if (facts === undefined) {
      const made = { port: localPort, callersNonce: text, listenersNonce: nonce() };
      asked.set(connection, made);
      return new Response(`${made.listenersNonce}${proof(shared, "listener", made)}`);
    }
    if (!isSameSecret(text, proof(shared, "caller", facts))) return notFound();
    proven.add(connection);
    return new Response();
  };
}

/** 64 hex characters; `undefined` for any other body. */
async function shortText(request: Request): Promise<string | undefined> {
  if (request.method !== "POST" || request.headers.get("content-length") !== "64") return undefined;
  const text = await request.text();
  return HEX.test(text) ? text : undefined;
}

/**
 * Has the listener prove itself, then this end.
 *
 * @param port Where the listener was called.
 * @returns whether both did; `false` leaves nothing with the listener that is worth anything.
 */
export async function proveMutually(
  connection: HttpConnection,
  shared: Shared,
  port: number,
): Promise<boolean> {
  const callersNonce = nonce();
  const said = await post(connection, callersNonce);
  const facts = { port, callersNonce, listenersNonce: said.slice(0, 64) };
  if (!HEX.test(facts.listenersNonce)) return false;
  if (!isSameSecret(said.slice(64), proof(shared, "listener", facts))) return false;
  return await post(connection, proof(shared, "caller", facts)) === "" && connection.isReusable;
}

/** The answer's text, cut off where none of ours is as long; no text says that it was refused. */
async function post(connection: HttpConnection, text: string): Promise<string> {
  const { status, body } = await connection.send({
    method: "POST",
    target: PATH,
    headers: [],
    body: new TextEncoder().encode(text),
  });
  let answer = "";
  while (answer.length <= 128) {
    const piece = await body?.next();
    if (piece === undefined || piece.done) return status === 200 ? answer : "refused";
    answer += new TextDecoder("latin1").decode(piece.value);
  }
  return "refused";
}
