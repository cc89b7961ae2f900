import { SvcError } from "../errors.ts";
import type { IdempotentAnswer, Note } from "../interfaces/mod.ts";
import {
  type AnswerNote,
  type Kept,
  type KeptAnswer,
  KeptAnswers,
  OneByOne,
  type ReplayOptions,
} from "./kept_answers.ts";
import { BUCKET_SECONDS, bucketOf } from "./notes.ts";
import { type KvWriter, type Mutation, tableRead } from "./staging.ts";

export type { AnswerNote, Kept, KeptAnswer };

const DIGEST_BYTES = 32;
const FLUSH_MS = 500;
/** Seconds after a start from an unclean stop in which older nonce requests are refused. */
const UNCLEAN_SECONDS = 2;

/** What was used, and what was answered to it (docs/protocol.md#4.4 and #6). */
export interface Replay extends Disposable {
  /** Whether other relayers use it as well: then it says at a writing only that a nonce was used. */
  readonly isShared: boolean;
  /** Reads what was used lately. */
  open(): Promise<void>;
  /** Writes what is unsaved. */
  close(): Promise<void>;
  /** Removes what is over. */
  sweep(): Promise<void>;
  /**
   * Uses a nonce up; the answer is what makes it durable, to be part of the commit that accepts the
   * request, or to be handed to `later`.
   *
   * @throws {SvcError} `nonce_reused`; `timestamp_out_of_range` for requests from before an unclean
   * stop.
   */
  burn(publicKey: string, nonce: string, timestamp: number): Note;
  /**
   * Writes notes at once.
   *
   * @throws {SvcError} `storage_unavailable`; `nonce_reused` where it is shared.
   */
  write(notes: readonly Note[]): Promise<void>;
  /** Writes a note within a second; where it is shared, at once, and then as `write`. */
  later(note: Note): Promise<void> | void;
  /** The first answer to a request signed without a nonce; `undefined` when there is none. */
  signedText(
    key: string,
    bodyHash: string,
  ): Promise<KeptAnswer | undefined> | KeptAnswer | undefined;
  /** What keeps the answer to a signed text. */
  keepText(key: string, bodyHash: string, answer: KeptAnswer): AnswerNote;
  /** Undoes `keepText` in memory after its commit failed. */
  dropText(key: string): void;
  /**
   * The first answer to an idempotency key; `undefined` when there is none.
   *
   * @throws {SvcError} `idempotency_conflict` when it was used with another body;
   * `storage_unavailable`.
   */
  idempotent(key: string, bodyHash: string): Promise<KeptAnswer | undefined>;
  /** What keeps the answer to an idempotency key. */
  keepIdempotent(key: string, bodyHash: string, answer: KeptAnswer): AnswerNote;
  /**
   * Runs a request alone among those that share one of its keys: `process` finds what those before
   * it have kept.
   *
   * @throws {SvcError} `idempotency_in_progress` after 30 s of waiting.
   */
  once<T>(keys: readonly string[], process: () => Promise<T>): Promise<T>;
}

/** Nonces and signed texts used within ten minutes. */
interface Bucket {
  /** Digest to sealed answer; a nonce has none. */
  readonly entries: Map<string, Uint8Array | null>;
  /** When the last entry was added, by `elapsed`. */
  touched: number;
}

/**
 * Nonces, signed texts and idempotency keys that were used (docs/protocol.md#4.4 and #6), durable
 * and in memory. Entries lie in buckets of ten minutes, all of them also in memory.
 */
export class ReplayStore implements Replay {
  readonly isShared = false;
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;
  readonly #options: ReplayOptions;
  readonly #elapsed: () => number;
  readonly #used = new Map<number, Bucket>();
  readonly #answers: KeptAnswers;
  readonly #once = new OneByOne();
  #unsaved: Mutation[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #oldestNonceRequest = -Infinity;

  constructor(kv: Deno.Kv, writer: KvWriter, options: ReplayOptions) {
    this.#kv = kv;
    this.#writer = writer;
    this.#options = options;
    this.#answers = new KeptAnswers(options);
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /** Reads what was used lately and notes whether the last stop was clean. */
  async open(): Promise<void> {
    const texts = this.#kv.list<Uint8Array>({ prefix: ["used"] }, { batchSize: 500 });
    for await (const { key, value } of texts) {
      this.#add(Number(key[1]), (key[2] as Uint8Array).toBase64(), value);
    }
    const nonces = this.#kv.list<Uint8Array>({ prefix: ["nonces"] }, { batchSize: 500 });
    for await (const { key, value } of nonces) {
      for (let at = 0; at < value.length; at += DIGEST_BYTES) {
        this.#add(Number(key[1]), value.subarray(at, at + DIGEST_BYTES).toBase64(), null);
      }
    }
    const { value: unclean } = await this.#kv.get<true | number>(["unclean"]);
    if (unclean !== null) {
      const start = this.#options.now() / 1000 + UNCLEAN_SECONDS;
      // The clock may have been set back since.
      this.#oldestNonceRequest = Math.min(unclean === true ? start : unclean, start);
    }
    await this.#writer.commit([{ key: ["unclean"], value: true, bytes: 8 }]);
    this.#timer = setInterval(() => void this.flush().catch(() => {}), FLUSH_MS);
  }

  /**
   * Writes what is unsaved and notes a clean stop. Requests that an earlier unclean stop makes this
   * process refuse are refused by the next one as well.
   */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    const oldest = this.#oldestNonceRequest;
    const key = ["unclean"];
    const over = this.#options.now() / 1000 > oldest + BUCKET_SECONDS;
    await this.#writer.commit([over ? { key, remove: true } : { key, value: oldest, bytes: 8 }]);
  }

  /** Ends without `close`: what is unsaved is lost, and the next start knows it. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** Writes nonces that are in memory only: those of reads and of refused writes. */
  async flush(): Promise<void> {
    if (this.#unsaved.length === 0) return;
    const unsaved = this.#unsaved;
    this.#unsaved = [];
    try {
      for (let i = 0; i < unsaved.length; i += 400) {
        await this.#writer.commit(unsaved.slice(i, i + 400));
      }
    } catch (error) {
      this.#unsaved.unshift(...unsaved);
      throw error;
    }
  }

  /**
   * Removes entries older than both windows, by the clock and by elapsed time: a clock that jumps
   * ahead and back again reopens nothing.
   */
  async sweep(): Promise<void> {
    const first = bucketOf(this.#options.now()) - 2;
    const untouched = this.#elapsed() - 2 * BUCKET_SECONDS * 1000;
    for (const [at, { touched }] of this.#used) {
      if (at < first && touched <= untouched) this.#used.delete(at);
    }
    for (const name of ["used", "nonces"]) {
      let gone: Mutation[] = [];
      for await (const { key } of this.#kv.list({ prefix: [name] }, { batchSize: 500 })) {
        if (this.#used.has(Number(key[1]))) continue;
        gone.push({ key, remove: true });
        if (gone.length === 400) {
          await this.#writer.commit(gone);
          gone = [];
        }
      }
      if (gone.length > 0) await this.#writer.commit(gone);
    }
  }

  /**
   * Uses a nonce up, in memory; the answer is the mutation that makes it durable, to be part of
   * the commit that accepts the request, or to be handed to `later`.
   *
   * @throws {SvcError} `nonce_reused`; `timestamp_out_of_range` for requests from before an
   * unclean stop.
   */
  burn(publicKey: string, nonce: string, timestamp: number): Note {
    if (timestamp < this.#oldestNonceRequest) throw new SvcError("timestamp_out_of_range");
    const { id, digest, at } = this.#entry(`nonce ${publicKey} ${nonce.toLowerCase()}`);
    if (this.#find(id) !== undefined) throw new SvcError("nonce_reused");
    this.#add(bucketOf(at), id, null);
    return { nonce: digest, at };
  }

  write(notes: readonly Note[]): Promise<void> {
    return this.#writer.commit(notes);
  }

  /** Writes a mutation within a second. */
  later(mutation: Mutation): void {
    this.#unsaved.push(mutation);
  }

  /** The first answer to a request signed without a nonce; `undefined` when there is none. */
  signedText(key: string, bodyHash: string): KeptAnswer | undefined {
    const sealed = this.#find(this.#entry(key).id);
    return sealed instanceof Uint8Array ? this.#answers.unseal(sealed, key, bodyHash) : undefined;
  }

  keepText(key: string, bodyHash: string, answer: KeptAnswer): AnswerNote {
    const { id, digest, at } = this.#entry(key);
    const sealed = this.#answers.seal(answer, key, bodyHash);
    this.#add(bucketOf(at), id, sealed);
    return { text: digest, answer: sealed, at };
  }

  /** Undoes `keepText` in memory after its commit failed. */
  dropText(key: string): void {
    const { id } = this.#entry(key);
    // The bucket may have changed since.
    for (const { entries } of this.#used.values()) entries.delete(id);
  }

  /**
   * The first answer to an idempotency key; `undefined` when there is none.
   *
   * @throws {SvcError} `idempotency_conflict` when it was used with another body;
   * `storage_unavailable`.
   */
  async idempotent(key: string, bodyHash: string): Promise<KeptAnswer | undefined> {
    const { value } = await tableRead(
      this.#kv.get<IdempotentAnswer>(["idempotency", this.#answers.digest(key)]),
    );
    return this.#answers.again(key, bodyHash, value);
  }

  keepIdempotent(key: string, bodyHash: string, answer: KeptAnswer): AnswerNote {
    return this.#answers.idempotencyNote(key, bodyHash, answer);
  }

  once<T>(keys: readonly string[], process: () => Promise<T>): Promise<T> {
    return this.#once.run(keys, process);
  }

  #entry(text: string): { id: string; digest: Uint8Array; at: number } {
    const digest = this.#answers.digest(text);
    return { id: digest.toBase64(), digest, at: this.#options.now() };
  }

  #add(bucket: number, id: string, value: Uint8Array | null): void {
    const make = () => ({ entries: new Map(), touched: 0 });
    const found = this.#used.getOrInsertComputed(bucket, make);
    found.entries.set(id, value);
    found.touched = this.#elapsed();
  }

  /** Looks in every bucket, because the clock may have been set back. */
  #find(id: string): Uint8Array | null | undefined {
    for (const { entries } of this.#used.values()) {
      const found = entries.get(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
