import type { BackendHealth } from "../../../../src/interfaces/mod.ts";

/**
 * Why a step of an upload failed. `unreachable`: nobody answered, or the answer cannot be right; the
 * step may be repeated as it is. `refused`: the chain would not execute the transaction as it is.
 * `poor`: the wallet cannot pay.
 */
type FailureKind = "unreachable" | "refused" | "poor";

const MESSAGES = {
  chain: "the chain does not answer",
  relay: "the upload relay does not answer",
  publisher: "the publisher does not answer",
  wallets: "the wallets cannot pay",
  encoder: "blobs cannot be encoded",
  disk: "the data directory cannot be written",
};

/** What an upload depends on. */
export type Part = keyof typeof MESSAGES;

/** A failed step of an upload. Callers see the message; the cause is only logged. */
export class StepFailure extends Error {
  override readonly name = "StepFailure";
  readonly kind: FailureKind;
  readonly part: Part;
  /** How long the part asks to be left alone, in milliseconds; 0 when it does not ask. */
  readonly pauseMs: number;

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

  /** Turns anything a call to a part throws into a failure of that part. */
  static of(part: Part, thrown: unknown): StepFailure {
    if (thrown instanceof StepFailure) return thrown;
    return new StepFailure("unreachable", part, MESSAGES[part], { cause: thrown });
  }
}

/** Pause after `failures` (at least 1) failures in a row, in milliseconds: 1 s doubling to 60 s. */
export function backoffMs(failures: number, pauseMs = 0): number {
  return Math.max(pauseMs, Math.min(60_000, 1_000 * 2 ** Math.min(failures - 1, 10)));
}

/** Failures in a row after which a part counts as down. */
const DOWN_AFTER = 3;

/** The parts that fail at present, as the last steps found them. */
export class Troubles {
  readonly #failing = new Map<Part, { count: number; message: string }>();

  failed({ part, message }: StepFailure): void {
    this.#failing.set(part, { count: (this.#failing.get(part)?.count ?? 0) + 1, message });
  }

  worked(...parts: readonly Part[]): void {
    for (const part of parts) this.#failing.delete(part);
  }

  /** Wallets that cannot pay are down at once, other parts after three failures in a row. */
  health(): BackendHealth {
    const all = [...this.#failing];
    if (all.length === 0) return { status: "ok" };
    const down = all.filter(([part, { count }]) => part === "wallets" || count >= DOWN_AFTER);
    const reason = (down.length > 0 ? down : all).map(([, { message }]) => message).join("; ");
    return { status: down.length > 0 ? "down" : "degraded", reason };
  }
}
