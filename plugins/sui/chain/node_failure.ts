import { RpcError } from "@mysten/sui/grpc";
import { retryAfterOf } from "../../shared/retry_after.ts";

/** Longest pause a node may ask for, in seconds: no stranger is let in meanwhile. */
const MAX_RETRY_AFTER = 60;

/** How a node failed, in the code names of gRPC. */
type FailureCode = "UNAVAILABLE" | "DEADLINE_EXCEEDED" | "RESOURCE_EXHAUSTED" | "UNIMPLEMENTED";

/** Statuses of HTTP by which a node says that it does not know a method. */
const UNKNOWN_METHOD = [404, 405, 415, 501];

/**
 * Why a call of a node failed before gRPC had a say; the client passes it on as it is. Says nothing
 * of addresses.
 */
export class NodeFailure extends RpcError {
  /** Whole seconds the node asks to be left alone. */
  readonly retryAfter: number | undefined;

  /** The message must be safe for callers. */
  constructor(message: string, code: FailureCode, retryAfter?: number) {
    super(message, code);
    this.retryAfter = retryAfter;
  }
}

/** An answer had more bytes than are read. */
export class AnswerTooLarge extends NodeFailure {
  /** Always says the same. */
  constructor() {
    super("The chain's node answered too much", "RESOURCE_EXHAUSTED");
  }
}

/** No answer in time. */
export function late(): NodeFailure {
  return new NodeFailure("The chain's node did not answer in time", "DEADLINE_EXCEEDED");
}

/** A request that did not arrive. Deno's own text would name the address. */
export function unreachable(thrown: unknown): NodeFailure {
  const text = thrown instanceof Deno.errors.NotCapable
    ? "The relayer lacks the permission to reach the chain's node"
    : "The chain's node cannot be reached";
  return new NodeFailure(text, "UNAVAILABLE");
}

/** An answer that is none of gRPC: a proxy's. */
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
