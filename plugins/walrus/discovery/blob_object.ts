import { bcs } from "@mysten/sui/bcs";
import { deriveDynamicFieldID } from "@mysten/sui/utils";

/** BCS of `walrus::blob::Blob`. */
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

/** BCS of the field of a Blob object that holds its attributes: `vector<u8>` to `Metadata`. */
const AttributesField = bcs.struct("Field", {
  id: bcs.Address,
  name: bcs.byteVector(),
  metadata: bcs.vector(bcs.struct("Entry", { key: bcs.string(), value: bcs.string() })),
});

const ATTRIBUTES_NAME = bcs.byteVector().serialize(new TextEncoder().encode("metadata")).toBytes();

/** A Blob object as far as it matters here. */
export interface ChainBlob {
  /** Walrus blob id, 43 characters of base64url. */
  readonly blobId: string;
  /** Unencoded size in bytes. */
  readonly size: number;
  /** Whether Walrus confirmed that it is stored. */
  readonly certified: boolean;
  /** First Walrus epoch in which it is no longer stored. */
  readonly endEpoch: number;
}

/** A Blob object from its BCS; `undefined` when it is none. */
export function parseBlob(content: Uint8Array): ChainBlob | undefined {
  try {
    const { blob_id, size, certified_epoch, storage } = BlobObject.parse(content);
    const bytes = bcs.u256().serialize(blob_id).toBytes();
    return {
      blobId: bytes.toBase64({ alphabet: "base64url", omitPadding: true }),
      size: Number(size),
      certified: certified_epoch !== null,
      endEpoch: storage.end_epoch,
    };
  } catch {
    return undefined;
  }
}

/** Id of the field of a Blob object that holds its attributes. */
export function attributesFieldId(objectId: string): string {
  return deriveDynamicFieldID(objectId, "vector<u8>", ATTRIBUTES_NAME);
}

/** Attributes from the BCS of their field; `undefined` when it is none. */
export function parseAttributes(content: Uint8Array): ReadonlyMap<string, string> | undefined {
  try {
    const { metadata } = AttributesField.parse(content);
    return new Map(metadata.map(({ key, value }) => [key, value]));
  } catch {
    return undefined;
  }
}
