import { sha256Of } from "../aggregator/aggregators.ts";
import type { Catalogue } from "../catalogue.ts";
import type { ItemRows } from "./item_rows.ts";
import type { Upload } from "./upload.ts";
import type { UploadRows } from "./upload_rows.ts";

/** Most items ended in one write, so that no write blocks the event loop for long. */
const CHUNK = 100;

/** Bytes after which one write releases no further item. */
const RELEASED_BYTES = 131_072;

/** The tables that the end of an upload changes. */
export interface Completion {
  readonly catalogue: Catalogue;
  readonly items: ItemRows;
  readonly uploads: UploadRows;
}

/**
 * Ends an upload whose blob is certified and its owner's: its items get their ids, its patches and
 * Blob object get into the catalogue, its tombstones count as told. May be repeated.
 *
 * @returns the ids by the items' numbers.
 */
export async function complete(
  { catalogue, items, uploads }: Completion,
  upload: Upload,
  now: number,
): Promise<ReadonlyMap<number, string>> {
  const { seq, owner, namespace, quilt, createdAt, tombstones } = upload;
  const { database } = catalogue;
  const { blobId, size, patches } = upload.encoded!;
  const places = new Map(patches.map(({ identifier, id }) => [identifier, id]));
  for (;;) {
    const ended = await database.write(() => {
      const open = items.openIn(seq, CHUNK);
      for (const item of open) {
        const id = quilt ? places.get(item.identifier)! : blobId;
        const identifier = quilt ? item.identifier : "";
        items.end(item.seq, id);
        catalogue.removeTombstone(upload, id);
        catalogue.addPatch(upload, blobId, { id, identifier, size: item.size }, now);
      }
      return open.length;
    });
    if (ended < CHUNK) break;
  }
  await database.write(() => {
    const [objectId, endEpoch] = [upload.objectId!, upload.endEpoch!];
    const stored = { owner, namespace, objectId, blobId, holder: owner, quilt, size, endEpoch };
    catalogue.addStored({ ...stored, createdAt });
    for (const id of tombstones) catalogue.setTombstoneQuilt(upload, id, blobId);
    uploads.end(seq);
  });
  return new Map(items.idsIn(seq).map((item) => [item.seq, item.id!]));
}

/**
 * Moves the bytes of some stored items to those that are kept for a time.
 *
 * @returns whether there may be more.
 */
export async function releaseBytes(
  { catalogue, items }: Completion,
  keepMs: number,
  now: number,
): Promise<boolean> {
  return await catalogue.database.write(() => {
    let left = RELEASED_BYTES;
    for (let n = 0; n < CHUNK / 4 && left > 0; n++) {
      const item = items.unreleased();
      if (item === undefined) return false;
      const { seq, id, bytes } = item;
      left -= bytes.length;
      const keeps = keepMs > 0 && !catalogue.isDeleted(item, id);
      if (keeps) catalogue.keep(item, id, bytes, now + keepMs);
      catalogue.noteDigest(id, sha256Of(bytes));
      items.release(seq);
    }
    return true;
  });
}
