import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { LanguageModel } from "../../interfaces/mod.ts";
import type { AcceptedJob, WrittenStanding } from "../../jobs/job.ts";
import type { Kept } from "../../jobs/replay.ts";
import { Deadline } from "../../deadline.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { chat } from "../chat.ts";
import { type Caller, checkOpenTo, mayRead, scopeOf } from "../caller.ts";
import { type Searching, settle, type Settling } from "../recall/recall.ts";
import { Slices } from "../../index/scope_loading.ts";
import { extractFacts, type Fact } from "../extract/facts.ts";
import { textPayload } from "../waiting/job_contents.ts";
import { requireCredential } from "../open.ts";
import { timeText } from "../record.ts";
import { accept, type Accepting } from "../remember.ts";
import { type Redacted, SecretScreen } from "../secrets.ts";
import { documentVectors } from "../vectors.ts";
import { nearestTexts, outdatedTexts, waitingTexts } from "./known.ts";
import { factsOfAnswer } from "./model_answer.ts";
import { extractionMessages, FACTS_SCHEMA } from "./prompt.ts";
import { Statement } from "../links/same_statement.ts";

type Analyzing = Uses<{
  languageModel: true;
  embedder: true;
  chats: true;
  jobs: "liveIn";
  contents: "payload";
  config: "analyzeRequiresLlm" | "llmTimeoutMs" | "secrets";
  analyses: "hold";
}, Searching & Settling & Accepting>;

interface AnalyzeInput {
  readonly text: string;
  readonly namespace: string;
  /** When the text was written, milliseconds since the epoch; now when absent. */
  readonly occurredAt: number | undefined;
  /** What every fact is about. */
  readonly key?: string | undefined;
  /** What every fact was said in; a session of its own when absent. */
  readonly session?: string | undefined;
  readonly standing?: WrittenStanding | undefined;
  readonly mostFacts: number;
}

export interface Analysis {
  readonly method: "llm" | "rules";
  /** What was new, in the order of the jobs. */
  readonly facts: readonly Fact[];
  /** Secrets that were taken out of the text, and of what a model said. */
  readonly redacted: readonly Redacted[] | undefined;
}

interface Analyzed<A> {
  readonly analysis: Analysis;
  /** The answer that was kept with the jobs; absent where nothing was new. */
  readonly answer?: A;
}

/** Related memories a model is told. */
const RELATED = 20;
/** Longest answer of a model, in tokens: twenty facts, and room. */
const MOST_TOKENS = 4096;
/** Tries of a model that answers without the JSON it was asked for. */
const TRIES = 2;

async function modelFacts(
  domain: Analyzing,
  caller: Caller,
  model: LanguageModel,
  input: AnalyzeInput,
): Promise<Fact[]> {
  const { text, namespace, mostFacts } = input;
  const related: string[] = [];
  if (mayRead(caller)) {
    const vectors = await documentVectors(domain.embedder, [text], caller.signal);
    related.push(...await nearestTexts(domain, caller, namespace, vectors.flat()));
  }
  const messages = extractionMessages({
    text,
    referenceTime: timeText(input.occurredAt ?? domain.now()),
    mostFacts,
    related: related.slice(0, RELATED),
  });
  using deadline = new Deadline(domain.config.llmTimeoutMs, caller.signal);
  const { signal } = deadline;
  const options = {
    temperature: 0,
    maxTokens: MOST_TOKENS,
    json: true,
    schema: FACTS_SCHEMA,
    signal,
  };
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const answer = await chat(domain, model, messages, options, caller.account.owner);
    const facts = factsOfAnswer(answer, mostFacts);
    if (facts !== undefined) return facts;
  }
  throw new SvcError("llm_unavailable", "The language model gave no usable answer");
}

/** Texts that may say one of the facts already; none that the caller may not read. */
async function knownTexts(
  domain: Analyzing,
  caller: Caller,
  namespace: string,
  facts: readonly Fact[],
): Promise<string[]> {
  if (!mayRead(caller)) return [];
  const waiting = await waitingTexts(domain, scopeOf(caller, namespace));
  const vectors = await documentVectors(
    domain.embedder,
    facts.map(({ text }) => text),
    caller.signal,
  );
  return [
    ...waiting,
    ...await nearestTexts(domain, caller, namespace, vectors.flat()),
    ...await outdatedTexts(domain, caller, namespace),
  ];
}

/** The facts that none of the texts says, each once. */
async function newFacts(facts: readonly Fact[], texts: readonly string[]): Promise<Fact[]> {
  const slices = new Slices();
  const known: Statement[] = [];
  for (const text of texts) {
    known.push(new Statement(text));
    await slices.rest();
  }
  const found: Fact[] = [];
  for (const fact of facts) {
    const statement = new Statement(fact.text);
    if (!known.some((other) => other.saysTheSame(statement))) found.push(fact);
    known.push(statement);
    await slices.rest();
  }
  return found;
}

/**
 * Extracts the facts of a text, leaves out what is already stored, and accepts the rest: all of
 * them durably in one commit, or none. Without new facts nothing is written. For a caller that may
 * not read nothing stored is looked at, by the model neither: each fact of the text is new. Secrets
 * are taken out before anything reads the text, unless the relayer allows them: of a longer text the
 * rest is worth keeping.
 *
 * @param answering makes the answer of the accepted jobs, which is kept in the same commit.
 * @throws {SvcError} `llm_disabled` where a model is required and none is configured;
 * `llm_unavailable`, `embedding_unavailable`, `overloaded`; `decrypt_credential_required` or
 * `decrypt_credential_invalid`; what accepting is refused with.
 */
export async function analyze<A>(
  domain: Analyzing,
  caller: Caller,
  given: AnalyzeInput,
  answering: (analysis: Analysis, jobs: readonly AcceptedJob[]) => Kept<A>,
): Promise<Analyzed<A>> {
  checkOpenTo(caller, given.namespace);
  if (mayRead(caller)) requireCredential(domain, caller);
  const { languageModel: model, config } = domain;
  if (model === undefined && config.analyzeRequiresLlm) throw new SvcError("llm_disabled");
  const method = model === undefined ? "rules" : "llm";
  const screen = new SecretScreen(config.secrets === "allow" ? "allow" : "redact");
  const input = { ...given, text: screen.text(given.text, "text") };
  // Memories without vectors of the present model are not found as related ones.
  if (mayRead(caller)) await settle(domain, caller, scopeOf(caller, input.namespace));
  const said = model === undefined
    ? extractFacts(input.text, input.mostFacts)
    : await modelFacts(domain, caller, model, input);
  const facts = said.map((fact) => ({ ...fact, text: screen.text(fact.text, "text") }));
  const { redacted } = screen;
  if (facts.length === 0) return { analysis: { method, facts, redacted } };
  const { namespace, occurredAt } = input;
  // Compared and accepted under one lock, so that an equal text sent meanwhile sees these jobs.
  // Nothing waits for jobs in here: texts that are not recallable yet are compared as well.
  return await domain.analyses.hold(scopeKey(scopeOf(caller, namespace)), async () => {
    const known = await knownTexts(domain, caller, namespace, facts);
    const analysis: Analysis = { method, facts: await newFacts(facts, known), redacted };
    if (analysis.facts.length === 0) return { analysis };
    // What one text tells was said together.
    const session = input.session ?? crypto.randomUUID();
    const memories = analysis.facts.map(({ text, importance }) => ({
      namespace,
      payload: textPayload({ text, key: input.key, session }),
      secrets: config.secrets === "allow" ? "allow" as const : "redact" as const,
      importance,
      occurredAt,
      standing: input.standing,
    }));
    const accepted = await accept(
      domain,
      caller,
      "analyze",
      memories,
      (jobs) => answering(analysis, jobs),
    );
    return { analysis, answer: accepted.answer };
  });
}
