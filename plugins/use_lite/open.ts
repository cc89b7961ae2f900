import type { Embedder } from "../../src/interfaces/embedder.ts";
import type { BackendSource } from "../../src/interfaces/plugin.ts";
import { WorkerEmbedder } from "./embedder.ts";
import type { KernelName } from "./engine/matrix_product.ts";

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
