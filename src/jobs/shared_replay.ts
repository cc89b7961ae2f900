import type { JobStore, Note } from "../interfaces/mod.ts";
import {
  type AnswerNote,
  type KeptAnswer,
  KeptAnswers,
  OneByOne,
  type ReplayOptions,
} from "./kept_answers.ts";
import type { Replay } from "./replay.ts";

/** Nonces, signed texts and idempotency keys that were used with any relayer of a shared store. */
export class SharedReplay implements Replay {
  readonly isShared = true;
  readonly #store: JobStore;
  readonly #now: () => number;
  readonly #answers: KeptAnswers;
  readonly #once = new OneByOne();

  constructor(store: JobStore, options: ReplayOptions) {
    this.#store = store;
    this.#now = options.now;
    this.#answers = new KeptAnswers(options);
  }

  open(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The store drops what is over. */
  sweep(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.dispose](): void {}

  /** The store tells when the nonce is written whether it was used. */
  burn(publicKey: string, nonce: string): Note {
    const digest = this.#answers.digest(`nonce ${publicKey} ${nonce.toLowerCase()}`);
    return { nonce: digest, at: this.#now() };
  }

  async write(notes: readonly Note[]): Promise<void> {
    await this.#store.accept([], notes);
  }

  later(note: Note): Promise<void> {
    return this.write([note]);
  }

  async signedText(key: string, bodyHash: string): Promise<KeptAnswer | undefined> {
    const sealed = await this.#store.answerTo(this.#answers.digest(key));
    return sealed && this.#answers.unseal(sealed, key, bodyHash);
  }

  keepText(key: string, bodyHash: string, answer: KeptAnswer): AnswerNote {
    const sealed = this.#answers.seal(answer, key, bodyHash);
    return { text: this.#answers.digest(key), answer: sealed, at: this.#now() };
  }

  dropText(): void {}

  async idempotent(key: string, bodyHash: string): Promise<KeptAnswer | undefined> {
    const kept = await this.#store.idempotent(this.#answers.digest(key));
    return this.#answers.again(key, bodyHash, kept ?? null);
  }

  keepIdempotent(key: string, bodyHash: string, answer: KeptAnswer): AnswerNote {
    return this.#answers.idempotencyNote(key, bodyHash, answer);
  }

  once<T>(keys: readonly string[], process: () => Promise<T>): Promise<T> {
    return this.#once.run(keys, process);
  }
}
