import type { Embedder, QueryEmbedding } from "../interfaces/mod.ts";
import { firstPerson } from "./first_person.ts";
import { checkedVectors } from "./vectors.ts";

const CACHED = 2_000;
/** Longer queries are embedded but not kept. */
const CACHED_CHARACTERS = 2_000;

/** Embedded queries: equal ones in flight share one call, recent ones are kept in memory. */
export class QueryVectors {
  readonly #embedder: Embedder;
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { embedding: QueryEmbedding; until: number }>();
  readonly #inFlight = new Map<string, Promise<QueryEmbedding>>();

  /** Keeps vectors for `ttlSeconds`; 0 = never. */
  constructor(embedder: Embedder, ttlSeconds: number, now: () => number) {
    this.#embedder = embedder;
    this.#ttlMs = ttlSeconds * 1000;
    this.#now = now;
  }

  /**
   * The vector of a query, and how well the embedder knows its words.
   *
   * @throws {SvcError} `embedding_unavailable`.
   */
  async get(query: string): Promise<QueryEmbedding> {
    const kept = this.#kept.get(query);
    if (kept !== undefined && kept.until > this.#now()) {
      // Moved to the end: the first entry is the least recently used one.
      this.#kept.delete(query);
      this.#kept.set(query, kept);
      return kept.embedding;
    }
    const running = this.#inFlight.get(query);
    if (running !== undefined) return await running;
    const call = this.#embed(query).finally(() => this.#inFlight.delete(query));
    this.#inFlight.set(query, call);
    return await call;
  }

  async #embed(query: string): Promise<QueryEmbedding> {
    const embedding = await this.#ask(firstPerson(query));
    if (this.#ttlMs > 0 && query.length <= CACHED_CHARACTERS) {
      this.#kept.set(query, { embedding, until: this.#now() + this.#ttlMs });
      if (this.#kept.size > CACHED) {
        const oldest = this.#kept.keys().next();
        if (!oldest.done) this.#kept.delete(oldest.value);
      }
    }
    return embedding;
  }

  async #ask(text: string): Promise<QueryEmbedding> {
    const embedder = this.#embedder;
    if (embedder.embedQuery === undefined) {
      const [windows] = await embedder.embed([text], { purpose: "query" });
      const [vector] = checkedVectors(embedder, windows) as readonly [Float32Array];
      return { vector, known: 1 };
    }
    const { vector, known } = await embedder.embedQuery(text);
    checkedVectors(embedder, [vector]);
    return { vector, known: Math.min(1, Math.max(0, known)) };
  }
}
