import { Adaptation } from "./adaptation.ts";
import { createKernel, type KernelName } from "./matrix_product.ts";
import { type Scratch, scratchFloats, takeScratch } from "./scratch.ts";
import { type Piece, Tokenizer } from "./tokenizer.ts";
import { Transformer } from "./transformer.ts";
import { HeapRegions } from "./heap_regions.ts";
import { placeWeights } from "./weights.ts";
import { countFloats, type Manifest, readTensors } from "./weights_file.ts";
import { WINDOW_TOKENS } from "./windows.ts";

/** Two windows at a time keep intermediate values in the processor's second-level cache. */
const DOCUMENT_ROWS = 2 * WINDOW_TOKENS;

export interface Model {
  readonly kernel: KernelName;
  /** Text to token ids. */
  readonly tokenizer: Tokenizer;
  /** Token ids to vectors. */
  readonly transformer: Pick<Transformer, "run">;
  /** For queries: one window at a time. */
  readonly queryScratch: Scratch;
  readonly documentScratch: Scratch;
}

interface LoadOptions {
  /** The fastest one the runtime supports by default. */
  readonly kernel?: KernelName | undefined;
  /** Whether the weights are those of the files, without what was learned beyond them. */
  readonly plain?: boolean | undefined;
}

/**
 * Loads the model from a folder with model.json, vocab.json and the weight files.
 *
 * @param folder File URL that ends with a slash.
 */
export async function loadModel(
  folder: string,
  { kernel, plain = false }: LoadOptions = {},
): Promise<Model> {
  const readJson = async (name: string): Promise<unknown> =>
    JSON.parse(await Deno.readTextFile(new URL(name, folder)));
  const [manifest, pieces] = await Promise.all([
    readJson("model.json") as Promise<Manifest>,
    readJson("vocab.json") as Promise<readonly Piece[]>,
  ]);
  const rows = [WINDOW_TOKENS, DOCUMENT_ROWS];
  const floats = rows.reduce((sum, n) => sum + scratchFloats(n), countFloats(manifest));
  const product = createKernel(floats, kernel);
  const regions = new HeapRegions(product.heap.length);
  const documentScratch = takeScratch(regions, DOCUMENT_ROWS);
  const adaptation = plain ? undefined : new Adaptation(product, documentScratch);
  const tensors = readTensors(manifest, folder);
  const weights = await placeWeights(tensors, product, regions, adaptation);
  return {
    kernel: product.name,
    tokenizer: new Tokenizer(pieces),
    transformer: new Transformer(product, weights),
    queryScratch: takeScratch(regions, WINDOW_TOKENS),
    documentScratch,
  };
}
