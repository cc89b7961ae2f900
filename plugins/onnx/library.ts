import { fileURLToPath } from "node:url";
// Importing it is what puts the package into the module graph and the lock file, and makes it
// resolvable below. It computes nothing before it is asked to.
// @ts-types="./library_api.ts"
import "onnxruntime-web/wasm";

/** The engine itself: the build with SIMD, which also runs on one thread. */
export const ENGINE_FILE: URL = new URL(
  "./ort-wasm-simd-threaded.wasm",
  import.meta.resolve("onnxruntime-web/wasm"),
);

/** What the workers share with the program. */
const SHARED = ["deadline.ts", "errors.ts", "storage/sqlite/step_back.ts", "threads.ts"]
  .map((path) => `../../src/${path}`);

/** Paths that the workers read besides the model: the engine, and its own source where it is on disk. */
export function pathsToRead(): string[] {
  const source = ["./", ...SHARED]
    .map((path) => new URL(path, import.meta.url));
  const onDisk = source.filter(({ protocol }) => protocol === "file:");
  return [ENGINE_FILE, ...onDisk].map((url) => fileURLToPath(url).replace(/[/\\]$/, ""));
}
