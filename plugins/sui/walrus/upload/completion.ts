import { createHash } from "node:crypto";
import type { Catalogue } from "../catalogue.ts";
import type { ItemRows } from "./rows/item_rows.ts";
import type { Upload } from "./upload.ts";
import type { UploadRows } from "./rows/upload_rows.ts";

/** Items ended in one write, so that no write blocks the event loop for long. */
const CHUNK = 100;

/** Bytes handed over in one write, begun ones whole. */
const RELEASED_BYTES = 131_072;

/** What completing needs. */
export interface Completion {
  /** The shared tables. */
  readonly catalogue: Catalogue;
  /** Items. */
  readonly items: ItemRows;
  /** Uploads. */
  readonly uploads: UploadRows;
}

/**
 * Ends an upload whose blob is certified and its owner's: its items have their ids, its patches are
 * listed, its tombstones told. Answers the ids by the items' numbers. May be repeated.
 */
export async function complete(
  { catalogue, items, uploads }: Completion,
  upload: Upload,
  now: number,
): Promise<ReadonlyMap<number, string>> {
  const { seq, quilt, createdAt, tombstones } = upload;
  const { database } = catalogue;
  const { blobId, size, patches } = upload.encoded!;
  const places = new Map(patches.map(({ identifier, id }) => [identifier, id]));
  for (;;) {
    const ended = await database.write(() => {
      const open = items.openIn(seq, CHUNK);
      for (const item of open) {
        const id = quilt ? places.get(item.identifier)! : blobId;
        const identifier = quilt ? item.identifier : "";
        items.end(item.seq, { id });
        catalogue.removeTombstone(upload, id);
        catalogue.addPatch(upload, blobId, { id, identifier, size: item.size }, now);
      }
      return open.length;
    });
    if (ended < CHUNK) break;
  }
  await database.write(() => {
    catalogue.addStored({
      owner: upload.owner,
      namespace: upload.namespace,
      objectId: upload.objectId!,
      blobId,
      holder: upload.owner,
      quilt,
      size,
      endEpoch: upload.endEpoch!,
      createdAt,
    });
    for (const id of tombstones) catalogue.setTombstoneQuilt(upload, id, blobId);
    uploads.end(seq);
  });
  return new Map(items.idsIn(seq).map((item) => [item.seq, item.id!]));
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

/** Hands bytes of stored items over to those kept, some at a time; answers whether more are left. */
export async function releaseBytes(
  { catalogue, items }: Completion,
  keepMs: number,
  now: number,
): Promise<boolean> {
  return await catalogue.database.write(() => {
    let left = RELEASED_BYTES;
    for (let n = 0; n < CHUNK / 4 && left > 0; n++) {
      const [item] = items.unreleased(1);
      if (item === undefined) return false;
      const { seq, id, scope, bytes } = item;
      left -= bytes.length;
      const keeps = keepMs > 0 && !catalogue.isDeleted(scope, id);
      if (keeps) catalogue.keep(scope, id, bytes, now + keepMs);
      catalogue.database.run("insert or ignore into digest values(?, ?)", id, sha256(bytes));
      items.release(seq);
    }
    return true;
  });
}
