import { bcs } from "@mysten/sui/bcs";
import { Abort } from "../sui/failure.ts";
import type { Tx } from "../sui/tx.ts";
import { objectId, parsePure, type Value } from "../sui/value.ts";
import { Metadata } from "./layouts.ts";
import type { WalrusSystem } from "./system.ts";

const NAME_TYPE = "vector<u8>";
const NAME = bcs.string().serialize("metadata").toBytes();
const MISSING = 0;
const DUPLICATE = 1;

/** The attributes of a blob: names and values in the order of insertion. */
export type Attributes = Map<string, string>;

function read(tx: Tx, blob: string): Attributes | undefined {
  const bytes = tx.getField(blob, NAME_TYPE, NAME);
  if (bytes === undefined) return undefined;
  return new Map(Metadata.parse(bytes).metadata.map(({ key, value }) => [key, value]));
}

/** Attributes of a blob object; undefined when it has none. */
export function readAttributes(system: WalrusSystem, blob: string): Attributes | undefined {
  return read(system.chain.begin(blob, "read"), blob);
}

/** Sets all attributes of a blob object. */
export function writeAttributes(
  system: WalrusSystem,
  tx: Tx,
  blob: string,
  attributes: Attributes,
): void {
  const entries = [...attributes].map(([key, value]) => ({ key, value }));
  const valueType = system.type("metadata::Metadata");
  const info = { parent: blob, nameType: NAME_TYPE, name: NAME, valueType };
  tx.setField(info, Metadata.serialize({ metadata: entries }).toBytes());
}

/** Makes the functions of the metadata module, and those of blobs with metadata, callable. */
export function installAttributes(system: WalrusSystem): void {
  const { chain, packageId } = system;
  const metadataType = system.type("metadata::Metadata");
  const blobType = system.type("blob::Blob");
  const write = (tx: Tx, blob: string, attributes: Attributes) =>
    writeAttributes(system, tx, blob, attributes);
  const abort = (code: number, name: string): never => {
    throw new Abort(code, `${packageId}::blob::${name}`);
  };
  const text = (value: Value | undefined) => parsePure(bcs.string(), value);
  const blobMut = `&mut ${blobType}`;
  const string = "0x1::string::String";

  chain.fn(`${packageId}::metadata::new`, () => [
    { kind: "data", type: metadataType, data: [] },
  ], { parameters: [], returns: [metadataType] });

  chain.fn(`${packageId}::blob::add_metadata`, (tx, [blob]) => {
    const id = objectId(blob);
    if (read(tx, id) !== undefined) abort(DUPLICATE, "add_metadata");
    write(tx, id, new Map());
  }, { parameters: [blobMut, metadataType] });

  chain.fn(`${packageId}::blob::insert_or_update_metadata_pair`, (tx, [blob, key, value]) => {
    const id = objectId(blob);
    write(tx, id, (read(tx, id) ?? new Map<string, string>()).set(text(key), text(value)));
  }, { parameters: [blobMut, string, string] });

  chain.fn(`${packageId}::blob::remove_metadata_pair`, (tx, [blob, key]) => {
    const id = objectId(blob);
    const attributes = read(tx, id) ?? abort(MISSING, "remove_metadata_pair");
    if (!attributes.delete(text(key))) abort(MISSING, "remove_metadata_pair");
    write(tx, id, attributes);
  }, { parameters: [blobMut, string] });
}
