/** One observation: its features, whether it was so, and how often it counts. */
export interface Observation {
  /** Of the same length in all of them. */
  readonly features: readonly number[];
  /** What is predicted. */
  readonly isTrue: boolean;
  /** More than 0. */
  readonly weight: number;
}

const STEPS = 50;
/** Ridge on the weights, not on the constant: keeps the equations solvable. */
const RIDGE = 1;

/**
 * Weights of a logistic regression with a ridge, by Newton's method (Hastie, Tibshirani and
 * Friedman, 2009, section 4.4.1); the constant first. Features that never differ weigh nothing.
 */
export function fitLogistic(observations: readonly Observation[]): number[] {
  const { means, scales } = standard(observations);
  const rows = observations.map(({ features }) => [
    1,
    ...features.map((value, i) => (value - means[i]!) / scales[i]!),
  ]);
  const size = means.length + 1;
  let weights = new Array<number>(size).fill(0);
  for (let step = 0; step < STEPS; step++) {
    const gradient = weights.map((weight, i) => i === 0 ? 0 : -RIDGE * weight);
    const curvature = weights.map((_, i) =>
      weights.map((_, j) => i === j ? (i === 0 ? 1e-6 : RIDGE) : 0)
    );
    rows.forEach((row, n) => {
      const { isTrue, weight } = observations[n]!;
      const p = 1 / (1 + Math.exp(-row.reduce((sum, value, i) => sum + value * weights[i]!, 0)));
      for (let i = 0; i < size; i++) {
        gradient[i]! += weight * (Number(isTrue) - p) * row[i]!;
        for (let j = 0; j < size; j++) {
          curvature[i]![j]! += weight * p * (1 - p) * row[i]! * row[j]!;
        }
      }
    });
    const change = solve(curvature, gradient);
    weights = weights.map((weight, i) => weight + change[i]!);
    if (change.every((value) => Math.abs(value) < 1e-9)) break;
  }
  const plain = weights.slice(1).map((weight, i) => weight / scales[i]!);
  const constant = plain.reduce((sum, weight, i) => sum - weight * means[i]!, weights[0]!);
  return [constant, ...plain];
}

/** Mean and deviation of every feature. */
function standard(observations: readonly Observation[]): { means: number[]; scales: number[] } {
  const count = observations.length;
  const size = observations[0]!.features.length;
  const over = (value: (features: readonly number[]) => number): number =>
    observations.reduce((sum, { features }) => sum + value(features), 0) / count;
  const means = Array.from({ length: size }, (_, i) => over((features) => features[i]!));
  const scales = means.map((mean, i) => {
    return Math.sqrt(over((features) => (features[i]! - mean) ** 2)) || 1;
  });
  return { means, scales };
}

/** Solves linear equations by Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let i = column + 1; i < size; i++) {
      if (Math.abs(rows[i]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = i;
    }
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    for (let i = 0; i < size; i++) {
      if (i === column) continue;
      const factor = rows[i]![column]! / rows[column]![column]!;
      for (let j = column; j <= size; j++) rows[i]![j]! -= factor * rows[column]![j]!;
    }
  }
  return rows.map((row, i) => row[size]! / row[i]!);
}
