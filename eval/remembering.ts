import type {
  Aspects,
  CallOptions,
  Embedder,
  EmbedOptions,
  QueryEmbedding,
} from "../src/interfaces/mod.ts";

/** An embedder that embeds each document once: many stores of a measurement have the same texts. */
export class RememberingEmbedder implements Embedder {
  readonly #embedder: Embedder;
  readonly #documents = new Map<string, Float32Array[]>();
  readonly model: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly aspects: Aspects | undefined;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
    ({ model: this.model, dimensions: this.dimensions, maxTokens: this.maxTokens } = embedder);
    this.aspects = embedder.aspects;
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[][]> {
    if (options.purpose !== "document") return await this.#embedder.embed(texts, options);
    const missing = [...new Set(texts)].filter((text) => !this.#documents.has(text));
    const made = await this.#embedder.embed(missing, options);
    missing.forEach((text, i) => this.#documents.set(text, made[i]!));
    return texts.map((text) => this.#documents.get(text)!);
  }

  async embedQuery(text: string, options?: CallOptions): Promise<QueryEmbedding> {
    return await this.#embedder.embedQuery!(text, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#embedder[Symbol.asyncDispose]();
  }
}
