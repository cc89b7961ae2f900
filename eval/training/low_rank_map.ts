/** Vectors of queries and of the facts that answer them, row by row, and their topics. */
export interface TrainingSet {
  /** Unit vectors. */
  readonly queries: readonly Float32Array[];
  /** Unit vectors. */
  readonly facts: readonly Float32Array[];
  /** Positions of the pairs of every topic. */
  readonly topics: readonly (readonly number[])[];
}

/** The map x → x + B Aᵀ x, of rank `rank`. */
export interface LowRankMap {
  /** `rank` rows of the vectors' length. */
  readonly down: readonly Float32Array[];
  /** `rank` rows of the vectors' length. */
  readonly up: readonly Float32Array[];
}

/** How to train. */
export interface TrainingOptions {
  /** Rank of the map. */
  readonly rank: number;
  /** Steps of one pair a topic each. */
  readonly steps: number;
  /** Factor of the cosines in the softmax. */
  readonly sharpness: number;
  /** Pulls the map towards the identity. */
  readonly decay: number;
  /** Learning rate; it falls to nearly nothing over the second half. */
  readonly rate: number;
  /** Uniform numbers, 0 to 1. */
  readonly random: () => number;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Adds a multiple of a vector to another. */
function addTo(target: Float32Array, vector: Float32Array, factor: number): void {
  for (let i = 0; i < target.length; i++) target[i]! += factor * vector[i]!;
}

/** Adam (Kingma and Ba, 2015) with its usual constants. */
class Adam {
  readonly #mean: Float32Array;
  readonly #square: Float32Array;
  readonly #values: Float32Array;
  #step = 0;

  constructor(values: Float32Array) {
    this.#values = values;
    this.#mean = new Float32Array(values.length);
    this.#square = new Float32Array(values.length);
  }

  step(gradient: Float32Array, rate: number): void {
    this.#step++;
    const unbiasMean = 1 - 0.9 ** this.#step;
    const unbiasSquare = 1 - 0.999 ** this.#step;
    for (let i = 0; i < gradient.length; i++) {
      const g = gradient[i]!;
      const mean = this.#mean[i] = 0.9 * this.#mean[i]! + 0.1 * g;
      const square = this.#square[i] = 0.999 * this.#square[i]! + 0.001 * g * g;
      this.#values[i]! -= rate * (mean / unbiasMean) / (Math.sqrt(square / unbiasSquare) + 1e-8);
    }
  }
}

/**
 * Learns a map of query vectors under which a query is closer to its own fact than to the facts of
 * the other topics: softmax over the facts of a batch ("InfoNCE", van den Oord et al., 2018).
 */
export function trainMap(set: TrainingSet, options: TrainingOptions): LowRankMap {
  const { rank, steps, sharpness, decay, random } = options;
  const dimensions = set.queries[0]!.length;
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(6.283185307 * random());
  const down = Array.from(
    { length: rank },
    () => Float32Array.from({ length: dimensions }, () => 0.03 * normal()),
  );
  const up = Array.from({ length: rank }, () => new Float32Array(dimensions));
  const optimizers = [...down, ...up].map((row) => new Adam(row));
  for (let step = 1; step <= steps; step++) {
    const batch = set.topics.map((pairs) => pairs[Math.floor(random() * pairs.length)]!);
    const downGradient = down.map((row) => row.map((value) => decay * value));
    const upGradient = up.map((row) => row.map((value) => decay * value));
    for (const [own, pair] of batch.entries()) {
      const query = set.queries[pair]!;
      const inner = down.map((row) => dot(row, query));
      const mapped = query.slice();
      inner.forEach((value, r) => addTo(mapped, up[r]!, value));
      const length = Math.sqrt(dot(mapped, mapped));
      const weights = batch.map((other) => sharpness * dot(mapped, set.facts[other]!) / length);
      const largest = Math.max(...weights);
      const sum = weights.reduce((total, value) => total + Math.exp(value - largest), 0);
      // Gradient of the loss with respect to the mapped vector of unit length, then before scaling.
      const gradient = new Float32Array(dimensions);
      for (const [i, other] of batch.entries()) {
        const error = Math.exp(weights[i]! - largest) / sum - Number(i === own);
        addTo(gradient, set.facts[other]!, sharpness * error / batch.length);
      }
      addTo(gradient, mapped, -dot(gradient, mapped) / (length * length));
      for (let r = 0; r < rank; r++) {
        addTo(upGradient[r]!, gradient, inner[r]! / length);
        addTo(downGradient[r]!, query, dot(up[r]!, gradient) / length);
      }
    }
    const rate = options.rate * Math.min(1, 2 * (steps - step) / steps + 0.02);
    [...downGradient, ...upGradient].forEach((g, i) => optimizers[i]!.step(g, rate));
  }
  return { down, up };
}
