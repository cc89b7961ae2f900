import { bcs } from "@mysten/sui/bcs";
import { deriveDynamicFieldID } from "@mysten/sui/utils";

/** BCS of the field of a Blob object that holds its attributes: `vector<u8>` to `Metadata`. */
const AttributesField = bcs.struct("Field", {
  id: bcs.Address,
  name: bcs.byteVector(),
  metadata: bcs.vector(bcs.struct("Entry", { key: bcs.string(), value: bcs.string() })),
});

const ATTRIBUTES_NAME = bcs.byteVector().serialize(new TextEncoder().encode("metadata")).toBytes();

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
