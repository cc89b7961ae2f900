import { memoryEmbedder } from "../../plugins/memory/mod.ts";
import { SvcError } from "../../src/errors.ts";
import type { Embedder } from "../../src/interfaces/mod.ts";

/** What an embedder of another model does, changed while it is used. */
export class Gate {
  /** Most documents it still embeds; later ones wait, or fail. */
  left = Infinity;
  /** Whether documents beyond that fail. */
  failing = false;
  /** Documents embedded. */
  count = 0;
  /** Documents refused for good. */
  readonly refused = new Set<string>();
  #opened = Promise.withResolvers<void>();

  /** Lets everything through from here on. */
  open(): void {
    this.left = Infinity;
    this.#opened.resolve();
  }

  /** One call of documents. */
  async pass(texts: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    if (this.left < texts.length) {
      if (this.failing) throw new SvcError("embedding_unavailable");
      const ended = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => ended.reject(signal.reason), { once: true });
      await Promise.race([this.#opened.promise, ended.promise]);
    }
    if (texts.some((text) => this.refused.has(text))) {
      throw new SvcError("embedding_unavailable", undefined, { retryable: false });
    }
    this.left -= texts.length;
    this.count += texts.length;
  }
}

/**
 * A model as good as another one, in other directions: its vectors have the same length, but
 * compared with those of the other model they say nothing.
 */
export function turned(inner: Embedder, gate: Gate = new Gate()): Embedder {
  const { dimensions, maxTokens } = inner;
  const turn = (vector: Float32Array) => vector.map((_, i) => vector[(i + 7) % dimensions]!);
  return {
    model: `turned ${inner.model}`,
    dimensions,
    maxTokens,
    async embed(texts, options) {
      if (options.purpose === "document") await gate.pass(texts, options.signal);
      return (await inner.embed(texts, options)).map((windows) => windows.map(turn));
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}

/** The bag of words, turned. */
export function turnedEmbedder(gate: Gate = new Gate(), dimensions = 256): Embedder {
  return turned(memoryEmbedder(dimensions), gate);
}
