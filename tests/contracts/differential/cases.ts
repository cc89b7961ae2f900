import { ABORT, MoveAbort } from "../../../contracts/mirror.ts";

/** A Move test function and what the mirror expects of it. */
export interface Case {
  /** Unique name. */
  readonly name: string;
  /** Abort code, or 0. */
  readonly code: number;
  /** Statements of the test. */
  readonly body: string;
}

/** Abort code of a call of the mirror, or 0. */
export function codeOf(call: () => void): number {
  try {
    call();
    return 0;
  } catch (thrown) {
    if (thrown instanceof MoveAbort) return thrown.code;
    throw thrown;
  }
}

/** A test module of the cases. */
export function renderModule(name: string, cases: readonly Case[], more = ""): string {
  const tests = cases.map(({ name, code, body }) => {
    const expected = code === 0
      ? ""
      : `, expected_failure(abort_code = ${code}, location = svc::account)`;
    return `#[test${expected}] fun ${name}() { ${body} }\n`;
  });
  return `#[test_only, allow(unused)]
module svc::${name};
use svc::account;
use svc::scene::{Self, Scene};
use svc::vectors::first;
${more}${tests.join("")}`;
}

/** How many cases there are of each outcome, by name. */
export function tally(cases: readonly Case[]): Map<string, number> {
  const names = new Map<number, string>([
    [0, "passes"],
    ...Object.entries(ABORT).map(([name, code]) => [code, name] as const),
  ]);
  const counts = new Map<string, number>();
  for (const { code } of cases) {
    const name = names.get(code) ?? "unknown";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
