import type { AccountListener } from "../../../src/interfaces/mod.ts";
import type { AccountRows } from "./account_rows.ts";

/** Tells listeners about changes of accounts, made here or by another process. */
export class AccountWatch implements Disposable {
  readonly #rows: AccountRows;
  readonly #pollMs: number;
  readonly #listeners = new Set<{ readonly call: AccountListener }>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #revision: number;
  #dataVersion: number;

  /** Asks for other processes' changes every `pollMs` milliseconds while somebody listens. */
  constructor(rows: AccountRows, pollMs: number) {
    this.#rows = rows;
    this.#pollMs = pollMs;
    this.#revision = rows.revision();
    this.#dataVersion = rows.dataVersion();
  }

  /** Adds a listener; dispose the answer to remove it. */
  add(call: AccountListener): Disposable {
    const listener = { call };
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      // What changed while nobody listened was never cached on a listener's behalf.
      this.#dataVersion = this.#rows.dataVersion();
      this.#revision = this.#rows.revision();
      this.#timer = setInterval(() => this.#poll(), this.#pollMs);
      this.#timer.unref();
    }
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#stop();
      },
    };
  }

  /** Tells about a change committed here, the `revision`-th. */
  changed(accountId: string, revision: number): void {
    // A gap in the count is another process' change, whose account is not known here.
    const gap = revision > this.#revision + 1;
    this.#revision = Math.max(this.#revision, revision);
    this.#tell(gap ? undefined : accountId);
  }

  [Symbol.dispose](): void {
    this.#listeners.clear();
    this.#stop();
  }

  #poll(): void {
    try {
      const dataVersion = this.#rows.dataVersion();
      if (dataVersion === this.#dataVersion) return;
      this.#dataVersion = dataVersion;
      const revision = this.#rows.revision();
      if (revision === this.#revision) return;
      this.#revision = revision;
    } catch {
      // What cannot be asked may have changed: a stale permission is worse than a second look-up.
    }
    this.#tell(undefined);
  }

  #tell(accountId: string | undefined): void {
    for (const { call } of [...this.#listeners]) call(accountId);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
