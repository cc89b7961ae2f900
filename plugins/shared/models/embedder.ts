import { SvcError } from "../../../src/errors.ts";
import type { BackendHealth, Embedder, EmbedOptions } from "../../../src/interfaces/mod.ts";
import { Batches } from "../batches.ts";
import type { GuardedCalls, GuardOptions, RunOptions } from "./guarded_calls.ts";
import type { EmbeddingTraits } from "./model_table.ts";
import { documentWindows, estimatedTokens, halves, queryWindow } from "./text_windows.ts";
import { UpstreamFailure, upstreamFailureOf } from "../upstream_failure.ts";

/** Longest window in tokens: one vector of more says little about each of its sentences. */
const WINDOW_TOKENS = 512;
/** Most bytes of an answer, and of one number of a vector in JSON. */
const MAX_ANSWER = 4 * 1024 * 1024;
const NUMBER_BYTES = 32;
/** Most texts and characters of one call: what a slow machine embeds in a minute. */
const BATCH = { items: 16, characters: 32_768, lanes: 2, length: (text: string) => text.length };
/** Longest call for a query, in milliseconds: somebody waits for it. */
const QUERY_TIMEOUT_MS = 20_000;
/** How often a refused text is divided: the estimate of its tokens may be far off. */
const MAX_DIVISIONS = 3;

/** Bounds of calls for embeddings where a plugin sets none. */
export const EMBEDDING_BOUNDS: GuardOptions = { timeoutMs: 120_000, maxBytes: MAX_ANSWER };

/** One call of a server: the vectors of the texts as it gave them, whatever they are. */
export type EmbedTexts = (
  texts: readonly string[],
  fetch: typeof globalThis.fetch,
) => Promise<unknown>;

interface RemoteModel {
  readonly model: string;
  readonly dimensions: number;
  readonly traits: EmbeddingTraits;
}

/**
 * The vector behind one member of an answer, in unit length.
 * @param dimensions Expected length; absent while it is being found out.
 * @throws {UpstreamFailure} for another length, no numbers, and numbers without a direction.
 */
function unitVector(value: unknown, dimensions?: number): Float32Array {
  if (!Array.isArray(value) || value.length === 0) {
    throw new UpstreamFailure("The model server gave no vector");
  }
  if (dimensions !== undefined && value.length !== dimensions) {
    throw new UpstreamFailure(
      `The model server's vectors have ${value.length} dimensions instead of ${dimensions}`,
    );
  }
  let sum = 0;
  for (const number of value) sum += typeof number === "number" ? number * number : NaN;
  if (!Number.isFinite(sum) || sum === 0) {
    throw new UpstreamFailure("The model server gave a vector without a direction");
  }
  const length = Math.sqrt(sum);
  return Float32Array.from(value, (number: number) => number / length);
}

/**
 * The vectors of an answer.
 * @throws {UpstreamFailure} also when there are more or fewer than texts.
 */
export function unitVectors(answer: unknown, count: number, dimensions?: number): Float32Array[] {
  if (!Array.isArray(answer) || answer.length !== count) {
    throw new UpstreamFailure("The model server gave another number of vectors");
  }
  return answer.map((value) => unitVector(value, dimensions));
}

/** Texts through a server that embeds: windows, prefixes, batches, and checked vectors. */
export class RemoteEmbedder implements Embedder {
  readonly model: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly #source: EmbedTexts;
  readonly #calls: GuardedCalls;
  readonly #traits: EmbeddingTraits;
  readonly #documents: Batches<string, Float32Array>;
  #closed = false;

  /** `calls` belong to the embedder from here on. */
  constructor(source: EmbedTexts, calls: GuardedCalls, about: RemoteModel) {
    const { model, dimensions, traits } = about;
    this.#source = source;
    this.#calls = calls;
    this.#traits = traits;
    this.model = model;
    this.dimensions = dimensions;
    const prefix = Math.max(estimatedTokens(traits.document), estimatedTokens(traits.query));
    this.maxTokens = Math.max(16, Math.min(WINDOW_TOKENS, traits.contextTokens - prefix));
    const fits = Math.floor(MAX_ANSWER / (dimensions * NUMBER_BYTES));
    this.#documents = new Batches((texts, signal) => this.#each(texts, signal), {
      ...BATCH,
      items: Math.max(1, Math.min(BATCH.items, fits)),
    });
  }

  health(): BackendHealth {
    return this.#calls.health;
  }

  /**
   * Embeds texts. Documents have up to 16 window vectors, queries one; queries never wait for
   * documents.
   *
   * @throws {SvcError} `embedding_unavailable`; not retryable when the server refuses a text however
   * short its parts are.
   */
  async embed(
    texts: readonly string[],
    { purpose, signal }: EmbedOptions,
  ): Promise<Float32Array[][]> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    if (purpose === "query") {
      const prefix = this.#traits.query;
      const options = { signal, timeoutMs: QUERY_TIMEOUT_MS };
      return await Promise.all(texts.map(async (text) => {
        const window = prefix + queryWindow(text, this.maxTokens);
        return [await this.#one(window, options, MAX_DIVISIONS)];
      }));
    }
    const prefix = this.#traits.document;
    return await Promise.all(texts.map((text) =>
      Promise.all(
        documentWindows(text, this.maxTokens)
          .map((window) => this.#documents.add(prefix + window, signal)),
      )
    ));
  }

  /** Ends the calls under way. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#calls.close(closedError());
    return Promise.resolve();
  }

  async #call(texts: readonly string[], options: RunOptions): Promise<Float32Array[]> {
    return await this.#calls.run(
      async (fetch) => unitVectors(await this.#source(texts, fetch), texts.length, this.dimensions),
      options,
    );
  }

  /** The texts in one call; each for itself when the server refuses one of them. */
  async #each(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (Float32Array | Promise<Float32Array>)[]> {
    if (texts.length > 1) {
      try {
        return await this.#call(texts, { signal });
      } catch (error) {
        const failure = upstreamFailureOf(error);
        // Whoever tries again does so with less at a time.
        if (failure?.late) this.#documents.shrink(texts.length);
        if (!failure?.refusesInput) throw error;
      }
    }
    const vectors = texts.map((text) => this.#one(text, { signal }, MAX_DIVISIONS));
    await Promise.allSettled(vectors);
    return vectors;
  }

  /** One text; the mean of its halves when it is refused, because it may be too long. */
  async #one(
    text: string,
    options: RunOptions,
    divisions: number,
  ): Promise<Float32Array> {
    try {
      return (await this.#call([text], options))[0]!;
    } catch (error) {
      const failure = upstreamFailureOf(error);
      if (!failure?.refusesInput) throw error;
      if (divisions === 0 || text.length < 64) {
        throw new SvcError("embedding_unavailable", "The model server refuses the text", {
          cause: failure,
          retryable: false,
        });
      }
      const [head, tail] = halves(text);
      const first = await this.#one(head, options, divisions - 1);
      const second = await this.#one(tail, options, divisions - 1);
      return unitVector(Array.from(first, (value, i) => value + second[i]!));
    }
  }
}

function closedError(): SvcError {
  return new SvcError("embedding_unavailable", "The embedder is closed", { retryable: false });
}
