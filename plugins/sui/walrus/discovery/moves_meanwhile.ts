import type { Scope } from "../../../../src/interfaces/mod.ts";
import type { Catalogue, PlacedPatch } from "../catalogue.ts";
import { patchPlace } from "../quilt/patch_id.ts";
import { columnsOf } from "../../../../src/storage/sqlite/database.ts";

interface MoveRow {
  readonly seq: number;
  readonly from: string;
  readonly to: string;
}

/**
 * The moves while a scope is listed, newest quilt first. A patch that leaves its quilt before this
 * is reached goes into one that is newer than what was listed already: it would be in neither.
 */
export class MovesMeanwhile {
  readonly #catalogue: Catalogue;
  readonly #scope: Scope;
  /** Number of the last move that was looked at. */
  #seen: number;
  /** Quilts that were listed, each with the number of the last move before that. */
  readonly #quilts = new Map<string, number>();
  /** Ids of patches that moved and were listed, under these or earlier ones. */
  readonly #listed = new Set<string>();

  /** Sees the moves from now on. */
  constructor(catalogue: Catalogue, scope: Scope) {
    this.#catalogue = catalogue;
    this.#scope = scope;
    this.#seen = this.#last();
  }

  /** Notes that the patches are listed which a quilt has at this moment. */
  noteListed(quiltId: string): void {
    this.#quilts.set(quiltId, this.#last());
  }

  /** Patches that moved and were not listed; they are, once they are answered. */
  missed(): PlacedPatch[] {
    const moves = this.#catalogue.database.all<MoveRow>(
      // The signs keep the query off the index of scopes, which has every move of this one.
      `select seq, from_id as "from", to_id as "to" from move
       where seq > ? and +owner = ? and +namespace = ? order by seq`,
      this.#seen,
      ...columnsOf(this.#scope),
    );
    const missed = new Map<string, PlacedPatch>();
    for (const { seq, from, to } of moves) {
      this.#seen = seq;
      missed.delete(from);
      if (this.#listed.has(from) || this.#listedAt(from) < seq) this.#listed.add(to);
      else if (this.#listedAt(to) === Infinity) {
        const patch = this.#catalogue.patch(this.#scope, to);
        if (patch !== undefined) missed.set(to, patch);
      }
    }
    for (const id of missed.keys()) this.#listed.add(id);
    return [...missed.values()];
  }

  /** Number of the last move before a patch's quilt was listed; infinite when it was not. */
  #listedAt(id: string): number {
    return this.#quilts.get(patchPlace(id)?.quiltId ?? id) ?? Infinity;
  }

  #last(): number {
    const sql = "select max(seq) as seq from move";
    return this.#catalogue.database.get<{ seq: number | null }>(sql)?.seq ?? 0;
  }
}
