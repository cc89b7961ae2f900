import { Deadline } from "../../src/deadline.ts";
import type { Logger } from "../../src/log.ts";
import { reasonOf, Refused, SessionLost, Unanswered } from "./failures.ts";
import type { RpcResponse } from "./json_rpc.ts";
import type { ReconnectingSession } from "./reconnecting_session.ts";
import type { Outgoing, Session } from "./sessions/session.ts";

/** Whether a call may be sent again when it was not answered. */
type Repeatable =
  /** It changes nothing, or nothing more the second time. */
  | "always"
  /** It carries an idempotency key, and a relayer that honours it stores it once. */
  | "with key"
  | "never";

/** A call for the relayer. */
export interface PreparedCall extends Outgoing {
  readonly repeatable: Repeatable;
  /** Longest time until it is answered, in milliseconds. */
  readonly timeoutMs: number;
}

/** A call that is sent; its signal aborts when the host cancels it. */
type RemoteCall = PreparedCall & { readonly signal: AbortSignal };

/** Longest wait for a connection before a call is sent for the first time, in milliseconds. */
const CONNECT_WAIT_MS = 4000;
/** Most times one call is sent. */
const MOST_SENDINGS = 5;

/** The relayer cannot be reached; nothing was sent. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** Nobody answered in time. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
}

/** Sending a write again could do it twice, or is not known to be safe. */
export class NotRepeated extends Error {
  override readonly name = "NotRepeated";
  /** Whether it may have been done. */
  readonly mayBeDone: boolean;

  constructor(mayBeDone: boolean, cause?: unknown) {
    super(
      mayBeDone
        ? "No answer came: whether it was saved is not known. Recall it before saving it again"
        : "The connection was renewed before the relayer took it: it was not saved. Call again",
      { cause },
    );
    this.mayBeDone = mayBeDone;
  }
}

interface CallSurroundings {
  readonly connection: ReconnectingSession;
  /** Whether the relayer honours idempotency keys, as `GET /version` says now. */
  readonly honoursKeys: () => Promise<boolean>;
  readonly logger: Logger;
}

async function sessionFor(
  connection: ReconnectingSession,
  sendings: number,
  signal: AbortSignal,
): Promise<Session> {
  if (sendings > 0) return await connection.session(signal);
  const reason = (): Error => new Unreachable("no connection", { cause: connection.failure });
  const wait = new Deadline(CONNECT_WAIT_MS, signal, reason);
  try {
    return await connection.session(wait.signal);
  } finally {
    wait.close();
  }
}

/**
 * Sends a call and waits for its answer; sends it again after a broken connection where that cannot
 * do it twice.
 *
 * @throws {Refused} what the relayer refused it with.
 * @throws {Unreachable} without a connection.
 * @throws {TimedOut} when the time is over.
 * @throws {NotRepeated} for a write that may have been done.
 * @throws {GivenUp} when the user signed out meanwhile.
 */
export async function callRelayer(
  call: RemoteCall,
  around: CallSurroundings,
): Promise<RpcResponse> {
  const seconds = Math.round(call.timeoutMs / 1000);
  const late = (): Error => new TimedOut(`The relayer did not answer within ${seconds} seconds`);
  const deadline = new Deadline(call.timeoutMs, call.signal, late);
  /** Whether a sending may have been taken. */
  let mayBeDone = false;
  try {
    for (let sendings = 0;; sendings++) {
      const session = await sessionFor(around.connection, sendings, deadline.signal);
      if (sendings > 0 && call.repeatable !== "always") {
        const isOnce = call.repeatable === "with key" && await around.honoursKeys();
        if (!isOnce) throw new NotRepeated(mayBeDone);
      }
      const before: boolean = mayBeDone;
      mayBeDone = true;
      try {
        const { method, params } = call;
        return await session.request({ method, params }, deadline.signal);
      } catch (error) {
        const refused = error instanceof Refused && !error.mayBeTaken;
        if (refused || error instanceof SessionLost) mayBeDone = before;
        // Its stream of answers may be dead without a sign; the next call gets a new session.
        if (error instanceof TimedOut) void session.close("idle");
        const again = error instanceof Unanswered || error instanceof SessionLost;
        if (!again || sendings + 1 === MOST_SENDINGS) throw error;
        around.logger.debug("call not answered", { reason: reasonOf(error), count: sendings + 1 });
      }
    }
  } catch (error) {
    const silent = call.signal.aborted || !mayBeDone || call.repeatable === "always";
    throw silent || error instanceof NotRepeated ? error : new NotRepeated(true, error);
  } finally {
    deadline.close();
  }
}
