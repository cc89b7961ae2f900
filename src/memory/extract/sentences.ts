/** What one speaker says at a stretch; without a name it is the text's author. */
interface Turn {
  /** As the text writes it. */
  readonly speaker?: string;
  /** What is said. */
  readonly text: string;
  /** Whether an assistant speaks: what it offers is no fact about anybody. */
  readonly assistant: boolean;
}

const STAMP = String
  .raw`(?:\[[^\]\n]{1,30}\]\s*|\(?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?\s*)?\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]m)?\)?\s*[-–]?\s*)?`;
const LABELLED = new RegExp(
  String.raw`^${STAMP}\*{0,2}([\p{L}][\p{L}\p{N}.'’_-]*(?: [\p{L}\p{N}][\p{L}\p{N}.'’_-]*){0,2})` +
    String.raw`\*{0,2}:\*{0,2}(?:\s+(.*))?$`,
  "iu",
);
const ASSISTANT = /^(?:assistant|ai|bot|chatbot|system|agent|model|tool)$/i;
const ROLE =
  /^(?:user|human|me|you|customer|client|interviewer|interviewee|assistant|ai|bot|chatbot|system|agent|model|tool)$/i;
/** Labels of lines that name no speaker. */
const FIELD =
  /^(?:subject|from|to|cc|bcc|date|sent|re|fwd?|present|attendees|participants|absent|apologies|decision|decided|decisions|action|actions|action items?|todo|to do|aob|agenda|note|notes|nb|ps|p\.s|idea|ideas|topic|summary|title|time|place|location|where|when|who|what|why|how|next|next steps?|goal|goals|plan|status|update|reminder|question|questions|answer|warning|tip|tips|result|results|price|cost|phone|tel|email|e-mail|address|name|tags?|source|link|url)$/i;

interface Line {
  readonly raw: string;
  readonly speaker?: string;
  readonly said: string;
}

function readLine(raw: string): Line {
  const match = LABELLED.exec(raw.trim());
  const speaker = match?.[1];
  if (speaker === undefined || FIELD.test(speaker)) return { raw, said: raw };
  return { raw, speaker, said: match?.[2] ?? "" };
}

/** Whether the labels are names: several lines carry them, and hardly a line has none. */
function isConversation(lines: readonly Line[]): boolean {
  const labels = lines.flatMap(({ speaker }) => speaker === undefined ? [] : [speaker]);
  if (labels.length < 2 || labels.length * 2 < lines.length) return false;
  const distinct = new Set(labels.map((label) => label.toLowerCase()));
  if (labels.some((label) => ROLE.test(label))) return true;
  return distinct.size >= 2 && distinct.size < labels.length ||
    distinct.size === 2 && labels.every((label) => /^\p{Lu}/u.test(label)) &&
      lines.length === 2;
}

/**
 * A text by speaker: lines such as `Marc: …` or `[09:12] Priya: …` make a conversation when names
 * come again; any other text is one turn of its author.
 */
export function turns(text: string): Turn[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "").map(readLine);
  if (!isConversation(lines)) return [{ text, assistant: false }];
  const found: { speaker?: string; text: string; assistant: boolean }[] = [];
  for (const { raw, speaker, said } of lines) {
    const last = found.at(-1);
    if (speaker !== undefined) {
      found.push({ speaker, text: said, assistant: ASSISTANT.test(speaker) });
    } else if (last === undefined) found.push({ text: raw, assistant: false });
    else last.text += `\n${raw}`;
  }
  return found;
}

/** Words after which a full stop never ends a sentence. */
const TITLES = /(?:^|[\s("'“])(?:dr|mr|mrs|ms|mx|prof|st|sr|jr|rev|gen|col|lt|capt|vs|cf)\.$/i;
/** Words whose full stop ends no sentence when a lower-case word or a number follows. */
const SHORTENED =
  /(?:^|[\s("'“])(?:e\.g|i\.e|etc|approx|ca|inc|ltd|co|dept|tel|no|nr|fig|p|pp|vol|ext|a\.m|p\.m|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|z\.b|bzw|str)\.$/i;
/** A single capital is somebody's initial. */
const INITIAL = /(?:^|[\s.])\p{Lu}\.$/u;
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
