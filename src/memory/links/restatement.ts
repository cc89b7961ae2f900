import type { Proposal } from "./judge.ts";
import { Statement } from "./same_statement.ts";

/** Finds that a new memory says what an older one says. */
export function judgeRepetition(older: string, newer: string): Proposal | undefined {
  const isSame = new Statement(older).saysTheSame(new Statement(newer));
  return isSame ? { kind: "restates", by: "same_words", score: 1 } : undefined;
}
