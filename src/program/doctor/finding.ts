import type { Env } from "../../interfaces/fields.ts";
import type { Prepared } from "../launcher/prepare.ts";
import type { Reply } from "./ask.ts";
import type { Running } from "./running.ts";

/** One thing that was looked at. */
export interface Finding {
  /** `problem`: something does not work or is not safe; `warning`: it soon will not, or may not. */
  readonly state: "ok" | "warning" | "problem";
  /** What is so; never a secret. */
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
}

/** What every check looks at. */
export interface Subject {
  readonly env: Env;
  readonly prepared: Prepared;
  /** Who answers where the relayer listens. */
  readonly running: Running;
  /** The process that has the data directory; absent when nobody has, or it cannot be told. */
  readonly holder?: number | undefined;
  /** Answer of `/version` at `SVC_PUBLIC_URL`, or why there was none; absent when it was not asked. */
  readonly publicly?: Reply | Error | undefined;
  /** The package that accounts of this data directory belong to; absent before the first start. */
  readonly packageId?: string | undefined;
  /** The time of this machine, milliseconds since the epoch. */
  readonly now: number;
}

/** A check; it changes nothing, and may be made while the relayer runs. */
export interface Check {
  readonly name: string;
  look(subject: Subject): Finding[] | Promise<Finding[]>;
}

export const ok = (found: string): Finding => ({ state: "ok", found });
export const warning = (found: string, advice: string): Finding => ({
  state: "warning",
  found,
  advice,
});
export const problem = (found: string, advice: string): Finding => ({
  state: "problem",
  found,
  advice,
});
