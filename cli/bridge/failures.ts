import { cappedText } from "../../src/client/capped_body.ts";
import { parseObject } from "../../src/client/failures.ts";
import { isMembers } from "./json_rpc.ts";

/** Most bytes of a refusal that are looked at. */
const REFUSAL_BYTES = 65_536;
/** Longest message taken over from a refusal, in characters. */
const MESSAGE_CHARACTERS = 500;

/** The relayer answered a message with an error status. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** Stable name, where the relayer gave one. */
  readonly code: string | undefined;
  /** Seconds to wait, where the relayer named them. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, code?: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether trying again without a change is useless. */
  get isFinal(): boolean {
    return this.status < 500 && this.status !== 429 && this.status !== 408;
  }

  /**
   * Whether the message may have been taken all the same: somebody on the way lost the answer, or
   * gave up waiting for it.
   */
  get mayBeTaken(): boolean {
    return this.status === 502 || this.status === 504;
  }
}

/** The connection failed before an answer came: whether the message was taken is not known. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
}

/** The relayer does not know the session (any more): the message was not taken. */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
}

/** The bridge gave the connection up: the user signed out, changed the account, or left. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

/** What a response with an error status says; reads its body. */
export async function refusalOf(response: Response): Promise<Refused> {
  // Without a body, or with half of one, the status still tells enough.
  const text = await cappedText(response.body, REFUSAL_BYTES).catch(() => undefined);
  const body = parseObject(text ?? "");
  const error = isMembers(body) ? body.error : undefined;
  const rpc = isMembers(error) ? error : undefined;
  const data = isMembers(rpc?.data) ? rpc.data : undefined;
  const code = data?.code ?? (isMembers(body) ? body.code : undefined);
  const message = rpc?.message ?? error;
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  return new Refused(
    response.status,
    typeof message === "string"
      ? message.slice(0, MESSAGE_CHARACTERS)
      : `The relayer answered with HTTP status ${response.status}`,
    typeof code === "string" && /^[a-z_]{1,64}$/.test(code) ? code : undefined,
    Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
  );
}

/** An error, its cause, the cause of that, … */
function causesOf(thrown: unknown): Error[] {
  const causes: Error[] = [];
  for (let error = thrown; error instanceof Error && causes.length < 8; error = error.cause) {
    causes.push(error);
  }
  return causes;
}

/** Whether the platform's permissions did not allow the connection. */
export function isForbidden(thrown: unknown): boolean {
  return causesOf(thrown).some(({ name }) => name === "NotCapable");
}

/** Why a connection failed, in few words without addresses; for the log. */
export function reasonOf(thrown: unknown): string {
  // A relayer's words may repeat what it was sent.
  if (thrown instanceof Refused) return thrown.code ?? "refused";
  const causes = causesOf(thrown);
  const codes = causes.map((error) => Reflect.get(error, "code"));
  const code: unknown = codes.find((code) => typeof code === "string");
  return typeof code === "string" ? code : causes.at(-1)?.name ?? "unknown";
}
