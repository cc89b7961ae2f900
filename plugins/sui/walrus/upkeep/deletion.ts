import type { Scope } from "../../../../src/interfaces/mod.ts";
import type { Catalogue } from "../catalogue.ts";
import { isBlobId, patchPlace } from "../quilt/patch_id.ts";

/**
 * Deletes a blob under every id it has had from this one on. It is neither read nor listed here
 * again; its bytes stay where they are, with the owner, until a quilt without it has replaced its
 * own and that has ended.
 *
 * @returns whether its bytes are gone as far as is known here: others may have stored them again.
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
      if (blobId !== undefined && !isGone(catalogue, blobId, epoch)) {
        gone = false;
        catalogue.addTombstone(scope, next, now);
      }
      catalogue.drop(scope, next);
      catalogue.database.run("delete from digest where id = ?", next);
      next = catalogue.movedTo(scope, next);
    }
    return gone;
  });
}

/**
 * Whether a blob was stored and has ended. That a node no longer lists its object proves nothing:
 * the space is paid for, and the node may be behind.
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
