/** A sponsored transaction that was answered to somebody. */
interface Sponsorship {
  /** Its digest, base58. */
  readonly digest: string;
  /** Its sender, `0x` and 64 lower-case hex characters. */
  readonly sender: string;
  /** When it was answered, milliseconds since the epoch. */
  readonly at: number;
  /** Gas it counts for, MIST. */
  readonly gas: number;
  /** `open`: not executed; `running`: the outcome is not known (yet); `executed`. */
  readonly state: "open" | "running" | "executed";
}

/** What comes before and after the use of a ledger that several relayers share. */
export interface LedgerSharing {
  /**
   * Reads what other relayers noted.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  fresh(): Promise<void>;
  /**
   * Makes durable what was noted here, and reads what others noted meanwhile.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  kept(): Promise<void>;
}

/** Durable record of sponsored transactions; synchronous, and durable when a call returns. */
export interface SponsorLedger {
  /**
   * Gas of the UTC day of `now`, MIST, with what was answered after `since` and may be executed yet;
   * times in milliseconds.
   */
  gasOfDay(now: number, since: number): number;
  /** Adds an open sponsorship; what was answered until `since` is open no longer. */
  add(row: Omit<Sponsorship, "state">, since: number): void;
  get(digest: string): Sponsorship | undefined;
  /** Notes that it is handed to the sponsor from now on, milliseconds since the epoch. */
  start(digest: string, now: number): void;
  /** Notes that it was refused without being executed. */
  reopen(digest: string): void;
  /** Notes that it was executed by now, and what it cost in MIST when that is known. */
  finish(digest: string, gas: number | undefined, now: number): void;
  /** Drops one that can never be executed. */
  drop(digest: string): void;
}
