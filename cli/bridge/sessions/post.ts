import { refusalOf, SessionLost, Unanswered } from "../failures.ts";
import type { RpcMessage } from "../json_rpc.ts";
import type { Upstream } from "./session.ts";

/** A request to the relayer that turns whatever goes wrong into one of the failures. */
interface Sending {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message?: RpcMessage;
  readonly signal: AbortSignal;
  /** Whether 404 means that the session is gone. */
  readonly inSession: boolean;
}

/**
 * Sends; a redirection is an error like others.
 *
 * @throws {Refused} the relayer answered with an error status.
 * @throws {SessionLost} it does not know the session.
 * @throws {Unanswered} there was no answer. When the signal aborted, its reason is thrown.
 */
export async function send(upstream: Upstream, sending: Sending): Promise<Response> {
  const { method, url, message, signal, inSession } = sending;
  let response: Response;
  try {
    response = await upstream.fetch(url, {
      method,
      headers: {
        ...upstream.headers,
        ...(message === undefined ? {} : { "content-type": "application/json" }),
        ...sending.headers,
      },
      // Not followed: the key would go along.
      redirect: "manual",
      signal,
      ...(message === undefined ? {} : { body: JSON.stringify(message) }),
    });
  } catch (cause) {
    throw brokenBy(cause, signal);
  }
  if (response.ok) return response;
  const refusal = await refusalOf(response);
  if (inSession && response.status === 404) throw new SessionLost("The session has ended");
  throw refusal;
}

/** What a failed connection means: the abort's reason, or that nobody answered. */
export function brokenBy(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return new Unanswered("The connection to the relayer failed", { cause });
}
