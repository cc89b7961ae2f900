import type { IndexedMemory } from "../../index/ranking.ts";
import type { LoadedScope } from "../../index/resident_scope.ts";
import type { Trust } from "../../interfaces/mod.ts";
import { countsAt, relationsOf, type RelationsView } from "../links/view.ts";

/** What narrows a recall. Times are milliseconds since the epoch. */
export interface NarrowingOptions {
  /** Keep memories whose time is not before. */
  readonly occurredAfter?: number | undefined;
  /** Keep memories whose time is before. */
  readonly occurredBefore?: number | undefined;
  /** When the memories have to be true; now when absent. */
  readonly asOf?: number | undefined;
  /** Whether memories are found that are over, or for which another one stands. */
  readonly history?: boolean | undefined;
  /** Keep memories that these have said. */
  readonly trust?: readonly Trust[] | undefined;
  readonly accept?: (memory: IndexedMemory) => boolean;
}

type Related = Pick<LoadedScope, "relations">;

/** Which memories of a scope one recall may find. */
export class Narrowing {
  readonly #options: NarrowingOptions;
  readonly #now: number;
  readonly #isDeleted: (memory: IndexedMemory) => boolean;
  /** Whether an expired memory was met. */
  expired = false;

  constructor(
    options: NarrowingOptions,
    now: number,
    isDeleted: (memory: IndexedMemory) => boolean,
  ) {
    this.#options = options;
    this.#now = now;
    this.#isDeleted = isDeleted;
  }

  /** Whether more than a few memories may be left out. */
  get isFiltered(): boolean {
    const { occurredAfter = -Infinity, occurredBefore = Infinity, trust } = this.#options;
    return occurredAfter > -Infinity || occurredBefore < Infinity || trust !== undefined;
  }

  /** Whether a memory is found, by what it says of itself. */
  readonly accept = (memory: IndexedMemory): boolean => {
    const { occurredAfter = -Infinity, occurredBefore = Infinity, trust, accept } = this.#options;
    if (memory.expiresAt !== undefined && memory.expiresAt <= this.#now) {
      this.expired = true;
      return false;
    }
    const time = memory.occurredAt ?? memory.createdAt;
    return time >= occurredAfter && time < occurredBefore &&
      (trust === undefined || trust.includes(memory.standing?.trust ?? "user")) &&
      (accept?.(memory) ?? true);
  };

  /** The same, and that it was not deleted. */
  readonly acceptKept = (memory: IndexedMemory): boolean =>
    this.accept(memory) && !this.#isDeleted(memory);

  /** Leaves out what is over, or said by another one. */
  counting(
    loaded: Related,
    accept: (memory: IndexedMemory) => boolean,
  ): (memory: IndexedMemory) => boolean {
    const { asOf, history = false } = this.#options;
    if (history) return accept;
    const counts = countsAt(loaded, asOf ?? this.#now, this.#isShown, asOf !== undefined);
    return (memory) => accept(memory) && counts(memory);
  }

  /** How a memory that was found stands to others. */
  relationsOf(loaded: Related, memory: IndexedMemory): RelationsView {
    return relationsOf(loaded, memory, this.#options.asOf ?? this.#now, this.#isShown);
  }

  readonly #isShown = (memory: IndexedMemory): boolean =>
    (memory.expiresAt ?? Infinity) > this.#now && !this.#isDeleted(memory);
}
