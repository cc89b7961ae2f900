import { within } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import type { Note } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";

/** An answer that a repeated request is given again: status and body, never headers. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

/** What keeps an answer. */
export type AnswerNote = Extract<Note, { readonly answer: Uint8Array }>;

/** An answer, and the mutations that keep it for a repeated request. */
export interface Kept<A> {
  readonly answer: A;
  /** Part of the commit that accepts the work. */
  readonly mutations: readonly Note[];
}

export interface ReplayOptions {
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

/** Seals answers for those who send their requests again. */
export class KeptAnswers {
  readonly #options: ReplayOptions;

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  /** Digest of what a nonce, a text or a key is known again by. */
  digest(text: string): Uint8Array {
    return this.#options.hmac(text);
  }

  /** Digest of a body, to know it again. */
  bodyDigest(bodyHash: string): Uint8Array {
    return this.#options.hmac(`body ${bodyHash}`);
  }

  /** What keeps the answer to an idempotency key. */
  idempotencyNote(key: string, bodyHash: string, answer: KeptAnswer): AnswerNote {
    const at = this.#options.now();
    return {
      idempotency: this.digest(key),
      body: this.bodyDigest(bodyHash),
      answer: this.seal(answer, key, bodyHash),
      at,
      until: at + this.#options.idempotencyHours * 3_600_000,
    };
  }

  /**
   * The answer to an idempotency key out of what is kept for it.
   *
   * @throws {SvcError} `idempotency_conflict` when it was used with another body.
   */
  again(
    key: string,
    bodyHash: string,
    kept: { readonly body: Uint8Array; readonly answer: Uint8Array; readonly until: number } | null,
  ): KeptAnswer | undefined {
    if (kept === null || kept.until < this.#options.now()) return undefined;
    if (this.bodyDigest(bodyHash).toBase64() !== kept.body.toBase64()) {
      throw new SvcError("idempotency_conflict");
    }
    return this.unseal(kept.answer, key, bodyHash);
  }

  seal(answer: KeptAnswer, key: string, bodyHash: string): Uint8Array {
    const plain = new TextEncoder().encode(`${answer.status} ${answer.body}`);
    return this.#options.sealer(bodyHash).seal(plain, this.digest(key).toBase64());
  }

  unseal(sealed: Uint8Array, key: string, bodyHash: string): KeptAnswer {
    const { sealer } = this.#options;
    const additionalData = this.digest(key).toBase64();
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

const WAIT_MS = 30_000;

/** Requests that share a key, one at a time. */
export class OneByOne {
  readonly #inFlight = new Map<string, Promise<void>>();

  /**
   * Runs a request alone among those that share one of its keys.
   *
   * @throws {SvcError} `idempotency_in_progress` after 30 s of waiting.
   */
  async run<T>(keys: readonly string[], process: () => Promise<T>): Promise<T> {
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
}

async function inTime(before: Promise<unknown>): Promise<void> {
  await within(WAIT_MS, before, () => {
    throw new SvcError("idempotency_in_progress", undefined, { retryAfter: 1 });
  });
}
