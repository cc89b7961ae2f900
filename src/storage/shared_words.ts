import { BoundedMap } from "../bounded_map.ts";
import { within } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type { Scope, StateStore, WordsStore } from "../interfaces/mod.ts";
import type { SavedWords, WritingHold } from "./saved_words.ts";

/** Scopes whose removals are counted; the words of one that is forgotten are written once more. */
const MOST_COUNTED = 10_000;

/** How long the end waits for what is being written, milliseconds. */
const CLOSING_MS = 5_000;

/** Words in the store that relayers share: whoever works for an owner next finds them there. */
export class SharedWords implements SavedWords, AsyncDisposable {
  /** Longer than on a disk of its own: megabytes go to the database and into its log. */
  readonly pauseMs = 300_000;
  readonly leavesDeleted: boolean;
  readonly #store: WordsStore;
  readonly #drops = new BoundedMap<string, number>(MOST_COUNTED);
  /** One scope is written at a time: its records are in RAM meanwhile. */
  #writing: Promise<void> | undefined;
  #closed = false;

  constructor({ words, leavesDeleted = false }: Pick<StateStore, "words" | "leavesDeleted">) {
    this.#store = words;
    this.leavesDeleted = leavesDeleted;
  }

  async read(scope: Scope): Promise<readonly Uint8Array[]> {
    return await this.#store.read(scope).catch(() => []);
  }

  get isBusy(): boolean {
    return this.#writing !== undefined;
  }

  /**
   * @throws {SvcError} `overloaded` where the records are of before, or another scope is written; what
   * the store throws.
   */
  async write(
    scope: Scope,
    drops: number,
    make: () => AsyncIterable<Uint8Array>,
    hold: WritingHold,
  ): Promise<void> {
    const check = () => {
      if (this.#closed || this.drops(scope) !== drops) throw new SvcError("overloaded");
    };
    if (this.#writing !== undefined) {
      hold[Symbol.dispose]();
      throw new SvcError("overloaded");
    }
    this.#writing = this.#write(scope, make, check, hold)
      .finally(() => this.#writing = undefined);
    await this.#writing;
  }

  async #write(
    scope: Scope,
    make: () => AsyncIterable<Uint8Array>,
    check: () => void,
    hold: WritingHold,
  ): Promise<void> {
    const turn = await this.#turn(scope, hold);
    // Before a connection is taken: sealing may need one.
    const records: Uint8Array[] = [];
    for await (const record of make()) {
      check();
      records.push(record);
    }
    await this.#store.write(scope, turn, records);
  }

  /** The turn of a scope that nobody else had meanwhile: whatever is removed later gives it another. */
  async #turn(scope: Scope, hold: WritingHold): Promise<number> {
    using _held = hold;
    const turn = await this.#store.turn(scope);
    await hold.settled();
    return turn;
  }

  async drop(scope: Scope): Promise<void> {
    this.#drops.set(scopeKey(scope), this.drops(scope) + 1);
    await this.#store.drop(scope);
  }

  drops(scope: Scope): number {
    return this.#drops.get(scopeKey(scope)) ?? 0;
  }

  /** Ends what is being written, and takes nothing more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#writing !== undefined) await within(CLOSING_MS, this.#writing.catch(() => {}));
  }
}
