import { SvcError } from "../../../src/errors.ts";
import { type Manifest, MODEL_NAME, parseManifest } from "./description.ts";
import { BrokenModel } from "./files.ts";
import { isAsKnown } from "./known.ts";

/** File beside a model that says what it is, and how its files were when they were fetched. */
export const MANIFEST_FILE = "svc-model.json";

/**
 * Folder of a model.
 *
 * @throws {SvcError} `invalid_parameter` for a name that is none: it is part of a path.
 */
export function folderOf(modelDir: string, name: string): string {
  if (MODEL_NAME.test(name)) return `${modelDir}/${name}`;
  throw new SvcError("invalid_parameter", "That is no name of a model");
}

/**
 * What is said of a model in its folder.
 *
 * @returns `undefined` where no model was fetched.
 * @throws {SvcError} `storage_unavailable` when it was altered, or belongs to another model.
 */
export async function readManifest(modelDir: string, name: string): Promise<Manifest | undefined> {
  const path = `${folderOf(modelDir, name)}/${MANIFEST_FILE}`;
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  let manifest: Manifest;
  try {
    manifest = parseManifest(text, `${name}/${MANIFEST_FILE}`);
  } catch (error) {
    throw new BrokenModel(SvcError.from(error).message);
  }
  if (manifest.name !== name) throw new BrokenModel(`${name} holds ${manifest.name}`);
  if (!isAsKnown(manifest)) {
    throw new BrokenModel(`${name}: ${MANIFEST_FILE} names other files than those of the model`);
  }
  return manifest;
}

/** Names of the folders that may hold a model, in order. */
export async function modelNames(modelDir: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(modelDir)) {
      if (isDirectory && MODEL_NAME.test(name)) names.push(name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names.sort();
}
