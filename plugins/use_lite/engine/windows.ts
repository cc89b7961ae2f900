import type { Tokenizer } from "./tokenizer.ts";

export const DIMENSIONS = 512;
/** Longest window in tokens: the model's limit. */
export const WINDOW_TOKENS = 128;
const MAX_WINDOWS = 16;

/** Documents up to this length are embedded whole, or nearly: about 16 windows and a half. */
const WHOLE_DOCUMENT = 16384;
/** No query needs more characters for its first window. */
const WHOLE_QUERY = 4096;
/** About one window of English. */
const EXCERPT = 480;
/** How far an excerpt's ends are moved to fall on white space. */
const SLACK = 64;

/** The part of a text that is looked at. */
export interface Excerpts {
  /** One part to be divided into windows, or several with one window each. */
  readonly parts: readonly string[];
  /** Most windows of each part. */
  readonly windows: number;
}

/**
 * Chooses what to embed of a text, in characters. Only 16 evenly spaced excerpts of a very long
 * document are ever tokenised, so its cost does not grow with its length.
 */
export function excerpts(text: string, purpose: "document" | "query"): Excerpts {
  if (purpose === "query") return { parts: [text.slice(0, WHOLE_QUERY)], windows: 1 };
  if (text.length <= WHOLE_DOCUMENT) return { parts: [text], windows: MAX_WINDOWS };
  const step = (text.length - EXCERPT) / (MAX_WINDOWS - 1);
  const parts = Array.from({ length: MAX_WINDOWS }, (_, i) => excerpt(text, Math.floor(i * step)));
  return { parts, windows: 1 };
}

function excerpt(text: string, from: number): string {
  const part = text.slice(from, from + EXCERPT);
  const head = from === 0 ? 0 : part.slice(0, SLACK).search(/\s/) + 1;
  const tail = from + EXCERPT >= text.length ? -1 : part.slice(-SLACK).search(/\s\S*$/);
  return part.slice(head, tail < 0 ? EXCERPT : EXCERPT - SLACK + tail);
}

/** Token windows of a text's excerpts, from 1 to 16 of 1 to 128 tokens. */
export function windowsOf(tokenizer: Tokenizer, { parts, windows }: Excerpts): Uint16Array[] {
  return parts.flatMap((part) => {
    const tokens = tokenizer.encode(part);
    if (windows === 1) return [tokens.subarray(0, WINDOW_TOKENS)];
    return sampleEvenly(divide(tokenizer, tokens), windows);
  });
}

/**
 * Divides tokens into windows of similar length that cover all of them, at ends of sentences where
 * possible, else between words.
 */
function divide(tokenizer: Tokenizer, tokens: Uint16Array): Uint16Array[] {
  const windows: Uint16Array[] = [];
  for (let start = 0; start < tokens.length;) {
    const rest = tokens.length - start;
    const size = Math.ceil(rest / Math.ceil(rest / WINDOW_TOKENS));
    const end = size === rest ? tokens.length : bestCut(tokenizer, tokens, start, size);
    windows.push(tokens.subarray(start, end));
    start = end;
  }
  return windows;
}

/** The best place near `start + size` to end a window. */
function bestCut(
  tokenizer: Tokenizer,
  tokens: Uint16Array,
  start: number,
  size: number,
): number {
  let best = start + size;
  let bestRank = -Infinity;
  for (let cut = start + Math.ceil(size / 2); cut <= start + WINDOW_TOKENS; cut++) {
    if (!tokenizer.startsWord(tokens[cut]!)) continue;
    const sentence = tokenizer.endsSentence(tokens[cut - 1]!) ? WINDOW_TOKENS : 0;
    const rank = sentence - Math.abs(cut - start - size);
    if (rank > bestRank) {
      bestRank = rank;
      best = cut;
    }
  }
  return best;
}

function sampleEvenly<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => items[Math.round(i * step)]!);
}
