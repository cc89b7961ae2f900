// @ts-types="../shared/models/openai_api.ts"
import OpenAI from "openai";
import { SvcError } from "../../src/errors.ts";
import type { Embedder, LanguageModel } from "../../src/interfaces/mod.ts";
import type { Secret } from "../../src/interfaces/plugin.ts";
import { EMBEDDING_BOUNDS } from "../shared/models/embedder.ts";
import { GuardedCalls, type ModelOptions, SILENT } from "../shared/models/guarded_calls.ts";
import { CHAT_BOUNDS, RemoteLanguageModel, START_MS } from "../shared/models/language_model.ts";
import { openEmbedder } from "../shared/models/open_embedder.ts";
import type { OpenAIClient } from "../shared/models/openai_api.ts";
import { OpenAIChat } from "../shared/models/openai_chat.ts";
import { upstreamFailureOf } from "../shared/upstream_failure.ts";

/** Options of {@linkcode openaiEmbedder} and {@linkcode openaiLanguageModel}. */
export interface OpenAIOptions extends ModelOptions {
  /** Base of the routes, such as `https://api.openai.com/v1`. */
  readonly base: string;
  /** API key; absent where the server needs none. */
  readonly apiKey?: Secret | undefined;
}

/** Removes headers that describe this machine, and the key where there is none. */
function prepare(apiKey: Secret | undefined): (headers: Headers) => void {
  return (headers) => {
    for (const name of [...headers.keys()]) {
      if (name.startsWith("x-stainless-")) headers.delete(name);
    }
    headers.set("user-agent", "svc");
    if (apiKey === undefined) headers.delete("authorization");
  };
}

/** Every option is given, so that the client reads nothing from the environment. */
function clientFor(
  { base, apiKey }: OpenAIOptions,
): (fetch: typeof globalThis.fetch) => OpenAIClient {
  return (fetch) =>
    new OpenAI({
      baseURL: base,
      apiKey: apiKey?.reveal() ?? "none",
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: "off",
      maxRetries: 0,
      fetch,
    });
}

/** A key that leaves this machine in the clear can be read on the way. */
function warnOfPlainHttp({ base, apiKey, context }: OpenAIOptions): void {
  const { protocol, hostname } = new URL(base);
  const here = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  if (apiKey === undefined || protocol === "https:" || here) return;
  context?.log(
    "warn",
    "openai: the API key is sent unencrypted: SVC_OPENAI_API_BASE is plain http",
  );
}

/**
 * Opens an embedder.
 *
 * @throws {SvcError} `invalid_parameter` when the server refuses the key or the model, or its
 * vectors have another length than configured; `embedding_unavailable` when the server is down and
 * the length unknown.
 */
export async function openaiEmbedder(options: OpenAIOptions): Promise<Embedder> {
  const { model, apiKey, dimensions, bounds, context = SILENT } = options;
  warnOfPlainHttp(options);
  const client = clientFor(options);
  return await openEmbedder({
    plugin: "openai",
    model,
    dimensions,
    context,
    hint: `check SVC_OPENAI_API_BASE, and that it serves ${model}`,
    calls: new GuardedCalls("embedding_unavailable", {
      ...EMBEDDING_BOUNDS,
      ...bounds,
      prepare: prepare(apiKey),
    }),
    source: (length) => async (texts, fetch) => {
      const { data } = await client(fetch).embeddings.create({
        model,
        input: [...texts],
        // The client would ask for base64, which not every compatible server knows.
        encoding_format: "float",
        ...(length === undefined ? {} : { dimensions: length }),
      });
      return inOrder(data);
    },
  });
}

/** The vectors by their index; compatible servers may leave it out. */
function inOrder(data: unknown): unknown {
  if (!Array.isArray(data)) return data;
  const at = (item: { index?: unknown }, position: number) =>
    typeof item?.index === "number" ? item.index : position;
  return data
    .map((item, position) => ({ position: at(item, position), vector: item?.embedding }))
    .sort((a, b) => a.position - b.position)
    .map(({ vector }) => vector);
}

/**
 * Opens a language model. A server that is down is no reason not to: chat then answers
 * `llm_unavailable` until it is up.
 *
 * @throws {SvcError} `invalid_parameter` when the server answers and refuses the key.
 */
export async function openaiLanguageModel(options: OpenAIOptions): Promise<LanguageModel> {
  const { base, model, apiKey, bounds, context = SILENT } = options;
  warnOfPlainHttp(options);
  const client = clientFor(options);
  const calls = new GuardedCalls("llm_unavailable", {
    ...CHAT_BOUNDS,
    ...bounds,
    prepare: prepare(apiKey),
  });
  try {
    const names = await calls.run(async (fetch) => {
      const { data } = await client(fetch).models.list();
      return Array.isArray(data) ? data.map((item) => String(item?.id)) : [];
    }, { timeoutMs: START_MS });
    // Some servers take names they do not list, so that this is no reason to stop.
    if (names.length > 0 && !names.includes(model)) {
      context.log("warn", `openai: the server does not list ${model}`);
    }
  } catch (thrown) {
    const error = SvcError.from(thrown);
    const status = upstreamFailureOf(error)?.status;
    if (status === 401 || status === 403) {
      throw new SvcError("invalid_parameter", `openai: ${error.message}: check SVC_OPENAI_API_KEY`);
    }
    if (status !== 404 && status !== 405) {
      context.log("warn", `openai: ${error.message}; chat fails until it answers`);
    }
  }
  const chat = new OpenAIChat(client, model, new URL(base).hostname === "api.openai.com");
  return new RemoteLanguageModel(chat.chat.bind(chat), calls, `openai:${model}`);
}
