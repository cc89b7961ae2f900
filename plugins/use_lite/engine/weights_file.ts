/** One tensor of a model, row-major. */
export interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

interface WeightEntry {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
}

/** What is read of a model.json in the TensorFlow.js graph model format. */
export interface Manifest {
  /** Groups of tensors, each stored as the concatenation of its files. */
  readonly weightsManifest: readonly {
    readonly paths: readonly string[];
    readonly weights: readonly WeightEntry[];
  }[];
}

const sizeOf = (entry: WeightEntry) => entry.shape.reduce((product, n) => product * n, 1);

/** Number of float32 values in all tensors, each rounded up to whole cache lines. */
export function countFloats({ weightsManifest }: Manifest): number {
  return weightsManifest.flatMap((group) => group.weights)
    .filter((entry) => entry.dtype === "float32")
    .reduce((sum, entry) => sum + Math.ceil(sizeOf(entry) / 16) * 16, 0);
}

/**
 * The float32 tensors of a model, in file order. All are read into one buffer, so a tensor's values
 * are gone once the next one is asked for.
 *
 * @param folder URL that the manifest's file names are relative to.
 */
export async function* readTensors(
  { weightsManifest }: Manifest,
  folder: string,
): AsyncGenerator<Tensor> {
  const sizes = weightsManifest.flatMap(({ weights }) => weights.map(sizeOf));
  const buffer = new Float32Array(Math.max(0, ...sizes));
  for (const { paths, weights } of weightsManifest) {
    using files = new FileSequence(paths.map((path) => new URL(path, folder)));
    for (const entry of weights) {
      // Every type in these models has 4 bytes.
      const values = buffer.subarray(0, sizeOf(entry));
      await files.fill(new Uint8Array(values.buffer, 0, values.byteLength));
      if (entry.dtype === "float32") yield { name: entry.name, shape: entry.shape, values };
    }
  }
}

/** Several files read as one. */
class FileSequence implements Disposable {
  readonly #left: URL[];
  #file: Deno.FsFile | undefined;

  constructor(files: readonly URL[]) {
    this.#left = [...files];
  }

  /** Reads as many bytes as fit. */
  async fill(target: Uint8Array): Promise<void> {
    for (let filled = 0; filled < target.length;) {
      const count = await this.#file?.read(target.subarray(filled)) ?? null;
      if (count === null) await this.#next();
      else filled += count;
    }
  }

  async #next(): Promise<void> {
    this[Symbol.dispose]();
    const url = this.#left.shift();
    if (url === undefined) throw new Error("The weight files are shorter than the model says");
    this.#file = await Deno.open(url);
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
  }
}
