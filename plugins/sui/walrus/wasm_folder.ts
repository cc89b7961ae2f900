import { fileURLToPath } from "node:url";
// Loading it is what puts it into the module graph, and makes it resolvable below.
import "@mysten/walrus-wasm";

/** Folder of Walrus' encoder, whose code is read when it is imported. */
export function wasmFolder(): string {
  const folder = new URL("./", import.meta.resolve("@mysten/walrus-wasm"));
  return fileURLToPath(folder).replace(/[/\\]$/, "");
}
