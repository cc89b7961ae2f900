import { type ChatRequest, Ollama } from "ollama";
import { SvcError } from "../../src/errors.ts";
import type {
  ChatMessage,
  ChatOptions,
  Embedder,
  LanguageModel,
} from "../../src/interfaces/mod.ts";
import { EMBEDDING_BOUNDS } from "../shared/models/embedder.ts";
import {
  GuardedCalls,
  type GuardedWork,
  type ModelOptions,
  SILENT,
} from "../shared/models/guarded_calls.ts";
import {
  type Chat,
  CHAT_BOUNDS,
  RemoteLanguageModel,
  START_MS,
} from "../shared/models/language_model.ts";
import { openEmbedder } from "../shared/models/open_embedder.ts";
import { estimatedTokens } from "../shared/models/text_windows.ts";
import { upstreamFailureOf } from "../shared/upstream_failure.ts";

/** Options of {@linkcode ollamaEmbedder} and {@linkcode ollamaLanguageModel}. */
export interface OllamaOptions extends ModelOptions {
  /** Address of the server, such as `http://127.0.0.1:11434`. */
  readonly url: string;
}

/** Smallest and largest room for a conversation that is asked for, in tokens. */
const CONTEXT = { min: 4096, max: 131_072 };

const hintFor = (model: string) => `run "ollama pull ${model}" where Ollama runs`;

/** Whether a name of the server's list means the model; without a tag it is `latest`. */
function isModel(listed: string, model: string): boolean {
  return listed === model || listed === `${model}:latest`;
}

/**
 * Opens an embedder. The model's digest is part of its name, so that a model that was pulled anew
 * is another one.
 *
 * @throws {SvcError} `invalid_parameter` when the server lacks the model or its vectors have another
 * length than configured; `embedding_unavailable` when the server is down and the length unknown.
 */
export async function ollamaEmbedder(options: OllamaOptions): Promise<Embedder> {
  const { url, model, dimensions, bounds, context = SILENT } = options;
  return await openEmbedder({
    plugin: "ollama",
    model,
    dimensions,
    context,
    hint: hintFor(model),
    calls: new GuardedCalls("embedding_unavailable", { ...EMBEDDING_BOUNDS, ...bounds }),
    async digest(fetch) {
      const { models } = await new Ollama({ host: url, fetch }).list();
      const found = models?.find(({ name }) => isModel(String(name), model));
      return found === undefined ? undefined : String(found.digest).slice(0, 12);
    },
    source: (length) => async (texts, fetch) => {
      const answer = await new Ollama({ host: url, fetch }).embed({
        model,
        input: [...texts],
        // A text that is too long is refused, and then divided, instead of cut without a word.
        truncate: false,
        ...(length === undefined ? {} : { dimensions: length }),
      });
      return answer.embeddings;
    },
  });
}

/** Room for the conversation and the answer: the server's default cuts longer ones at the front. */
function contextLength(messages: readonly ChatMessage[], maxTokens: number): number {
  const tokens = messages.reduce((sum, { content }) => sum + estimatedTokens(content) + 8, 0);
  const needed = 2 ** Math.ceil(Math.log2(tokens + maxTokens));
  // Steps of two: each change makes the server load the model anew.
  return Math.min(CONTEXT.max, Math.max(CONTEXT.min, needed));
}

function chatRequest(model: string, messages: readonly ChatMessage[], options: ChatOptions) {
  const { temperature, maxTokens, json, schema } = options;
  const request: ChatRequest & { stream: false } = {
    model,
    messages: [...messages],
    stream: false,
    options: {
      num_ctx: contextLength(messages, maxTokens ?? 1024),
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { num_predict: maxTokens }),
    },
  };
  const format = schema ?? (json ? "json" : undefined);
  return format === undefined ? request : { ...request, format };
}

/**
 * Opens a language model. A server that is down is no reason not to: chat then answers
 * `llm_unavailable` until it is up.
 *
 * @throws {SvcError} `invalid_parameter` when the server answers and lacks the model.
 */
export async function ollamaLanguageModel(options: OllamaOptions): Promise<LanguageModel> {
  const { url, model, bounds, context = SILENT } = options;
  const calls = new GuardedCalls("llm_unavailable", { ...CHAT_BOUNDS, ...bounds });
  try {
    const show: GuardedWork<unknown> = (fetch) => new Ollama({ host: url, fetch }).show({ model });
    await calls.run(show, { timeoutMs: START_MS });
  } catch (thrown) {
    const error = SvcError.from(thrown);
    const status = upstreamFailureOf(error)?.status;
    if (status === 404 || status === 400) {
      throw new SvcError("invalid_parameter", `ollama: there is no ${model}: ${hintFor(model)}`);
    }
    context.log("warn", `ollama: ${error.message}; chat fails until it answers`);
  }
  const chat: Chat = async (messages, options, fetch) => {
    const request = chatRequest(model, messages, options);
    return (await new Ollama({ host: url, fetch }).chat(request)).message?.content;
  };
  return new RemoteLanguageModel(chat, calls, `ollama:${model}`);
}
