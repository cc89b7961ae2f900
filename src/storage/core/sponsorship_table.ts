import { SvcError } from "../../errors.ts";
import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const SPONSORSHIP_SCHEMA = `
  create table if not exists sponsorship (
    digest text primary key, sender text not null, at integer not null, day integer not null,
    gas integer not null, state text not null
  ) strict, without rowid;
  create index if not exists sponsorship_day on sponsorship (day);
`;

const DAY_MS = 86_400_000;
/** Days whose gas is still of interest. */
const KEPT_DAYS = 2;

/**
 * `open`: answered, not executed; `running`: handed to the sponsor, outcome unknown; `executed`.
 */
type SponsorshipState = "open" | "running" | "executed";

/** A sponsored transaction that was answered to somebody. */
interface SponsorshipRow {
  readonly digest: string;
  readonly sender: string;
  /** When it was answered, milliseconds since the epoch. */
  readonly at: number;
  /** Gas it counts for, MIST: its budget until it is executed, then what was paid. */
  readonly gas: number;
  readonly state: SponsorshipState;
}

/**
 * Sponsored transactions of the last days, so that neither a restart nor a race pays twice or
 * forgets what a day has cost. Calls are synchronous and durable on return.
 */
export class SponsorshipTable {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /**
   * Gas that counts for a UTC day, in MIST: what was paid or handed to the sponsor on it, and what
   * may still be paid, because it was answered after `since` (milliseconds since the epoch).
   */
  gasOfDay(now: number, since: number): number {
    const sql = `select coalesce(sum(gas), 0) as gas from sponsorship
      where day >= ? and (state <> 'open' and day = ? or state <> 'executed' and at > ?)`;
    return this.#file.get<{ gas: number }>(sql, dayOf(since), dayOf(now), since)?.gas ?? 0;
  }

  /**
   * Adds an open sponsorship, and removes expired ones and those of past days. The same transaction
   * may be answered again, as by a sponsor that forgot it: its time then starts anew, and its state
   * stays.
   *
   * @param since what was answered until then has expired, milliseconds since the epoch.
   * @throws {SvcError} `sponsor_overloaded` when the same transaction was executed.
   */
  add(row: Omit<SponsorshipRow, "state">, since: number): void {
    const { digest, sender, at, gas } = row;
    const day = dayOf(at);
    const clean = "delete from sponsorship where (state = 'open' and at <= ?) or day <= ?";
    const insert = `insert into sponsorship values (?, ?, ?, ?, ?, 'open')
      on conflict (digest) do update set at = excluded.at, day = excluded.day`;
    this.#file.transaction(() => {
      this.#file.run(clean, since, day - KEPT_DAYS);
      if (this.get(digest)?.state === "executed") throw new SvcError("sponsor_overloaded");
      this.#file.run(insert, digest, sender, at, day, gas);
    });
  }

  get(digest: string): SponsorshipRow | undefined {
    const sql = "select digest, sender, at, gas, state from sponsorship where digest = ?";
    return this.#file.get<SponsorshipRow>(sql, digest);
  }

  /** Notes that it is handed to the sponsor from now on, milliseconds since the epoch. */
  start(digest: string, now: number): void {
    const sql = "update sponsorship set state = 'running', day = ? where digest = ?";
    this.#file.run(sql, dayOf(now), digest);
  }

  /** Notes that the sponsor refused it without executing it: it may be tried again. */
  reopen(digest: string): void {
    this.#file.run("update sponsorship set state = 'open' where digest = ?", digest);
  }

  /**
   * Notes that it was executed by now (milliseconds since the epoch), and what it cost in MIST when
   * that is known.
   */
  finish(digest: string, gas: number | undefined, now: number): void {
    const sql =
      "update sponsorship set state = 'executed', gas = coalesce(?, gas), day = ? where digest = ?";
    this.#file.run(sql, gas ?? null, dayOf(now), digest);
  }

  drop(digest: string): void {
    this.#file.run("delete from sponsorship where digest = ?", digest);
  }
}

/** The UTC day of a time in milliseconds since the epoch. */
function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}
