import { since } from "../age.ts";

/** Numbers of {@linkcode OpenSecrets}. */
interface OpenSecretsOptions {
  /** Most secrets; the least recently used goes first. */
  readonly size?: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How long a secret stays open, whatever is done with it: 5 minutes. */
export const OPEN_MS: number = 5 * 60_000;
const SIZE = 1000;
const SWEEP_MS = 30_000;

interface Open<T> {
  readonly accountId: string;
  readonly bytes: Uint8Array;
  readonly about: T;
  /** Since when it is open. */
  readonly at: number;
}

/**
 * Secrets in the clear, by name: a bounded number, for 5 minutes. They are erased when they go, also
 * when nobody asks any more.
 */
export class OpenSecrets<T = undefined> implements Disposable {
  readonly #size: number;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #open = new Map<string, Open<T>>();
  #sweeper: ReturnType<typeof setInterval> | undefined;

  /** Holds nothing yet. */
  constructor({ size = SIZE, now }: OpenSecretsOptions) {
    this.#size = size;
    this.#now = now;
  }

  /** Number of secrets held, also those whose time is over. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes a secret over: the bytes are erased later. */
  keep(name: string, accountId: string, bytes: Uint8Array, about: T): void {
    this.drop(name);
    this.#sweep();
    const [oldest] = this.#open.keys();
    if (this.#open.size >= this.#size && oldest !== undefined) this.drop(oldest);
    this.#open.set(name, { accountId, bytes, about, at: this.#now() });
    this.#sweeper ??= unrefInterval(() => this.#sweep());
  }

  /** A secret of an account; not to be kept beyond the present turn of the event loop. */
  get(name: string, accountId: string): { bytes: Uint8Array; about: T } | undefined {
    const found = this.#open.get(name);
    if (found === undefined || found.accountId !== accountId) return undefined;
    if (since(found.at, this.#now()) >= OPEN_MS) {
      this.drop(name);
      return undefined;
    }
    this.#open.delete(name);
    this.#open.set(name, found);
    return found;
  }

  /** Erases one. */
  drop(name: string): void {
    this.#open.get(name)?.bytes.fill(0);
    this.#open.delete(name);
  }

  /** Erases those of an account; without an id, all. */
  dropAccount(accountId?: string): void {
    for (const [name, open] of this.#open) {
      if (accountId === undefined || open.accountId === accountId) this.drop(name);
    }
    this.#rest();
  }

  /** Erases all. */
  [Symbol.dispose](): void {
    this.dropAccount();
  }

  #sweep(): void {
    const now = this.#now();
    for (const [name, { at }] of this.#open) {
      if (since(at, now) >= OPEN_MS) this.drop(name);
    }
    this.#rest();
  }

  #rest(): void {
    if (this.#open.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

function unrefInterval(call: () => void): ReturnType<typeof setInterval> {
  const interval = setInterval(call, SWEEP_MS);
  interval.unref();
  return interval;
}
