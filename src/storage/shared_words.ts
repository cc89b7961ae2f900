import { SvcError } from "../errors.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type { Scope, WordsStore } from "../interfaces/mod.ts";
import { KeyLock } from "../key_lock.ts";
import type { SavedWords } from "./saved_words.ts";

/** Words in the store that relayers share: whoever works for an owner next finds them there. */
export class SharedWords implements SavedWords, AsyncDisposable {
  /** Longer than on a disk of its own: megabytes go to the database and into its log. */
  readonly pauseMs = 300_000;
  readonly #store: WordsStore;
  readonly #drops = new Map<string, number>();
  /** By scope: no write overtakes a removal. */
  readonly #lock = new KeyLock();
  #closed = false;

  constructor(store: WordsStore) {
    this.#store = store;
  }

  async read(scope: Scope): Promise<readonly Uint8Array[]> {
    return await this.#store.read(scope).catch(() => []);
  }

  async write(
    scope: Scope,
    drops: number,
    make: () => AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const check = () => {
      if (this.#closed || this.drops(scope) !== drops) throw new SvcError("overloaded");
    };
    const checked = async function* () {
      for await (const record of make()) {
        check();
        yield record;
      }
      check();
    };
    await this.#lock.hold(scopeKey(scope), async () => {
      check();
      await this.#store.write(scope, checked);
    });
  }

  async drop(scope: Scope): Promise<void> {
    const key = scopeKey(scope);
    this.#drops.set(key, this.drops(scope) + 1);
    await this.#lock.hold(key, () => this.#store.drop(scope));
  }

  drops(scope: Scope): number {
    return this.#drops.get(scopeKey(scope)) ?? 0;
  }

  /** Ends what is being written, and takes nothing more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#lock.idle();
  }
}
