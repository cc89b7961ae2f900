import { RpcError } from "@mysten/sui/grpc";
import { retryAfterOf } from "../../shared/retry_after.ts";

/** Longest pause that a node may ask for in seconds, as unknown keys are refused meanwhile. */
const MAX_RETRY_AFTER = 60;

/** How a node failed, in the code names of gRPC. */
type FailureCode = "UNAVAILABLE" | "DEADLINE_EXCEEDED" | "RESOURCE_EXHAUSTED" | "UNIMPLEMENTED";

/** HTTP statuses of a node that does not know a method. */
const UNKNOWN_METHOD = [404, 405, 415, 501];

/** Why a call failed below gRPC, without addresses; the client passes the error on unchanged. */
export class NodeFailure extends RpcError {
  /** How long the node asks to be left alone, in whole seconds. */
  readonly retryAfter: number | undefined;

  constructor(message: string, code: FailureCode, retryAfter?: number) {
    super(message, code);
    this.retryAfter = retryAfter;
  }
}

/** An answer had more bytes than are read. */
export class AnswerTooLarge extends NodeFailure {
  constructor() {
    super("The chain's node answered too much", "RESOURCE_EXHAUSTED");
  }
}

export function late(): NodeFailure {
  return new NodeFailure("The chain's node did not answer in time", "DEADLINE_EXCEEDED");
}

/** A request that did not arrive; Deno's own message would name the address. */
export function unreachable(thrown: unknown): NodeFailure {
  const text = thrown instanceof Deno.errors.NotCapable
    ? "The relayer lacks the permission to reach the chain's node"
    : "The chain's node cannot be reached";
  return new NodeFailure(text, "UNAVAILABLE");
}

/** An HTTP status that says no, as of a proxy. */
export function refusal({ status, headers }: Response): NodeFailure {
  const asked = retryAfterOf(headers, Date.now());
  const retryAfter = asked && Math.min(asked, MAX_RETRY_AFTER);
  if (status === 429) {
    return new NodeFailure(
      "The chain's node asks for a pause",
      "RESOURCE_EXHAUSTED",
      retryAfter ?? 1,
    );
  }
  const code = UNKNOWN_METHOD.includes(status) ? "UNIMPLEMENTED" : "UNAVAILABLE";
  return new NodeFailure(`The chain's node answered with status ${status}`, code, retryAfter);
}
