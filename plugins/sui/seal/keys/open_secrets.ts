import { since } from "../age.ts";

/** How long a secret stays open, however it is used: 5 minutes. */
export const OPEN_MS: number = 5 * 60_000;
const SIZE = 1000;
const SWEEP_MS = 30_000;

interface Open<T> {
  readonly accountId: string;
  readonly bytes: Uint8Array;
  readonly about: T;
  readonly at: number;
}

/**
 * A bounded number of open secrets by name, each for 5 minutes. They are erased when they are dropped,
 * and on time also when nobody asks for them.
 */
export class OpenSecrets<T = undefined> {
  readonly #size: number;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #open = new Map<string, Open<T>>();
  #sweeper: ReturnType<typeof setInterval> | undefined;

  /** @param size Most secrets; the least recently used is dropped first. */
  constructor({ size = SIZE, now }: { readonly size?: number; readonly now: () => number }) {
    this.#size = size;
    this.#now = now;
  }

  /** How many secrets are held, also those whose time is over. */
  get size(): number {
    return this.#open.size;
  }

  /** Keeps a secret, whose bytes belong to this object from now on and are erased later. */
  keep(name: string, accountId: string, bytes: Uint8Array, about: T): void {
    this.drop(name);
    this.#sweep();
    const [oldest] = this.#open.keys();
    if (this.#open.size >= this.#size && oldest !== undefined) this.drop(oldest);
    this.#open.set(name, { accountId, bytes, about, at: this.#now() });
    if (this.#sweeper !== undefined) return;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  /** A secret of an account, which the caller must not use after this turn of the event loop. */
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
