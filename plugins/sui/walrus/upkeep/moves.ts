import type { BlobMoveListener, Scope } from "../../../../src/interfaces/mod.ts";
import type { Catalogue } from "../catalogue.ts";
import { blobIdOf } from "../quilt/patch_id.ts";

/** Most moves in one call of a listener. */
const BATCH = 256;
/** Most moves that are followed from one id. */
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
 * Deletes a blob under this id and all that it moved to. It is neither read nor listed here again;
 * its bytes stay with the owner until the quilt that holds them was replaced and has ended.
 *
 * @returns whether its bytes are gone, as far as is known here: others may have stored them again.
 */
export async function deleteBlob(
  catalogue: Catalogue,
  scope: Scope,
  id: string,
  { epoch, now }: { readonly epoch: number; readonly now: number },
): Promise<boolean> {
  return await catalogue.database.write(() => {
    let gone = true;
    const ids = new Set<string>();
    for (let next: string | undefined = id; next !== undefined && !ids.has(next);) {
      ids.add(next);
      const blobId = blobIdOf(next);
      // A text that is no id names no bytes.
      if (blobId !== undefined && !isGone(catalogue, blobId, epoch)) {
        gone = false;
        catalogue.addTombstone(scope, next, now);
      }
      catalogue.drop(scope, next);
      next = catalogue.movedTo(scope, next);
    }
    return gone;
  });
}

/**
 * The epoch in which the bytes of a deleted blob have ended, under this id and all that it moved to:
 * a quilt with deleted patches is not stored again as it is.
 *
 * @param isOwn Whether a Blob object is this relayer's; who stored another may store it again.
 * @returns `undefined` where it is not known.
 */
export function endEpochOf(
  catalogue: Catalogue,
  scope: Scope,
  id: string,
  isOwn: (objectId: string) => boolean,
): number | undefined {
  let last: number | undefined;
  const ids = new Set<string>();
  for (let next: string | undefined = id; next !== undefined && !ids.has(next);) {
    ids.add(next);
    const objects = catalogue.objectsOf(blobIdOf(next) ?? "");
    if (objects.length === 0 || !objects.every(({ objectId }) => isOwn(objectId))) return undefined;
    last = Math.max(last ?? 0, ...objects.map(({ endEpoch }) => endEpoch));
    next = catalogue.movedTo(scope, next);
  }
  return last;
}

/**
 * Whether a blob was stored and has ended. A node that does not list its object proves nothing: the
 * space is paid for, and the node may be behind.
 */
function isGone({ database }: Catalogue, blobId: string, epoch: number): boolean {
  const { known, kept } = database.get<{ known: number; kept: number }>(
    `select count(*) as known, count(*) filter (where end_epoch > ?) as kept
     from stored where blob_id = ?`,
    epoch,
    blobId,
  ) ?? { known: 0, kept: 0 };
  return known > 0 && kept === 0;
}

/**
 * Tells listeners of moves until they took note: new ones at once, and those that wait when a
 * listener comes, also from an earlier process. Only then the catalogue forgets a patch under its
 * earlier id; until its blob ends it can still be read under that.
 */
export class MoveTeller {
  readonly #catalogue: Catalogue;
  readonly #listeners = new Set<BlobMoveListener>();
  readonly #failed: (error: unknown) => void;
  #telling: Promise<void> | undefined;

  /** @param failed Told what a listener threw; the listener is told again on the next occasion. */
  constructor(catalogue: Catalogue, failed: (error: unknown) => void) {
    this.#catalogue = catalogue;
    this.#failed = failed;
  }

  /** Tells a listener from now on, beginning with the moves that wait. */
  watch(listener: BlobMoveListener): Disposable {
    // A function of its own, so that the same listener may watch twice.
    const own: BlobMoveListener = (moves) => listener(moves);
    this.#listeners.add(own);
    void this.tell();
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** Tells the moves that wait; resolves when none is left, nobody listens, or a listener threw. */
  async tell(): Promise<void> {
    this.#telling ??= this.#tellAll().catch((error) => this.#failed(error)).finally(() => {
      this.#telling = undefined;
    });
    await this.#telling;
  }

  async #tellAll(): Promise<void> {
    // Lets the caller finish what it is doing before a listener is called.
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
