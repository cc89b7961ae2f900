import { SvcError } from "../errors.ts";
import type { Embedder } from "../interfaces/mod.ts";

/** Most windows of one text. */
const MAX_WINDOWS = 16;

/** Rounding error of a vector of length 1; vectors farther from 1 are scaled. */
const ROUNDING = 1e-6;

/**
 * Length of a vector; NaN or infinite exactly when one of its values is. By index: callbacks and
 * iterators would make an object of every value.
 */
function lengthOf(vector: Float32Array): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
  return Math.sqrt(squares);
}

/** The vector at unit length, which is what distances are computed from. */
function unit(vector: Float32Array, length: number): Float32Array {
  return Math.abs(length - 1) < ROUNDING ? vector : vector.map((value) => value / length);
}

/**
 * The vectors of one text, checked and at unit length: what an embedder made up must never reach the
 * index.
 *
 * @throws {SvcError} `embedding_unavailable` unless there are 1 to 16 finite vectors of the
 * embedder's length.
 */
export function checkedVectors(
  embedder: Embedder,
  vectors: readonly Float32Array[] | undefined,
): readonly Float32Array[] {
  if (vectors === undefined || vectors.length < 1 || vectors.length > MAX_WINDOWS) throw unusable();
  return vectors.map((vector) => {
    // Other arrays would let strings and null count as numbers.
    if (!(vector instanceof Float32Array) || vector.length !== embedder.dimensions) {
      throw unusable();
    }
    const length = lengthOf(vector);
    if (!(length > 0 && length < Infinity)) throw unusable();
    return unit(vector, length);
  });
}

function unusable(): SvcError {
  return new SvcError("embedding_unavailable", "The embedder gave no usable vectors");
}

/**
 * The vectors of texts that are kept, or compared with those that are; in order.
 *
 * @throws {SvcError} `embedding_unavailable`.
 */
export async function documentVectors(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<(readonly Float32Array[])[]> {
  const said = texts.map(firstPerson);
  const made = await embedder.embed(said, { purpose: "document", signal });
  return said.map((_, i) => checkedVectors(embedder, made[i]));
}

/** Words after which "the user" is part of the name of a thing. */
const THING = "account|agent|base|data|experience|group|guide|id|ids|input|interface|interfaces|" +
  "journey|list|manual|name|names|profile|profiles|research|role|roles|settings|story|stories|" +
  "table|tests|testing";
const USER = `user(?! (?:${THING})\\b)`;

const INVERTED = new Map([["does", "do I"], ["is", "am I"], ["has", "have I"]]);
const STRAIGHT = new Map([["is", "I am"], ["has", "I have"], ["does", "I do"]]);

// Without an article only the beginning of a sentence is about a person. The word comes first, so that
// no run of white space is looked through from each of its characters.
const BARE = new RegExp(`${USER}(?<=(?:^|[.!?:\\n]\\s*)user)(?= [a-z])`, "gi");
const POSSESSIVE = new RegExp(`\\b(?:the )?${USER}['\u2019]s\\b`, "gi");
const QUESTION = new RegExp(`\\b(does|is|has) the ${USER}\\b`, "gi");
const STATEMENT = new RegExp(`\\bthe ${USER} (is|has|does)\\b`, "gi");
const OBJECT = new RegExp(
  `\\b(about|by|for|from|of|to|with|ask|call|give|help|remind|tell) the ${USER}\\b`,
  "gi",
);
const SUBJECT = new RegExp(`\\bthe ${USER}\\b`, "gi");

/**
 * An English text about "the user" as that person would say it. Assistants write and ask both ways,
 * and embedders take them for different people: where one side says "the user" and the other "I",
 * that alone costs a good part of the first hits (docs/recall.md). What is embedded, and nothing else,
 * is brought to one form.
 */
export function firstPerson(text: string): string {
  if (!/\buser\b/i.test(text)) return text;
  return text
    .replace(BARE, "the user")
    .replace(POSSESSIVE, "my")
    .replace(QUESTION, (_, verb: string) => INVERTED.get(verb.toLowerCase())!)
    .replace(STATEMENT, (_, verb: string) => STRAIGHT.get(verb.toLowerCase())!)
    .replace(OBJECT, "$1 me")
    .replace(SUBJECT, "I");
}
