/** Why a step of an upload did not get on. */
export type FailureKind =
  /** Nobody answered, or with what cannot be right; the step may be repeated as it is. */
  | "unreachable"
  /** The chain would not execute it as it is. */
  | "refused"
  /** The wallet cannot pay. */
  | "poor";

/** Parts that uploads depend on. */
export type Part = "chain" | "relay" | "publisher" | "wallets" | "encoder" | "disk";

/** A step of an upload failed; the message is safe for callers. */
export class StepFailure extends Error {
  /** Always `"StepFailure"`. */
  override readonly name = "StepFailure";
  /** What to do about it. */
  readonly kind: FailureKind;
  /** Which part failed. */
  readonly part: Part;
  /** Milliseconds the part asks to be left alone; 0 when it does not. */
  readonly pauseMs: number;

  /** The cause is only logged. */
  constructor(
    kind: FailureKind,
    part: Part,
    message: string,
    options: { readonly cause?: unknown; readonly pauseMs?: number } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.part = part;
    this.pauseMs = options.pauseMs ?? 0;
  }

  /** Anything thrown by a call to a part, as a failure. */
  static of(part: Part, thrown: unknown): StepFailure {
    if (thrown instanceof StepFailure) return thrown;
    return new StepFailure("unreachable", part, MESSAGES[part], { cause: thrown });
  }
}

const MESSAGES: Readonly<Record<Part, string>> = {
  chain: "the chain does not answer",
  relay: "the upload relay does not answer",
  publisher: "the publisher does not answer",
  wallets: "the wallets cannot pay",
  encoder: "blobs cannot be encoded",
  disk: "the data directory cannot be written",
};

const FIRST_MS = 1_000;
const MAX_MS = 60_000;

/** Pause after so many failures in a row, at least 1, in milliseconds. */
export function backoffMs(failures: number, pauseMs = 0): number {
  return Math.max(pauseMs, Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10)));
}
