import type { Scope } from "../../../src/interfaces/mod.ts";
import type { Catalogue } from "../catalogue.ts";
import { isBlobId, patchPlace } from "../quilt/patch_id.ts";

/**
 * Deletes a blob under every id it has had from this one on. It is neither read nor listed here
 * again; its bytes stay where they are, with the owner, until a quilt without it has replaced its
 * own and that has ended.
 *
 * @returns whether its bytes are gone: nothing that may still be stored holds them.
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
      const blobId = patchPlace(next)?.quiltId ?? (isBlobId(next) ? next : undefined);
      // What was never an id here has no bytes anywhere.
      if (blobId !== undefined) {
        catalogue.addTombstone(scope, next, now);
        catalogue.drop(scope, next);
        catalogue.database.run("delete from digest where id = ?", next);
        if (catalogue.patch(scope, next) !== undefined) {
          const ends = catalogue.database.get<{ ends: number | null }>(
            "select max(end_epoch) as ends from stored where blob_id = ?",
            blobId,
          )?.ends;
          if ((ends ?? Infinity) > epoch) gone = false;
        } else gone = false;
      }
      next = catalogue.movedTo(scope, next);
    }
    return gone;
  });
}
