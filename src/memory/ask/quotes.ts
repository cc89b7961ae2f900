import type { Hit } from "../recall/recall.ts";

/** Longest quotation in an answer, in characters; the whole text stands in `memories`. */
const QUOTE_CHARACTERS = 500;

/** What can be said without a language model. */
interface Quoted {
  /** The answer. */
  readonly answer: string;
  /** The memories it quotes. */
  readonly quoted: readonly Hit[];
}

function quote(text: string): string {
  let line = "";
  // Word by word: a hundred texts of a megabyte each would hold up everybody else.
  for (const [word] of text.matchAll(/\S+/g)) {
    line += line === "" ? word : ` ${word}`;
    if (line.length > QUOTE_CHARACTERS) break;
  }
  if (line.length <= QUOTE_CHARACTERS) return line;
  const head = line.slice(0, QUOTE_CHARACTERS);
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`;
}

/**
 * How close a hit is, 0 to 1: by meaning, or by its words where those count.
 *
 * @param isWeighted whether the score holds more than relevance.
 */
export function closenessOf(
  { distance, score }: Pick<Hit, "distance" | "score">,
  isWeighted = false,
): number {
  return isWeighted ? 1 - distance : Math.max(1 - distance, score);
}

/**
 * Quotes the memories that are close enough to a question, and says that no language model composed
 * the answer.
 *
 * @param closeness the least closeness that is quoted; absent where nobody measured it for the
 * embedding model: then every hit is quoted.
 * @param isWeighted whether the score holds more than relevance.
 */
export function quotes(
  hits: readonly Hit[],
  closeness: number | undefined,
  isWeighted: boolean,
): Quoted {
  const quoted = hits.filter((hit) => closenessOf(hit, isWeighted) >= (closeness ?? -Infinity));
  if (quoted.length === 0) {
    return {
      answer: "No language model is configured, and no memory is close enough to the question.",
      quoted,
    };
  }
  const lines = quoted.map(({ text }, i) => `${i + 1}. ${quote(text)}`);
  const head = "No language model is configured to compose an answer. The closest memories are:";
  return { answer: [head, ...lines].join("\n"), quoted };
}
