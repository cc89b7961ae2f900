export const MAX_WINDOWS = 16;
/** How far a window's end is moved to fall on white space, as a share of its length. */
const SLACK = 0.2;

/**
 * Tokens of a text, estimated from above: servers do not tell how they divide a text. English has
 * about four letters a token, other scripts down to one.
 */
export function estimatedTokens(text: string): number {
  let others = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) others++;
  return Math.ceil((text.length - others) / 3 + others);
}

/** Where to end a window that starts at `start` and must not pass `limit`. */
function cutAt(text: string, start: number, limit: number): number {
  if (limit >= text.length) return text.length;
  const earliest = Math.max(start + 1, limit - Math.floor((limit - start) * SLACK));
  const tail = text.slice(earliest, limit);
  const sentence = /^[\s\S]*[.!?。！？\n]\s/.exec(tail)?.[0].length;
  const space = tail.search(/\s\S*$/);
  if (sentence !== undefined) return earliest + sentence;
  if (space >= 0) return earliest + space + 1;
  // Never between the two halves of a character.
  const unit = text.charCodeAt(limit - 1);
  if (unit < 0xd800 || unit >= 0xdc00) return limit;
  return limit - 1 > start ? limit - 1 : limit + 1;
}

/** The longest window from `start` of at most that many tokens. */
function windowAt(text: string, start: number, tokens: number): string {
  let end = Math.min(text.length, start + tokens * 3);
  for (;;) {
    const over = estimatedTokens(text.slice(start, end)) / tokens;
    if (over <= 1) return text.slice(start, cutAt(text, start, end));
    end = start + Math.max(1, Math.floor((end - start) / over));
    if (end === start + 1) return text.slice(start, cutAt(text, start, end + 1));
  }
}

/**
 * What to embed of a document: windows that cover it, or 16 evenly spaced ones where more were
 * needed. The work does not grow with the length of a very long text.
 *
 * @param tokens Longest window in tokens, at least 2.
 */
export function documentWindows(text: string, tokens: number): string[] {
  const windows: string[] = [];
  let at = 0;
  while (at < text.length && windows.length < MAX_WINDOWS) {
    const window = windowAt(text, at, tokens);
    windows.push(window);
    at += window.length;
  }
  if (at >= text.length) return windows.length === 0 ? [text] : windows;
  const last = lastWindow(text, tokens);
  const step = (text.length - last.length) / (MAX_WINDOWS - 1);
  return Array.from({ length: MAX_WINDOWS }, (_, i) => {
    return i === MAX_WINDOWS - 1 ? last : windowAt(text, wordStart(text, i * step), tokens);
  });
}

/** What to embed of a query: its first window. */
export function queryWindow(text: string, tokens: number): string {
  return windowAt(text, 0, tokens);
}

/** Two halves of a text, divided between words where possible. */
export function halves(text: string): [string, string] {
  const middle = cutAt(text, 0, Math.ceil(text.length / 2));
  return [text.slice(0, middle), text.slice(middle)];
}

/** Where a word starts soon after a place, or a character does; always before the text's end. */
function wordStart(text: string, at: number): number {
  const from = Math.floor(at);
  if (from === 0) return 0;
  const space = text.slice(from, Math.min(from + 64, text.length - 1)).search(/\s/);
  if (space >= 0) return from + space + 1;
  const unit = text.charCodeAt(from);
  if (unit < 0xdc00 || unit >= 0xe000) return from;
  return from + 1 < text.length ? from + 1 : from - 1;
}

/** The end of a text, in one window. */
function lastWindow(text: string, tokens: number): string {
  let start = Math.max(0, text.length - tokens * 3);
  while (estimatedTokens(text.slice(start)) > tokens) {
    start = Math.ceil((start + text.length) / 2);
  }
  return text.slice(wordStart(text, start));
}
