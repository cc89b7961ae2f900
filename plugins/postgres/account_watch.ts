import type { AccountListener } from "../../src/interfaces/mod.ts";
import type { AccountRows } from "./account_rows.ts";

/** Tells listeners about changes of accounts, made here or by another process. */
export class AccountWatch implements AsyncDisposable {
  readonly #rows: AccountRows;
  readonly #pollMs: number;
  readonly #listeners = new Set<{ readonly call: AccountListener }>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #asking: Promise<void> | undefined;
  /** The last change that listeners were told of; unknown before the first look. */
  #revision: number | undefined;

  /** Asks for other processes' changes every `pollMs` milliseconds while somebody listens. */
  constructor(rows: AccountRows, pollMs: number) {
    this.#rows = rows;
    this.#pollMs = pollMs;
  }

  /** Adds a listener; dispose the answer to remove it. */
  add(call: AccountListener): Disposable {
    const listener = { call };
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#ask(), this.#pollMs);
      Deno.unrefTimer(Number(this.#timer));
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
    const isNext = this.#revision === undefined || revision <= this.#revision + 1;
    this.#revision = Math.max(this.#revision ?? 0, revision);
    this.#tell(isNext ? accountId : undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    this.#stop();
    await this.#asking;
  }

  /** Looks for changes, unless the look before is still under way. */
  #ask(): void {
    this.#asking ??= this.#look().finally(() => this.#asking = undefined);
  }

  async #look(): Promise<void> {
    try {
      const revision = await this.#rows.revision();
      const before = this.#revision;
      if (revision <= (before ?? -1)) return;
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
