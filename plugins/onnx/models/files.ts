import { createHash } from "node:crypto";
import { SvcError } from "../../../src/errors.ts";
import type { Manifest, ModelFile } from "./description.ts";

/** Bytes read at once. */
const PART = 1024 * 1024;

/** A file of a model is not what it was when it was fetched; waiting does not mend it. */
export class BrokenModel extends SvcError {
  /** The message names the file. */
  constructor(message: string) {
    super("storage_unavailable", message, { retryable: false });
  }
}

function altered(name: string, { path }: Pick<ModelFile, "path">): BrokenModel {
  return new BrokenModel(`${name}: ${path} is not what was fetched: its checksum differs`);
}

/**
 * The bytes of a file, if they are those that were fetched.
 *
 * @param folder Folder of the model.
 * @throws {SvcError} `storage_unavailable` when the file is missing or altered.
 */
export async function readFile(
  folder: string,
  { name, files }: Manifest,
  path: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const file = files.find((each) => each.path === path);
  if (file === undefined) throw new BrokenModel(`${name}: ${path} is none of its files`);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const { size } = await Deno.stat(`${folder}/${path}`);
    // A file that grew is not read into memory first.
    if (size !== file.bytes) throw altered(name, file);
    bytes = await Deno.readFile(`${folder}/${path}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new BrokenModel(`${name}: ${path} is missing`);
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  // What is hashed is what is used: the file may change between two reads.
  if (digest !== file.sha256) throw altered(name, file);
  return bytes;
}

/**
 * Hashes a file without holding it in memory.
 *
 * @param hash Takes the bytes.
 * @returns how many they are; none where there is no file.
 */
export async function hashFile(
  path: string,
  hash: { update(bytes: Uint8Array): unknown },
): Promise<number> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
  using opened = file;
  const part = new Uint8Array(PART);
  let bytes = 0;
  for (;;) {
    const read = await opened.read(part);
    if (read === null) return bytes;
    hash.update(part.subarray(0, read));
    bytes += read;
  }
}

/** What became of a file since it was fetched. */
export type FileState = "ok" | "missing" | "altered";

/** Compares a file of a model with what was fetched. */
export async function fileState(
  folder: string,
  { path, bytes, sha256 }: Required<ModelFile>,
): Promise<FileState> {
  const size = await Deno.stat(`${folder}/${path}`).then((found) => found.size, () => undefined);
  if (size === undefined) return "missing";
  if (size !== bytes) return "altered";
  const hash = createHash("sha256");
  await hashFile(`${folder}/${path}`, hash);
  return hash.digest("hex") === sha256 ? "ok" : "altered";
}
