import type { Adaptation } from "./adaptation.ts";
import type { HeapRegions } from "./heap_regions.ts";
import type { Kernel } from "./matrix_product.ts";
import type { Tensor } from "./weights_file.ts";

/** A linear layer in the kernel's heap, packed as `Product.b` wants it. */
export interface Linear {
  /** Offset of the packed matrix. */
  readonly matrix: number;
  readonly bias: number;
  /** Rows of the matrix. */
  readonly inputs: number;
  /** Columns of the matrix, a multiple of 8. */
  readonly outputs: number;
}

export interface Norm {
  /** One factor an element. */
  readonly scale: Float32Array;
  /** One summand an element. */
  readonly bias: Float32Array;
}

export interface Layer {
  /** Queries, keys and values in one, input width x 3 input width. */
  readonly attention: Linear;
  /** Projection of the attended values to 512. */
  readonly projection: Linear;
  readonly attentionNorm: Norm;
  /** First half of the feed-forward net, 512 x 1536. */
  readonly expand: Linear;
  /** Second half of the feed-forward net, 1536 x 512. */
  readonly contract: Linear;
  readonly forwardNorm: Norm;
}

export interface Weights {
  /** Offset of the token embeddings, 8002 x 256. */
  readonly embeddings: number;
  /** Angular step of each of the 128 position waves. */
  readonly frequencies: Float32Array;
  /** The two layers, 256 and 512 wide. */
  readonly layers: readonly [Layer, Layer];
  /** Residual path around the first layer's attention, 256 x 512. */
  readonly widen: Linear;
  /** Last layer, 512 x 512. */
  readonly output: Linear;
}

const FOLDED = "module_apply_default/Encoder_en/KonaTransformer/Encode/";
const RAW = "module/Encoder_en/KonaTransformer/Encode/";
const LAST = "module/Encoder_en/hidden_layers/tanh_layer_0/";
const CONCAT = "/ConcatPartitions/concat";
const EMBEDDINGS = "module/Embeddings_en";

/** Tensors by name: matrices in the kernel's heap, vectors beside it. */
interface Placed {
  readonly matrices: ReadonlyMap<string, Omit<Linear, "bias">>;
  readonly vectors: ReadonlyMap<string, Float32Array>;
  readonly embeddings: number | undefined;
}

/** Moves tensors into the kernel's heap, one at a time, so that only one is held twice. */
async function placed(
  tensors: AsyncIterable<Tensor>,
  kernel: Kernel,
  regions: HeapRegions,
  adaptation: Adaptation | undefined,
): Promise<Placed> {
  const matrices = new Map<string, Omit<Linear, "bias">>();
  const vectors = new Map<string, Float32Array>();
  let embeddings: number | undefined;
  for await (const tensor of tensors) {
    adaptation?.apply(tensor);
    const { name, shape, values } = tensor;
    const inputs = shape.at(-2) ?? 1;
    const outputs = shape.at(-1) ?? 1;
    if (name === EMBEDDINGS) {
      embeddings = regions.take(values.length);
      kernel.heap.set(values, embeddings);
    } else if (inputs > 1) {
      const matrix = regions.take(values.length);
      pack(values, inputs, outputs, kernel.heap.subarray(matrix));
      matrices.set(name, { matrix, inputs, outputs });
    } else vectors.set(name, values.slice());
  }
  return { matrices, vectors, embeddings };
}

/**
 * Moves the tensors into the kernel's heap.
 *
 * @param adaptation What is added to them before.
 */
export async function placeWeights(
  tensors: AsyncIterable<Tensor>,
  kernel: Kernel,
  regions: HeapRegions,
  adaptation?: Adaptation,
): Promise<Weights> {
  const { matrices, vectors, embeddings } = await placed(tensors, kernel, regions, adaptation);
  const vector = (name: string) => need(vectors.get(name), name);
  const linear = (matrix: string, biasName: string): Linear => {
    const bias = regions.take(vector(biasName).length);
    kernel.heap.set(vector(biasName), bias);
    return { ...need(matrices.get(matrix), matrix), bias };
  };
  const norm = (prefix: string): Norm => {
    const path = `${prefix}layer_prepostprocess/layer_norm/layer_norm_`;
    return { scale: vector(`${path}scale${CONCAT}`), bias: vector(`${path}bias${CONCAT}`) };
  };
  const layer = (index: 0 | 1): Layer => {
    const path = `Layer_${index}/TransformerLayer/`;
    const attention = (part: string) =>
      linear(
        `${RAW}${path}MultiheadAttention/${part}/kernel/part_0`,
        `${FOLDED}${path}MultiheadAttention/${part}/bias${CONCAT}`,
      );
    const forward = (part: string) =>
      linear(
        `${FOLDED}TransformerStack/${path}FFN/${part}/Tensordot/Reshape_1`,
        `${FOLDED}${path}FFN/${part}/bias${CONCAT}`,
      );
    return {
      attention: attention("qkv_transform_single"),
      projection: attention("output_transform_single"),
      attentionNorm: norm(FOLDED + path),
      expand: forward("conv1"),
      contract: forward("conv2"),
      forwardNorm: norm(`${FOLDED}${path}FFN/`),
    };
  };
  const dense = `${FOLDED}Layer_0/TransformerLayer/dense/`;
  return {
    embeddings: need(embeddings, EMBEDDINGS),
    frequencies: vector(
      `${FOLDED}TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`,
    ),
    layers: [layer(0), layer(1)],
    widen: linear(`${dense}kernel${CONCAT}`, `${dense}bias${CONCAT}`),
    output: linear(`${LAST}weights`, `${LAST}bias`),
  };
}

function need<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`The weights lack ${name}`);
  return value;
}

/** Row-major to panels of 8 columns. */
function pack(from: Float32Array, rows: number, columns: number, to: Float32Array): void {
  let next = 0;
  for (let panel = 0; panel < columns; panel += 8) {
    for (let row = 0; row < rows; row++) {
      const start = row * columns + panel;
      for (let i = start; i < start + 8; i++) to[next++] = from[i]!;
    }
  }
}
