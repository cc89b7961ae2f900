/** One check of a scenario, as the suite writes it. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** What the suite wrote about a scenario. */
export interface Scenario {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** Numbers of scenarios by how they ended, and what must not be so. */
export interface Verdict {
  readonly passed: number;
  readonly failed: number;
  /** Failed where the baseline says so. */
  readonly expected: number;
  /** Without a check that the suite could make. */
  readonly skipped: number;
  /** A line for each unexpected failure, and for each entry of the baseline that passes. */
  readonly complaints: readonly string[];
}

/** Entries of a baseline: `scenario`, or `scenario:check`; what follows `#` is their reason. */
export function parseBaseline(text: string): string[] {
  return [...text.matchAll(/^ *- ([\w:.-]+)/gm)].map(([, entry = ""]) => entry);
}

/**
 * Judges a run. It is stricter than the suite: warnings count as failures, and so do scenarios that
 * the suite runs without a score.
 */
export function judge(scenarios: readonly Scenario[], baseline: readonly string[]): Verdict {
  const stale = new Set(baseline);
  const complaints: string[] = [];
  const counts = { passed: 0, failed: 0, expected: 0, skipped: 0 };
  for (const { name, checks } of scenarios) {
    const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
    const unexpected = bad.filter(({ id }) =>
      !baseline.includes(name) && !baseline.includes(`${name}:${id}`)
    );
    for (const { id } of bad) {
      stale.delete(name);
      stale.delete(`${name}:${id}`);
    }
    for (const { id, errorMessage = "no message" } of unexpected) {
      complaints.push(`${name}:${id}: ${errorMessage}`);
    }
    if (unexpected.length > 0) counts.failed++;
    else if (bad.length > 0) counts.expected++;
    else if (checks.some(({ status }) => status === "SUCCESS")) counts.passed++;
    else counts.skipped++;
  }
  for (const entry of stale) complaints.push(`${entry}: is in the baseline, but does not fail`);
  return { ...counts, complaints };
}

/** Reads the results folder of one run: a folder `server-<scenario>-<time>` for each scenario. */
export async function readScenarios(folder: string): Promise<Scenario[]> {
  const scenarios: Scenario[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name) ?? [];
    if (scenario === undefined) continue;
    const checks = JSON.parse(await Deno.readTextFile(`${folder}/${name}/checks.json`));
    scenarios.push({ name: scenario, checks });
  }
  return scenarios;
}
