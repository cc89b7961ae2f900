import { bcs } from "@mysten/sui/bcs";
import { blobIdFromInt } from "@mysten/walrus";

/** BCS of `walrus::blob::Blob` (walrus contracts, blob.move and storage_resource.move). */
const BlobObject = bcs.struct("Blob", {
  id: bcs.Address,
  registered_epoch: bcs.u32(),
  blob_id: bcs.u256(),
  size: bcs.u64(),
  encoding_type: bcs.u8(),
  certified_epoch: bcs.option(bcs.u32()),
  storage: bcs.struct("Storage", {
    id: bcs.Address,
    start_epoch: bcs.u32(),
    end_epoch: bcs.u32(),
    storage_size: bcs.u64(),
  }),
  deletable: bcs.bool(),
});

/** A Blob object as the chain has it. */
export interface ChainBlob {
  /** `0x` and 64 hex characters. */
  readonly objectId: string;
  /** Walrus blob id, 43 characters of base64url. */
  readonly blobId: string;
  /** Unencoded size in bytes. */
  readonly size: number;
  /** Absent until it is certified. */
  readonly certifiedEpoch?: number;
  /** First Walrus epoch in which it is no longer stored. */
  readonly endEpoch: number;
}

/** Parses the BCS of a Blob object's content. */
export function parseBlobObject(content: Uint8Array): ChainBlob {
  const parsed = BlobObject.parse(content);
  return {
    objectId: parsed.id,
    blobId: blobIdFromInt(parsed.blob_id),
    size: Number(parsed.size),
    ...(parsed.certified_epoch === null ? {} : { certifiedEpoch: parsed.certified_epoch }),
    endEpoch: parsed.storage.end_epoch,
  };
}
