import { Deadline } from "../../deadline.ts";
import type { RelayerConfig } from "../../interfaces/config.ts";
import type { Embedder, LanguageModel } from "../../interfaces/mod.ts";
import type { BoundedCalls } from "../bounded_calls.ts";
import type { Caller } from "../caller.ts";
import { chat } from "../chat.ts";
import { type Hit, recall, type Recalling, type RecallOptions } from "../recall/recall.ts";
import { askPrompt } from "./prompt.ts";
import { quotes } from "./quotes.ts";

/** What answering a question takes. */
type Asking = Recalling & {
  readonly languageModel?: LanguageModel;
  readonly embedder: Pick<Embedder, "closeness">;
  readonly chats: BoundedCalls;
  readonly config: Pick<RelayerConfig, "llmTimeoutMs">;
};

/** An answer and what it rests on. */
interface Answered {
  /** The answer. */
  readonly answer: string;
  /** Whether a model composed it, or memories are quoted. */
  readonly mode: "llm" | "quotes";
  /** The memories the model was shown, or the quoted ones. */
  readonly memories: readonly Hit[];
  /** Hits that could not be opened. */
  readonly dropped: number;
  /** The caller's jobs of the scope that were not recallable in time. */
  readonly pending: number;
}

/** Longest answer, in tokens. */
const MOST_TOKENS = 1024;
const NO_RESPONSE = "No response from LLM";

/**
 * Answers a question from the memories a recall finds for it.
 *
 * @throws {SvcError} `llm_unavailable`, `overloaded`, and what a recall throws.
 */
export async function ask(
  domain: Asking,
  caller: Caller,
  question: string,
  options: RecallOptions,
): Promise<Answered> {
  const { results, dropped, pending } = await recall(domain, caller, question, options);
  const { languageModel: model, embedder, config } = domain;
  if (model === undefined) {
    const weights = options.weights;
    const isWeighted = weights !== undefined && (weights.recency > 0 || weights.importance > 0);
    const { answer, quoted } = quotes(results, embedder.closeness, isWeighted);
    return { answer, mode: "quotes", memories: quoted, dropped, pending };
  }
  const { messages, shown } = askPrompt(question, results);
  using deadline = new Deadline(config.llmTimeoutMs, caller.signal);
  const { signal } = deadline;
  const control = { temperature: 0, maxTokens: MOST_TOKENS, signal };
  const said = await chat(domain, model, messages, control);
  const answer = said === "" ? NO_RESPONSE : said;
  return { answer, mode: "llm", memories: shown, dropped, pending };
}
