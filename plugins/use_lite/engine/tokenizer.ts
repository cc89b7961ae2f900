import { PieceTrie } from "./piece_trie.ts";

/** A piece of the vocabulary and its log probability; user-defined pieces have none. */
export type Piece = readonly [text: string, score: number | null];

const UNKNOWN = 0;
/** Ids below this are control symbols and never match text. */
const RESERVED = 6;
/**
 * Runs of more than 30 combining marks, which no language has, and which take quadratic time to
 * normalise (UAX #15, "Stream-Safe Text Format").
 */
const LONG_MARKS = /(\p{M}{30})\p{M}+/gu;
/**
 * Of a text of known words up to this share of pieces go on inside a word; of a text in another
 * language from the second share on. Measured on the development queries of the retrieval data: 9 of
 * 10 English ones up to 0.33 and 0.4, German and Spanish ones from 0.5 and 0.4.
 */
const KNOWN_SHARE = 0.35;
const FOREIGN_SHARE = 0.6;
/** Stands for a space, and is the first character of a piece that starts a word. */
const SPACE = "\u2581";

/**
 * Tokenizer of SentencePiece unigram models: the sequence of pieces with the highest probability,
 * found by the Viterbi algorithm (Kudo, 2018, "Subword Regularization", section 3.2). Runs of
 * characters outside the vocabulary become one unknown token, id 0.
 */
export class Tokenizer {
  readonly #trie = new PieceTrie();
  readonly #lengths: Uint8Array;
  readonly #scores: Float64Array;
  readonly #starts: Uint8Array;
  readonly #ends: Uint8Array;
  readonly #marks: Uint8Array;

  /** Builds the index of a vocabulary; ids are positions in it. */
  constructor(pieces: readonly Piece[]) {
    this.#lengths = Uint8Array.from(pieces, ([text]) => text.length);
    this.#scores = Float64Array.from(pieces, ([, score]) => score ?? 0);
    this.#starts = Uint8Array.from(pieces, ([text]) => Number(text.startsWith(SPACE)));
    this.#ends = Uint8Array.from(pieces, ([text]) => Number(/[.!?]$/.test(text)));
    this.#marks = Uint8Array.from(pieces, ([text]) => Number(/^[^\p{L}\p{N}]+$/u.test(text)));
    pieces.forEach(([text], id) => {
      if (id >= RESERVED) this.#trie.add(text, id);
    });
  }

  /** Whether a token begins a word. */
  startsWord(id: number): boolean {
    return this.#starts[id] === 1;
  }

  /** Whether a token ends with `.`, `!` or `?`. */
  endsSentence(id: number): boolean {
    return this.#ends[id] === 1;
  }

  /**
   * How well the vocabulary knows the words of a text, 0 to 1. Words that it does not have come in
   * many short pieces; what it has no pieces for counts twice. Punctuation does not count.
   */
  known(tokens: Uint16Array): number {
    let count = 0;
    let inside = 0;
    for (const id of tokens) {
      if (id !== UNKNOWN && this.#marks[id] === 1) continue;
      count++;
      if (id === UNKNOWN) inside += 2;
      else if (this.#starts[id] === 0) inside++;
    }
    const share = count === 0 ? 1 : inside / count;
    return Math.min(1, Math.max(0, (FOREIGN_SHARE - share) / (FOREIGN_SHARE - KNOWN_SHARE)));
  }

  /**
   * Token ids of a text, at least one. The text is brought to NFKC; white space and control
   * characters are taken as single spaces.
   */
  encode(text: string): Uint16Array {
    const safe = text.replaceAll(LONG_MARKS, "$1");
    const clean = safe.normalize("NFKC").replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
    if (clean === "") return Uint16Array.of(UNKNOWN);
    const input = SPACE + clean.replaceAll(" ", SPACE);
    return this.#backtrack(this.#lastPieces(input));
  }

  /** For every prefix of the input, the last piece of its best segmentation. */
  #lastPieces(input: string): Uint16Array {
    const trie = this.#trie;
    const best = new Float64Array(input.length + 1);
    const last = new Uint16Array(input.length + 1);
    for (let start = 0; start < input.length; start++) {
      let node = 0;
      for (let end = start + 1; end <= input.length; end++) {
        node = trie.child(node, input.charCodeAt(end - 1));
        if (node === 0) break;
        const id = trie.piece(node);
        if (id === 0) continue;
        const score = best[start]! + this.#scores[id]!;
        // No path has the score 0, so 0 marks a prefix that nothing has reached yet.
        if (best[end] === 0 || score >= best[end]!) {
          best[end] = score;
          last[end] = id;
        }
      }
    }
    return last;
  }

  #backtrack(last: Uint16Array): Uint16Array {
    const ids = new Uint16Array(last.length);
    let first = ids.length;
    let previous = -1;
    for (let end = last.length - 1; end > 0;) {
      const id = last[end]!;
      if (id !== UNKNOWN || previous !== UNKNOWN) ids[--first] = id;
      previous = id;
      end -= id === UNKNOWN ? 1 : this.#lengths[id]!;
    }
    return ids.subarray(first);
  }
}
