import type { SponsorConfig } from "../interfaces/config.ts";
import { SvcError } from "../errors.ts";
import { SPONSORSHIP_MS } from "../wire/limits.ts";
import type { SponsorLedger } from "./ledger.ts";

const DAY_MS = 86_400_000;
/** Seconds after which to retry when others have reserved the rest of the budget. */
const SOON = 2;

/** What of a day's gas is still free. The most a transaction may cost is held while one is made. */
export class GasBudget {
  readonly #config: SponsorConfig;
  readonly #ledger: SponsorLedger;
  readonly #now: () => number;
  /** Transactions that are being made. */
  #pending = 0;

  /** `now`: milliseconds since the epoch. */
  constructor(config: SponsorConfig, ledger: SponsorLedger, now: () => number) {
    this.#config = config;
    this.#ledger = ledger;
    this.#now = now;
  }

  /** Whether more than a day's gas is promised: another relayer may have promised some just now. */
  get isExceeded(): boolean {
    const now = this.#now();
    return this.#ledger.gasOfDay(now, now - SPONSORSHIP_MS) > this.#config.dailyGasMist;
  }

  /**
   * Holds the most one transaction may cost until the hold is disposed of.
   *
   * @throws {SvcError} `sponsor_budget_exhausted` until 00:00 UTC; `sponsor_overloaded` when others
   * hold what is left only for the moment.
   */
  hold(): Disposable {
    const now = this.#now();
    const { maxGasMist, dailyGasMist } = this.#config;
    const free = dailyGasMist - this.#ledger.gasOfDay(now, now - SPONSORSHIP_MS);
    if (free < maxGasMist) {
      const midnight = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
      const retryAfter = Math.max(1, Math.ceil((midnight - now) / 1000));
      throw new SvcError("sponsor_budget_exhausted", undefined, { retryAfter });
    }
    if (free < maxGasMist * (this.#pending + 1)) {
      throw new SvcError("sponsor_overloaded", undefined, { retryAfter: SOON });
    }
    this.#pending++;
    return { [Symbol.dispose]: () => void this.#pending-- };
  }
}
