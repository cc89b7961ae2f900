/**
 * Embedding models of the open kind, run in a worker thread in WebAssembly, without a server and
 * without native code: `onnxruntime-web` and `@huggingface/tokenizers`. `svc model get` fetches them.
 *
 * @example Usage
 * ```ts ignore
 * import { onnxEmbedder } from "./mod.ts";
 *
 * await using embedder = await onnxEmbedder({
 *   model: "multilingual-e5-small",
 *   modelDir: "/home/ada/.svc/models",
 * });
 * const [windows] = await embedder.embed(["Was mag ich?"], { purpose: "query" });
 * ```
 *
 * @module
 */
import type { BackendSource } from "../../src/interfaces/plugin.ts";
import { onnxEmbedder, type OnnxOptions } from "./open.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export * from "./open.ts";
export type { OnnxFields } from "./plugin.ts";
export { default } from "./plugin.ts";

/** The embedder for `createRelayer`. */
export function onnx(options: OnnxOptions): BackendSource {
  return { name: "onnx", embedder: () => onnxEmbedder(options) };
}
