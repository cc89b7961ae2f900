import type { BlobMoveListener, Scope } from "../../../../src/interfaces/mod.ts";
import type { Catalogue } from "../catalogue.ts";

/** Moves told in one call. */
const BATCH = 256;
/** Moves that are followed from one id. */
const MAX_HOPS = 64;

/**
 * The id a blob has now, after all its moves.
 *
 * @returns `undefined` when it was deleted under any of its ids.
 */
export function presentId(catalogue: Catalogue, scope: Scope, id: string): string | undefined {
  let present = id;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    if (catalogue.isDeleted(scope, present)) return undefined;
    const next = catalogue.movedTo(scope, present);
    if (next === undefined) return present;
    present = next;
  }
  return present;
}

/**
 * Tells of moves until somebody took note: those that wait when a listener comes, also those of an
 * earlier process, and new ones at once. A patch is forgotten under its earlier id only then; until
 * its blob ends it is still read under it.
 */
export class MoveTeller {
  readonly #catalogue: Catalogue;
  readonly #listeners = new Set<BlobMoveListener>();
  readonly #failed: (error: unknown) => void;
  #telling: Promise<void> | undefined;

  /** `failed` hears of listeners that threw; they are told again at the next occasion. */
  constructor(catalogue: Catalogue, failed: (error: unknown) => void) {
    this.#catalogue = catalogue;
    this.#failed = failed;
  }

  /** Tells a listener from now on, beginning with what waits. */
  watch(listener: BlobMoveListener): Disposable {
    // Its own function, so that the same listener may watch twice.
    const own: BlobMoveListener = (moves) => listener(moves);
    this.#listeners.add(own);
    void this.tell();
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** Tells what waits; resolves when nothing is left, nobody listens, or a listener threw. */
  async tell(): Promise<void> {
    this.#telling ??= this.#tellAll().catch((error) => this.#failed(error)).finally(() => {
      this.#telling = undefined;
    });
    await this.#telling;
  }

  async #tellAll(): Promise<void> {
    // Whoever calls has finished what it is doing before a listener is called.
    await Promise.resolve();
    const { database } = this.#catalogue;
    while (this.#listeners.size > 0) {
      const moves = this.#catalogue.untoldMoves(BATCH);
      if (moves.length === 0) return;
      const told = moves.map(({ owner, namespace, from, to }) => ({ owner, namespace, from, to }));
      for (const listener of [...this.#listeners]) await listener(told);
      await database.write(() => {
        for (const { seq, from, ...scope } of moves) {
          this.#catalogue.markTold(seq);
          this.#catalogue.removePatch(scope, from);
        }
      });
    }
  }
}
