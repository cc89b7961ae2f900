import { SvcError } from "../../src/errors.ts";
import type { Embedder } from "../../src/interfaces/embedder.ts";
import { OnnxEmbedder, WINDOW_TOKENS } from "./embedder.ts";
import type { Manifest } from "./models/description.ts";
import { folderOf, readManifest } from "./models/folder.ts";
import { knownModel } from "./models/known.ts";
import { estimatedTokens } from "../shared/models/text_windows.ts";

/** Options of {@linkcode onnxEmbedder}. */
export interface OnnxOptions {
  /** Name of the model: its folder below `modelDir`. */
  readonly model: string;
  /** Folder of models, as `svc model get` makes it. */
  readonly modelDir: string;
  /** Length of the vectors, where the model may be cut to it; the model's own by default. */
  readonly dimensions?: number | undefined;
}

function invalid(message: string): SvcError {
  return new SvcError("invalid_parameter", `onnx: ${message}`);
}

function missing(model: string, modelDir: string): SvcError {
  const known = knownModel(model) === undefined
    ? "svc model list shows the models there are"
    : `run "svc model get ${model}"`;
  return invalid(`there is no ${model} in ${modelDir}: ${known}`);
}

function lengthOf({ name, dimensions, shorter = [] }: Manifest, wanted = dimensions): number {
  const lengths = [dimensions, ...shorter];
  if (lengths.includes(wanted)) return wanted;
  const others = shorter.length === 0 ? "" : `, or of ${shorter.join(", ")} by cutting them`;
  throw invalid(`${name} has vectors of ${dimensions} numbers${others}, not of ${wanted}`);
}

/**
 * Opens an embedder on a model that was fetched, and embeds a word with it: what is wrong with its
 * files is said here.
 *
 * @throws {SvcError} `invalid_parameter` when there is no such model, it cannot be cut to that
 * length, or it is none that can be run here; `storage_unavailable`, not retryable, when its files
 * are not those that were fetched.
 */
export async function onnxEmbedder(options: OnnxOptions): Promise<Embedder> {
  const { model, modelDir } = options;
  const folder = folderOf(modelDir, model);
  const manifest = await readManifest(modelDir, model);
  if (manifest === undefined) throw missing(model, modelDir);
  const dimensions = lengthOf(manifest, options.dimensions);
  const prefix = Math.max(estimatedTokens(manifest.document), estimatedTokens(manifest.query));
  const window = Math.max(8, Math.min(WINDOW_TOKENS, manifest.maxTokens - prefix - 2));
  const embedder = new OnnxEmbedder({
    folder,
    manifest,
    dimensions,
    window,
    tokens: Math.min(manifest.maxTokens, window + prefix + 2),
  });
  try {
    await embedder.embed(["x"], { purpose: "query" });
  } catch (error) {
    await embedder[Symbol.asyncDispose]();
    const { status, reason } = embedder.health?.() ?? {};
    if (status !== "down" || reason === undefined) throw error;
    throw new SvcError("storage_unavailable", `onnx: ${reason}`, { retryable: false });
  }
  return embedder;
}
