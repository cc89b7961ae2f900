import { findAddresses } from "./addresses.ts";
import type { Finding } from "./kinds.ts";
import { findPaymentCards } from "./payment_cards.ts";
import { findPrivateKeys } from "./private_keys.ts";
import { findSeedPhrases } from "./seed_phrases.ts";
import { findStatements } from "./statements.ts";
import { findTokens } from "./tokens.ts";

/** What looks for secrets. Of two that find the same place the first names it. */
const DETECTORS: readonly ((text: string) => Finding[])[] = [
  findTokens,
  findPrivateKeys,
  findAddresses,
  findSeedPhrases,
  findPaymentCards,
  findStatements,
];

/**
 * The secrets in a text by their places, none of which overlap. Takes time linear in the text,
 * whatever stands in it.
 */
export function findSecrets(text: string): Finding[] {
  const all = DETECTORS.flatMap((detect, rank) =>
    detect(text).map((finding) => ({ ...finding, rank }))
  );
  all.sort((a, b) => a.start - b.start || a.rank - b.rank);
  const found: (Finding & { readonly rank: number })[] = [];
  for (const finding of all) {
    const last = found.at(-1);
    if (last === undefined || finding.start >= last.end) {
      found.push(finding);
      continue;
    }
    const { kind, rank } = finding.rank < last.rank ? finding : last;
    found[found.length - 1] = { ...last, kind, rank, end: Math.max(last.end, finding.end) };
  }
  return found.map(({ kind, start, end }) => ({ kind, start, end }));
}

/** A text with `[redacted: kind]` in the place of each secret. */
export function redact(text: string, findings: readonly Finding[]): string {
  let rest = 0;
  const parts = findings.map(({ kind, start, end }) => {
    const before = text.slice(rest, start);
    rest = end;
    return `${before}[redacted: ${kind.replaceAll("_", " ")}]`;
  });
  return parts.join("") + text.slice(rest);
}
