import type { Embedder } from "../interfaces/mod.ts";
import { checkedVectors } from "./vectors.ts";

const CACHED = 2_000;
/** Longer queries are embedded but not kept. */
const CACHED_CHARACTERS = 2_000;

/** Embedded queries: equal ones in flight share one call, recent ones are kept in memory. */
export class QueryVectors {
  readonly #embedder: Embedder;
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { vector: Float32Array; until: number }>();
  readonly #inFlight = new Map<string, Promise<Float32Array>>();

  /** Keeps vectors for `ttlSeconds`; 0 = never. */
  constructor(embedder: Embedder, ttlSeconds: number, now: () => number) {
    this.#embedder = embedder;
    this.#ttlMs = ttlSeconds * 1000;
    this.#now = now;
  }

  /**
   * The vector of a query.
   *
   * @throws {SvcError} `embedding_unavailable`.
   */
  async get(query: string): Promise<Float32Array> {
    const kept = this.#kept.get(query);
    if (kept !== undefined && kept.until > this.#now()) {
      // Moved to the end: the first entry is the least recently used one.
      this.#kept.delete(query);
      this.#kept.set(query, kept);
      return kept.vector;
    }
    const running = this.#inFlight.get(query);
    if (running !== undefined) return await running;
    const call = this.#embed(query).finally(() => this.#inFlight.delete(query));
    this.#inFlight.set(query, call);
    return await call;
  }

  async #embed(query: string): Promise<Float32Array> {
    const [windows] = await this.#embedder.embed([query], { purpose: "query" });
    const [vector] = checkedVectors(this.#embedder, windows) as readonly [Float32Array];
    if (this.#ttlMs > 0 && query.length <= CACHED_CHARACTERS) {
      this.#kept.set(query, { vector, until: this.#now() + this.#ttlMs });
      if (this.#kept.size > CACHED) {
        const oldest = this.#kept.keys().next();
        if (!oldest.done) this.#kept.delete(oldest.value);
      }
    }
    return vector;
  }
}
