import { deepStrictEqual, ok } from "node:assert/strict";
import { type Make, runSuite, type Suite } from "./suite.ts";

/** A broken backend and the cases that must notice. */
export interface Mutant<T> {
  /** What is wrong with it. */
  readonly name: string;
  /** Names of cases that must fail; others may. */
  readonly fails: readonly string[];
  /** Makes the broken backend. */
  readonly make: Make<T>;
}

/**
 * Registers a test a mutant: its named cases fail, and some other case passes, so that what is
 * noticed is the one defect and not a backend that does nothing at all.
 */
export function mutants<T>(suite: Suite<T>, broken: readonly Mutant<T>[]): void {
  for (const { name, fails, make } of broken) {
    Deno.test(`${suite.name} suite notices: ${name}`, async () => {
      const results = await runSuite(suite, make);
      const failed = results.filter(({ status }) => status === "failed").map((result) =>
        result.name
      );
      deepStrictEqual(fails.filter((wanted) => !failed.includes(wanted)), [], "went unnoticed");
      ok(failed.length < suite.cases.length, "nothing works at all");
    });
  }
}
