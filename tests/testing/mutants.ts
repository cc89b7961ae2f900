import { deepStrictEqual, ok } from "node:assert/strict";
import { runSuite, type Suite } from "../../testing/suite.ts";

/** A defect and the cases that must notice it. */
export interface Mutant<T> {
  /** What is wrong. */
  readonly name: string;
  /** Names of cases that must fail; others may. */
  readonly fails: readonly string[];
  /** The members that are broken, over those of a sound backend. */
  change(sound: T): Partial<T>;
}

/**
 * Registers a test a mutant: its named cases fail, and some case passes, so that what is noticed is
 * the one defect and not a backend that does nothing at all.
 *
 * @param make Makes the sound backend, whose methods do not use `this`.
 */
export function mutants<T extends object>(
  suite: Suite<T>,
  make: () => T,
  broken: readonly Mutant<T>[],
): void {
  for (const { name, fails, change } of broken) {
    Deno.test(`${suite.name} suite notices a backend that ${name}`, async () => {
      const results = await runSuite(suite, () => {
        const sound = make();
        return { ...sound, ...change(sound) };
      });
      const failed = results
        .filter(({ status }) => status === "failed")
        .map((result) => result.name);
      deepStrictEqual(fails.filter((wanted) => !failed.includes(wanted)), [], "went unnoticed");
      ok(failed.length < suite.cases.length, "nothing works at all");
    });
  }
}
