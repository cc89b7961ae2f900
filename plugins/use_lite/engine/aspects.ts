import type { Aspects } from "../../../src/interfaces/embedder.ts";
import { QUESTIONS, RANK, SCALE, STATEMENTS } from "./aspects_weights.ts";

const numbers = (base64: string): Int8Array => new Int8Array(Uint8Array.fromBase64(base64).buffer);
/** Constants, decoded when they are needed first. */
let maps: { readonly statements: Int8Array; readonly questions: Int8Array } | undefined;

function mapped(vector: Float32Array, map: Int8Array): Float32Array {
  return Float32Array.from({ length: RANK }, (_, row) => {
    let sum = 0;
    const start = row * vector.length;
    for (let i = 0; i < vector.length; i++) sum += map[start + i]! * vector[i]!;
    return SCALE * sum;
  });
}

function load(): NonNullable<typeof maps> {
  return maps ??= { statements: numbers(STATEMENTS), questions: numbers(QUESTIONS) };
}

/** What vectors of use-lite are about, learned from statements that replace others (eval/training). */
export const ASPECTS: Aspects = {
  statement: (vector) => mapped(vector, load().statements),
  question: (vector) => mapped(vector, load().questions),
};
