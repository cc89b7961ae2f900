import type { BackendHealth } from "../../../../src/interfaces/mod.ts";
import type { Part, StepFailure } from "./failure.ts";

/** Failures in a row after which a part counts as down. */
const DOWN_AFTER = 3;

/** Which parts fail at present, out of what the steps met. */
export class Troubles {
  readonly #failing = new Map<Part, { count: number; message: string }>();

  /** A step met a failure. */
  failed({ part, message }: StepFailure): void {
    this.#failing.set(part, { count: (this.#failing.get(part)?.count ?? 0) + 1, message });
  }

  /** A step that needs these parts succeeded. */
  worked(...parts: readonly Part[]): void {
    for (const part of parts) this.#failing.delete(part);
  }

  /** What the last steps say; wallets that cannot pay are down at once. */
  health(): BackendHealth {
    const all = [...this.#failing];
    if (all.length === 0) return { status: "ok" };
    const down = all.filter(([part, { count }]) => part === "wallets" || count >= DOWN_AFTER);
    const reason = (down.length > 0 ? down : all).map(([, { message }]) => message).join("; ");
    return { status: down.length > 0 ? "down" : "degraded", reason };
  }
}
