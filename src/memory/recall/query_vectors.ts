import type { Embedder, QueryEmbedding } from "../../interfaces/mod.ts";
import { BoundedMap } from "../../bounded_map.ts";
import { abortable, Deadline } from "../../deadline.ts";
import { FairTurns } from "../fair_turns.ts";
import { unreadLanguage } from "../reading.ts";
import { checkedVectors, firstPerson } from "../vectors.ts";

const CACHED = 2_000;
/** Longer queries are embedded but not kept. */
const CACHED_CHARACTERS = 2_000;
/** Calls of the embedder at once, those that wait for one to end, and their longest wait. */
const CALLS = 64;
const WAITING = 1024;
const WAIT_MS = 20_000;

/** An embedded query. */
export interface EmbeddedQuery extends QueryEmbedding {
  /** Present where the embedder does not read the language of the query, and knows none of it. */
  readonly unread?: boolean;
}

interface Running {
  readonly embedding: Promise<EmbeddedQuery>;
  readonly controller: AbortController;
  callers: number;
}

/** Embedded queries: equal ones in flight share one call, recent ones are kept in memory. */
export class QueryVectors {
  readonly #embedder: Embedder;
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #kept = new BoundedMap<string, { embedding: EmbeddedQuery; until: number }>(CACHED);
  readonly #inFlight = new Map<string, Running>();
  readonly #calls = new FairTurns(CALLS, WAITING);

  /** Keeps vectors for `ttlSeconds`; 0 = never. */
  constructor(embedder: Embedder, ttlSeconds: number, now: () => number) {
    this.#embedder = embedder;
    this.#ttlMs = ttlSeconds * 1000;
    this.#now = now;
  }

  /**
   * The vector of a query, and how well the embedder knows its words. The call ends when all who
   * wait for it have left.
   *
   * @param signal aborted when the caller has left.
   * @param owner whose turn it is where many queries wait.
   * @throws {SvcError} `embedding_unavailable`; `overloaded`.
   */
  async get(query: string, signal?: AbortSignal, owner?: string): Promise<EmbeddedQuery> {
    const kept = this.#kept.get(query);
    if (kept !== undefined && kept.until > this.#now()) {
      // Set anew: the oldest entry is the least recently used one.
      this.#kept.set(query, kept);
      return kept.embedding;
    }
    const running = this.#inFlight.get(query) ?? this.#start(query, owner);
    running.callers++;
    try {
      return await abortable(running.embedding, signal);
    } finally {
      if (--running.callers === 0) {
        this.#forget(query, running);
        running.controller.abort();
      }
    }
  }

  #start(query: string, owner: string | undefined): Running {
    const controller = new AbortController();
    const embedding = this.#embed(query, controller.signal, owner);
    const running: Running = { embedding, controller, callers: 0 };
    this.#inFlight.set(query, running);
    // Nobody may be left to see it fail.
    embedding.catch(() => {}).finally(() => this.#forget(query, running));
    return running;
  }

  #forget(query: string, running: Running): void {
    if (this.#inFlight.get(query) === running) this.#inFlight.delete(query);
  }

  async #embed(
    query: string,
    signal: AbortSignal,
    owner: string | undefined,
  ): Promise<EmbeddedQuery> {
    const leave = await this.#enter(signal, owner);
    try {
      const embedding = await this.#ask(firstPerson(query), signal);
      this.#keep(query, embedding);
      return embedding;
    } finally {
      leave();
    }
  }

  async #enter(signal: AbortSignal, owner: string | undefined): Promise<() => void> {
    using deadline = new Deadline(WAIT_MS, signal);
    return await this.#calls.enter(deadline.signal, owner);
  }

  #keep(query: string, embedding: EmbeddedQuery): void {
    if (this.#ttlMs === 0 || query.length > CACHED_CHARACTERS) return;
    this.#kept.set(query, { embedding, until: this.#now() + this.#ttlMs });
  }

  async #ask(text: string, signal: AbortSignal): Promise<EmbeddedQuery> {
    const embedder = this.#embedder;
    if (embedder.embedQuery === undefined) {
      const [windows] = await embedder.embed([text], { purpose: "query", signal });
      const [vector] = checkedVectors(embedder, windows) as readonly [Float32Array];
      return { vector, known: 1 };
    }
    const { vector, known } = await embedder.embedQuery(text, { signal });
    const [checked] = checkedVectors(embedder, [vector]) as readonly [Float32Array];
    // Its vocabulary knows some words of languages that it does not read.
    if (unreadLanguage(embedder, text) !== undefined) {
      return { vector: checked, known: 0, unread: true };
    }
    return { vector: checked, known: Number.isFinite(known) ? Math.min(1, Math.max(0, known)) : 1 };
  }
}
