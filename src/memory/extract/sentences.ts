/** Words after which a full stop never ends a sentence. */
const TITLES = /(?:^|[\s("'“])(?:dr|mr|mrs|ms|mx|prof|st|sr|jr|rev|gen|col|lt|capt|vs|cf)\.$/i;
/** Words whose full stop ends no sentence when a lower-case word or a number follows. */
const SHORTENED =
  /(?:^|[\s("'“])(?:e\.g|i\.e|etc|approx|ca|inc|ltd|co|dept|tel|no|nr|ref|appt|apt|hrs?|resp|usw|fig|p|pp|vol|ext|a\.m|p\.m|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|z\.b|bzw|str)\.$/i;
/** A single capital is somebody's initial. */
const INITIAL = /(?:^|[\s.])\p{Lu}\.$/u;
/** A day in German or the like: `3. Juni`. */
const ORDINAL = /(?:^|[\s(])\d{1,2}\.$/u;
const AFTER_ORDINAL =
  /^(?:\p{Ll}|Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)/u;
/** Where a sentence may end: after its mark, and whatever closes with it. */
const BOUNDARY = /(?<=[.!?…]["'”’)\]]{0,3})\s+|(?<=[。！？]["'”’」』）]{0,3})(?!["'”’」』）])/u;
/** Control characters except white space. */
const CONTROL = /(?!\s)\p{Cc}/gu;
const BULLET = /^(?:[-*•–·]|\d{1,2}[.)]|\[[ xX]?\])\s+/;
/** Lines at least this long are taken for the wrapped lines of a paragraph. */
const WRAPPED_CHARACTERS = 50;
/** Longer sentences are cut: a fact is short, and an answer holds twenty. */
const MOST_CHARACTERS = 500;

function endsOpen(piece: string, next: string): boolean {
  if (TITLES.test(piece) || INITIAL.test(piece)) return true;
  if (ORDINAL.test(piece) && AFTER_ORDINAL.test(next)) return true;
  const small = /^[\p{Ll}\p{N}]/u.test(next);
  return small && (SHORTENED.test(piece) || /(?:\.\.\.|…)$/.test(piece));
}

/** Lines without list marks; the wrapped lines of one paragraph are joined. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let wrapped = false;
  for (const raw of text.split(/\r\n|[\n\r\u2028\u2029]/)) {
    const bare = raw.replace(CONTROL, "").trim().replace(/^(?:>\s*)+/, "");
    const line = bare.replace(BULLET, "").replace(/\s+/g, " ");
    const last = lines.length - 1;
    if (wrapped && line === bare && /^\p{Ll}/u.test(line)) lines[last] += ` ${line}`;
    else if (line !== "") lines.push(line);
    wrapped = raw.length >= WRAPPED_CHARACTERS && !/[.!?…:;。！？]["'”’)\]]*$/.test(bare);
  }
  return lines;
}

/** Pieces of at most {@linkcode MOST_CHARACTERS}, cut where a pause or a blank stands. */
function cut(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > MOST_CHARACTERS) {
    const head = rest.slice(0, MOST_CHARACTERS);
    const pause = Math.max(...["; ", ", ", "、", "，"].map((mark) => head.lastIndexOf(mark)));
    const blank = head.lastIndexOf(" ");
    let at = pause > MOST_CHARACTERS / 2 ? pause + 1 : blank > 0 ? blank : MOST_CHARACTERS;
    // Never between the two halves of one character.
    if (/[\uD800-\uDBFF]$/.test(rest.slice(0, at))) at--;
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

/**
 * The sentences of a text, in order and as they stand there, but for list marks, and white space
 * made one blank. Lines are separate, unless one plainly goes on in the next.
 */
export function sentences(text: string): string[] {
  const found: string[] = [];
  for (const line of logicalLines(text)) {
    let open = false;
    const pieces = line.split(BOUNDARY).filter((piece) => piece.trim() !== "");
    for (const [i, piece] of pieces.entries()) {
      if (open) found[found.length - 1] += ` ${piece.trim()}`;
      else found.push(piece.trim());
      open = endsOpen(piece.trim(), pieces[i + 1]?.trim() ?? "");
    }
  }
  return found.flatMap(cut);
}
