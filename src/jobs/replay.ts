import { within } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import type { IdempotentAnswer, Note } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { BUCKET_SECONDS, bucketOf } from "./notes.ts";
import { type KvWriter, type Mutation, tableRead } from "./staging.ts";

/** An answer that a repeated request is given again: status and body, never headers. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

/** An answer, and the mutations that keep it for a repeated request. */
export interface Kept<A> {
  readonly answer: A;
  /** Part of the commit that accepts the work. */
  readonly mutations: readonly Note[];
}

const DIGEST_BYTES = 32;
const FLUSH_MS = 500;
const WAIT_MS = 30_000;
/** Seconds after a start from an unclean stop in which older nonce requests are refused. */
const UNCLEAN_SECONDS = 2;

interface ReplayOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Keyed digest; no plain hash of a request is ever kept. */
  readonly hmac: (data: string) => Uint8Array;
  /**
   * Seals answers under a secret. What a relayer keeps opens with its key and the request's body
   * only, which it does not keep: texts of an answer outlive no deletion.
   */
  readonly sealer: (secret?: string) => Sealer;
  /** Hours an idempotency key is remembered. */
  readonly idempotencyHours: number;
  /** A monotonic clock, milliseconds. */
  readonly elapsed?: () => number;
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
export class ReplayStore implements Disposable {
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;
  readonly #options: ReplayOptions;
  readonly #elapsed: () => number;
  readonly #used = new Map<number, Bucket>();
  readonly #inFlight = new Map<string, Promise<void>>();
  #unsaved: Mutation[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #oldestNonceRequest = -Infinity;

  constructor(kv: Deno.Kv, writer: KvWriter, options: ReplayOptions) {
    this.#kv = kv;
    this.#writer = writer;
    this.#options = options;
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

  /** Writes a mutation within a second. */
  later(mutation: Mutation): void {
    this.#unsaved.push(mutation);
  }

  /** The first answer to a request signed without a nonce; `undefined` when there is none. */
  signedText(key: string, bodyHash: string): KeptAnswer | undefined {
    const sealed = this.#find(this.#entry(key).id);
    return sealed instanceof Uint8Array ? this.#unseal(sealed, key, bodyHash) : undefined;
  }

  keepText(key: string, bodyHash: string, answer: KeptAnswer): Note {
    const { id, digest, at } = this.#entry(key);
    const sealed = this.#seal(answer, key, bodyHash);
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
      this.#kv.get<IdempotentAnswer>(["idempotency", this.#digest(key)]),
    );
    if (value === null || value.until < this.#options.now()) return undefined;
    if (this.#digest(`body ${bodyHash}`).toBase64() !== value.body.toBase64()) {
      throw new SvcError("idempotency_conflict");
    }
    return this.#unseal(value.answer, key, bodyHash);
  }

  keepIdempotent(key: string, bodyHash: string, answer: KeptAnswer): Note {
    const at = this.#options.now();
    return {
      idempotency: this.#digest(key),
      body: this.#digest(`body ${bodyHash}`),
      answer: this.#seal(answer, key, bodyHash),
      at,
      until: at + this.#options.idempotencyHours * 3_600_000,
    };
  }

  /**
   * Runs a request alone among those that share one of its keys: `process` finds what those before
   * it have kept.
   *
   * @throws {SvcError} `idempotency_in_progress` after 30 s of waiting.
   */
  async once<T>(keys: readonly string[], process: () => Promise<T>): Promise<T> {
    // Entered in one turn, so that a request only ever waits for earlier ones.
    const before = keys.map((key) => this.#inFlight.get(key)).filter((item) => item !== undefined);
    const done = Promise.withResolvers<void>();
    for (const key of keys) this.#inFlight.set(key, done.promise);
    try {
      if (before.length > 0) await inTime(Promise.all(before));
      return await process();
    } finally {
      // Also after a wait in vain: requests behind this one still wait for those before it.
      void Promise.all(before).then(() => {
        for (const key of keys) {
          if (this.#inFlight.get(key) === done.promise) this.#inFlight.delete(key);
        }
        done.resolve();
      });
    }
  }

  #digest(text: string): Uint8Array {
    return this.#options.hmac(text);
  }

  #entry(text: string): { id: string; digest: Uint8Array; at: number } {
    const digest = this.#digest(text);
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

  #seal(answer: KeptAnswer, key: string, bodyHash: string): Uint8Array {
    const plain = new TextEncoder().encode(`${answer.status} ${answer.body}`);
    return this.#options.sealer(bodyHash).seal(plain, this.#digest(key).toBase64());
  }

  #unseal(sealed: Uint8Array, key: string, bodyHash: string): KeptAnswer {
    const { sealer } = this.#options;
    const additionalData = this.#digest(key).toBase64();
    let plain: Uint8Array;
    try {
      plain = sealer(bodyHash).open(sealed, additionalData);
    } catch {
      // As 0.1.0 kept it, a day ago at most.
      plain = sealer().open(sealed, additionalData);
    }
    const text = new TextDecoder().decode(plain);
    return { status: Number(text.slice(0, 3)), body: text.slice(4) };
  }
}

async function inTime(before: Promise<unknown>): Promise<void> {
  await within(WAIT_MS, before, () => {
    throw new SvcError("idempotency_in_progress", undefined, { retryAfter: 1 });
  });
}
