import { Deadline } from "../../../src/deadline.ts";
import type { TransportChoice } from "../../settings.ts";
import { Refused, Unanswered } from "../failures.ts";
import type { Heard, Session, Upstream } from "./session.ts";
import { SseSession } from "./sse_session.ts";
import { StreamableSession } from "./streamable.ts";

/** Longest time until a session is open, in milliseconds. */
const OPEN_MS = 10_000;

/** Answers of a relayer that does not know Streamable HTTP. */
const NOT_STREAMABLE: readonly number[] = [404, 405, 501];

/**
 * Opens a session; `auto` tries Streamable HTTP, then HTTP with SSE when the relayer answers 404,
 * 405 or 501.
 *
 * @throws {Refused} with the status of the relayer's answer.
 * @throws {Unanswered} when there is none.
 */
export async function openSession(
  upstream: Upstream,
  choice: TransportChoice,
  heard: Heard,
  signal: AbortSignal,
): Promise<Session> {
  const late = (): Error => new Unanswered("The relayer did not open a session in time");
  const deadline = new Deadline(OPEN_MS, signal, late);
  try {
    if (choice === "sse") return await SseSession.open(upstream, heard, deadline.signal);
    try {
      return await StreamableSession.open(upstream, heard, deadline.signal);
    } catch (error) {
      const old = error instanceof Refused && NOT_STREAMABLE.includes(error.status);
      if (choice === "http" || !old) throw error;
    }
    return await SseSession.open(upstream, heard, deadline.signal);
  } finally {
    deadline.close();
  }
}
