/** Makes a fresh, empty backend; the case disposes it. */
export type Make<T> = () => T | Promise<T>;

/** One requirement every implementation of an interface must meet. */
export interface Case<T> {
  /** Sentence that names the requirement. */
  readonly name: string;
  /**
   * Makes a backend, tries it, and disposes it. Rejects when the requirement is not met; resolves
   * to a reason when it is about an optional member the backend does not have.
   */
  run(make: Make<T>): Promise<string | undefined>;
}

/** The requirements of one interface. */
export interface Suite<T> {
  /** Interface the suite is for. */
  readonly name: string;
  /** Requirements. */
  readonly cases: readonly Case<T>[];
}

/** What may be left out. */
export interface SuiteOptions {
  /** Case name to the reason why this backend cannot meet it. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** What became of one case. */
export type CaseResult =
  | { readonly name: string; readonly status: "passed" }
  | { readonly name: string; readonly status: "skipped"; readonly reason: string }
  | { readonly name: string; readonly status: "failed"; readonly error: unknown };

function skipsOf<T>(suite: Suite<T>, options: SuiteOptions): ReadonlyMap<string, string> {
  const skips = new Map(Object.entries(options.skip ?? {}));
  for (const [name, reason] of skips) {
    if (!suite.cases.some((item) => item.name === name)) {
      throw new TypeError(`Cannot skip an unknown case of ${suite.name}: ${name}`);
    }
    if (reason.trim() === "") throw new TypeError(`A skip needs a reason: ${name}`);
  }
  return skips;
}

/**
 * Registers a Deno test for every requirement of a suite. A skipped case is an ignored test, one
 * about a missing optional member has an ignored step; both name the reason.
 *
 * @param subject Name of the backend, for the report.
 * @throws {TypeError} When a skip has no reason or names no case.
 *
 * @example Usage
 * ```ts ignore
 * import { conform, vectorStoreSuite } from "@svc/relayer/testing";
 *
 * conform(vectorStoreSuite, "qdrant", () => qdrant({ url, dimensions: 32 }));
 * ```
 */
export function conform<T>(
  suite: Suite<T>,
  subject: string,
  make: Make<T>,
  options: SuiteOptions = {},
): void {
  const skips = skipsOf(suite, options);
  for (const item of suite.cases) {
    const reason = skips.get(item.name);
    Deno.test({
      name: `${suite.name} ${subject}: ${item.name}${reason === undefined ? "" : ` (${reason})`}`,
      ignore: reason !== undefined,
      async fn(test) {
        const absent = await item.run(make);
        if (absent !== undefined) await test.step({ name: absent, ignore: true, fn() {} });
      },
    });
  }
}

/**
 * Runs a suite, one case after the other, without a test runner.
 *
 * @returns One result a case, in the order of the suite.
 * @throws {TypeError} When a skip has no reason or names no case.
 */
export async function runSuite<T>(
  suite: Suite<T>,
  make: Make<T>,
  options: SuiteOptions = {},
): Promise<CaseResult[]> {
  const skips = skipsOf(suite, options);
  const results: CaseResult[] = [];
  for (const { name, run } of suite.cases) {
    const skip = skips.get(name);
    try {
      const reason = skip ?? await run(make);
      results.push(
        reason === undefined ? { name, status: "passed" } : { name, status: "skipped", reason },
      );
    } catch (error) {
      results.push({ name, status: "failed", error });
    }
  }
  return results;
}
