import { SvcError } from "../../../src/errors.ts";
import type { BackendHealth } from "../../../src/interfaces/mod.ts";
import { keyServersDown } from "./failures.ts";

const FAILURES = 3;
const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;
const MAX_SETS = 100;

interface SetState {
  failures: number;
  until: number;
  probing: boolean;
  reason: string;
}

/**
 * Keeps calls from key servers that do not work, for each set of servers: after some failures in a
 * row calls fail at once, but for one that tries after each pause.
 */
export class Breaker {
  readonly #now: () => number;
  readonly #sets = new Map<string, SetState>();

  /** Knows of no failure yet. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What the last calls say about a set. */
  health(name: string): BackendHealth {
    const { failures = 0, reason = "" } = this.#sets.get(name) ?? {};
    if (failures === 0) return { status: "ok" };
    return { status: failures >= FAILURES ? "down" : "degraded", reason };
  }

  /**
   * Makes a call.
   *
   * @throws {SvcError} what the call throws; `key_service_unavailable` with `retryAfter` during a
   * pause.
   */
  async run<T>(name: string, call: () => Promise<T>): Promise<T> {
    const set = this.#set(name);
    const left = set.until - this.#now();
    // Where the clock was put back, no pause is longer than it could ever be.
    if (left > 0 && left <= MAX_PAUSE_MS || set.probing) {
      const retryAfter = Math.max(1, Math.ceil(left / 1000));
      throw new SvcError("key_service_unavailable", set.reason, { retryAfter });
    }
    set.probing = set.failures >= FAILURES;
    try {
      const result = await call();
      set.failures = 0;
      return result;
    } catch (thrown) {
      const error = SvcError.from(thrown);
      if (error.code === "key_service_unavailable") this.#fail(set, error);
      // The servers answered, if only to refuse.
      else if (error.code === "decrypt_credential_invalid") set.failures = 0;
      throw error;
    } finally {
      set.probing = false;
    }
  }

  #set(name: string): SetState {
    const known = this.#sets.get(name);
    if (known !== undefined) return known;
    if (this.#sets.size >= MAX_SETS) this.#sets.clear();
    const { message } = keyServersDown();
    const set = { failures: 0, until: 0, probing: false, reason: message };
    this.#sets.set(name, set);
    return set;
  }

  #fail(set: SetState, { message }: SvcError): void {
    set.failures++;
    set.reason = message;
    const over = set.failures - FAILURES;
    if (over >= 0) set.until = this.#now() + Math.min(PAUSE_MS * 2 ** over, MAX_PAUSE_MS);
  }
}
