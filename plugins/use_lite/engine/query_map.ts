import { DOWN, RANK, SCALE, UP } from "./query_map_weights.ts";

const factor = (base64: string): Int8Array => new Int8Array(Uint8Array.fromBase64(base64).buffer);
/** Constants, decoded when they are needed first. */
let factors: { readonly down: Int8Array; readonly up: Int8Array } | undefined;

/**
 * Moves the vector of a query to where the facts that answer such queries stand out, and scales it
 * to unit length. The model places texts that say the same close together, but a question says
 * something else than its answer. The map x + B Aᵀ x was learned from facts and questions
 * (eval/training); documents stay where they are.
 *
 * @param vector Unit length; changed in place.
 */
export function mapQuery(vector: Float32Array): void {
  factors ??= { down: factor(DOWN), up: factor(UP) };
  const { down, up } = factors;
  const size = vector.length;
  const moved = vector.slice();
  for (let row = 0; row < RANK; row++) {
    let inner = 0;
    for (let i = 0; i < size; i++) inner += down[row * size + i]! * vector[i]!;
    inner *= SCALE;
    for (let i = 0; i < size; i++) moved[i]! += inner * up[row * size + i]!;
  }
  const length = Math.hypot(...moved);
  if (length > 0) vector.set(moved.map((value) => value / length));
}
