import { BoundedMap } from "../../bounded_map.ts";
import { SvcError } from "../../errors.ts";
import { limitKey } from "../../wire/ip_addresses.ts";

const MINUTE_MS = 60_000;
/** Wait that is advised when only another session's end makes room, in seconds. */
const RETRY_SECONDS = 30;
/** Addresses whose starts are remembered; far above what a minute holds under the global cap. */
const MOST_ADDRESSES = 100_000;

interface CapLimits {
  readonly sessions: number;
  readonly sessionsPerIp: number;
  /** Starts of one address in a sliding minute. */
  readonly newSessionsPerIpPerMinute: number;
}

function refuse(cap: string, message: string, retryAfter: number): SvcError {
  return new SvcError("session_limit", `${message} (${cap})`, { retryAfter, extra: { cap } });
}

/** Counts sessions and their starts (docs/protocol.md#11, session limits). */
export class SessionCaps {
  readonly #limits: CapLimits;
  readonly #now: () => number;
  readonly #active = new Map<string, number>();
  readonly #starts = new BoundedMap<string, number[]>(MOST_ADDRESSES);
  #total = 0;

  /** `now`: milliseconds since the epoch. */
  constructor(limits: CapLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Sessions at present, those being started included. */
  get total(): number {
    return this.#total;
  }

  /**
   * Takes a slot and counts a start.
   *
   * @returns gives the slot back; further calls do nothing.
   * @throws {SvcError} `session_limit` naming the cap.
   */
  start(address: string): () => void {
    const key = limitKey(address);
    const active = this.#active.get(key) ?? 0;
    if (this.#total >= this.#limits.sessions) {
      throw refuse("global_cap", "Too many sessions", RETRY_SECONDS);
    }
    if (active >= this.#limits.sessionsPerIp) {
      throw refuse("ip_active_cap", "Too many sessions from this address", RETRY_SECONDS);
    }
    this.countStart(address);
    this.#total++;
    this.#active.set(key, active + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#total--;
      const left = this.#active.get(key)! - 1;
      if (left === 0) this.#active.delete(key);
      else this.#active.set(key, left);
    };
  }

  /**
   * Counts a start that takes no slot.
   *
   * @throws {SvcError} `session_limit` naming `ip_burst_cap`.
   */
  countStart(address: string): void {
    const key = limitKey(address);
    const now = this.#now();
    const recent = (this.#starts.get(key) ?? []).filter((at) => now - at < MINUTE_MS);
    if (recent.length >= this.#limits.newSessionsPerIpPerMinute) {
      const wait = Math.max(1, Math.ceil((recent[0]! + MINUTE_MS - now) / 1000));
      throw refuse("ip_burst_cap", "Too many new sessions from this address", wait);
    }
    recent.push(now);
    this.#starts.set(key, recent);
    this.#starts.deleteWhile((starts) => now - starts.at(-1)! >= MINUTE_MS);
  }
}
