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
      const failing = async (cases: Suite<T>["cases"]): Promise<readonly string[]> => {
        const results = await runSuite({ ...suite, cases }, () => {
          const sound = make();
          return { ...sound, ...change(sound) };
        });
        return results.filter(({ status }) => status === "failed").map((result) => result.name);
      };
      const isNamed = ({ name }: { readonly name: string }) => fails.includes(name);
      const failed = await failing(suite.cases.filter(isNamed));
      deepStrictEqual(fails.filter((wanted) => !failed.includes(wanted)), [], "went unnoticed");
      let works = false;
      for (const other of suite.cases.filter((item) => !isNamed(item))) {
        works ||= (await failing([other])).length === 0;
        if (works) break;
      }
      ok(works, "nothing works at all");
    });
  }
}
