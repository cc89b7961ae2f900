import { SvcError } from "../../src/errors.ts";
import type { BackendHealth } from "../../src/interfaces/common.ts";
import type { Embedder, EmbedOptions } from "../../src/interfaces/embedder.ts";
import { ThreadCalls } from "../../src/threads.ts";
import { Batches } from "../shared/batches.ts";
import { documentWindows, queryWindow } from "../shared/models/text_windows.ts";
import type { LoadRequest, Response } from "./messages.ts";
import { fingerprintOf } from "./fingerprint.ts";

/**
 * Longest window in tokens. A query waits for the window that is computed at the moment, and one
 * vector of more says little about each of its sentences.
 */
export const WINDOW_TOKENS = 256;

/** Windows that wait together go to the thread in one message; there they are computed in turn. */
const DOCUMENTS = {
  items: 16,
  characters: 16_384,
  lanes: 1,
  length: (window: string) => window.length,
};

/** Embeds in one worker thread, which queries reach at once. */
export class OnnxEmbedder implements Embedder {
  readonly model: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly languages?: readonly string[];

  readonly #about: LoadRequest;
  readonly #thread: ThreadCalls<Response>;
  readonly #documents: Batches<string, Float32Array>;
  #broken: string | undefined;
  #closed = false;

  /** The model is loaded with the first call. */
  constructor(about: LoadRequest, spawn: () => Worker = spawnWorker) {
    const { manifest, dimensions } = about;
    this.#about = about;
    this.model = `onnx:${manifest.name}@${fingerprintOf(about)}`;
    this.dimensions = dimensions;
    this.maxTokens = about.window;
    if (manifest.languages !== undefined) this.languages = manifest.languages;
    this.#thread = new ThreadCalls<Response>(() => {
      const worker = spawn();
      worker.postMessage(about);
      return worker;
    }, unavailable);
    this.#documents = new Batches(
      (windows, signal) => this.#send(windows, "document", signal),
      DOCUMENTS,
    );
  }

  /** Whether the model could be used when it was last. */
  health(): BackendHealth {
    return this.#broken === undefined ? { status: "ok" } : { status: "down", reason: this.#broken };
  }

  /**
   * Embeds texts. Documents have up to 16 window vectors, queries one.
   *
   * @throws {SvcError} `embedding_unavailable` when the model cannot be used, the thread fails or the
   * embedder is closed.
   */
  async embed(
    texts: readonly string[],
    { purpose, signal }: EmbedOptions,
  ): Promise<Float32Array[][]> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    const { query, document } = this.#about.manifest;
    if (purpose === "query") {
      const windows = texts.map((text) => query + queryWindow(text, this.maxTokens));
      return (await this.#send(windows, purpose, signal)).map((vector) => [vector]);
    }
    return await Promise.all(texts.map((text) =>
      Promise.all(
        documentWindows(text, this.maxTokens)
          .map((window) => this.#documents.add(document + window, signal)),
      )
    ));
  }

  /** Ends the thread; calls under way reject. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#thread.stop(closedError());
    return Promise.resolve();
  }

  async #send(
    texts: readonly string[],
    purpose: EmbedOptions["purpose"],
    signal: AbortSignal | undefined,
  ): Promise<readonly Float32Array[]> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedError();
    if (texts.length === 0) return [];
    const answer = await this.#thread.call({ purpose, texts }, signal);
    if ("vectors" in answer) {
      this.#broken = undefined;
      return answer.vectors;
    }
    if (!answer.isBroken) throw unavailable(answer.reason);
    this.#broken = answer.reason;
    // Its message may be shown: it names files of the model and nothing else.
    throw new SvcError("embedding_unavailable", answer.reason);
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
