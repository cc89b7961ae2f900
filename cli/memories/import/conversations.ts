import { type FoundConversation, textsForAnalyze } from "../../../src/importers/mod.ts";
import { clientOf, type Session } from "../../session.ts";
import type { Analyzed } from "./report.ts";
import { patiently } from "../patience.ts";
import type { Progress } from "../progress.ts";

/** Longest wait for a language model, in milliseconds: the relayer gives it a minute. */
const MODEL_MS = 120_000;

/** Into how many texts conversations are cut. */
export function textsIn(conversations: readonly FoundConversation[]): number {
  return conversations.reduce((sum, one) => sum + textsForAnalyze(one).length, 0);
}

/** A key that is the same for the same text: an import that is repeated analyzes none twice. */
async function keyOf(parts: readonly unknown[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `svc-import-${hash.toHex()}`;
}

/** Has the facts of conversations saved, text by text. */
export class Analysis {
  readonly counts: Analyzed = { texts: 0, facts: 0 };
  /** Jobs of the facts that were saved last. */
  lastJobs: readonly string[] = [];
  /** Whether facts were found by rules, without a language model. */
  isByRules = false;
  readonly #session: Session;
  readonly #progress: Progress;

  /** Nothing is sent yet. */
  constructor(session: Session, progress: Progress) {
    this.#session = session;
    this.#progress = progress;
  }

  /** Analyzes every text of some conversations. */
  async run(conversations: readonly FoundConversation[], total: number): Promise<void> {
    const { settings: { namespace } } = this.#session;
    const client = clientOf(this.#session, MODEL_MS);
    let done = 0;
    for (const conversation of conversations) {
      const texts = textsForAnalyze(conversation);
      // The facts of one text are one session anyway.
      const session = texts.length < 2 ? undefined : await keyOf([texts[0]]);
      for (const { text, at } of texts) {
        const fields = { namespace, occurred_at: at, session };
        const parts = [namespace ?? null, at ?? null, text];
        const idempotencyKey = await keyOf(session === undefined ? parts : [...parts, session]);
        const answer = await patiently(
          this.#session,
          this.#progress,
          () => client.analyze(text, fields, { idempotencyKey }),
        );
        this.counts.texts++;
        this.counts.facts += answer.fact_count;
        this.isByRules ||= answer.method === "rules";
        if (answer.job_ids.length > 0) this.lastJobs = answer.job_ids;
        done++;
        this.#progress.show(`${done.toLocaleString("en")} of ${total.toLocaleString("en")} texts`);
      }
    }
  }
}
