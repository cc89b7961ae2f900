/** What one speaker says at a stretch. */
export interface Turn {
  /** As the text writes it; absent for the text's author, whom a label such as `User` means. */
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
    String.raw`\*{0,2}\s?:\*{0,2}(?:\s+(.*))?$`,
  "iu",
);
/** Labels of whoever keeps the conversation: in its facts `I` needs no name. */
const AUTHOR =
  /^(?:user|human|me|you|nutzer(?:in)?|benutzer(?:in)?|mensch|ich|usuari[oa]|yo|utilisat(?:eur|rice)|moi)$/i;
const ASSISTANT =
  /^(?:assistant|assistent|asistente|ai|ki|ia|bot|chatbot|system|agent|model|tool)$/i;
/** Labels that are names of parts, and so make a conversation the first time they come. */
const ROLE = /^(?:customer|client|interviewer|interviewee)$/i;
/** Labels of lines that name no speaker. */
const FIELD =
  /^(?:subject|from|to|cc|bcc|date|sent|re|fwd?|present|attendees|participants|absent|apologies|decision|decided|decisions|action|actions|action items?|todo|to do|aob|agenda|note|notes|nb|ps|p\.s|idea|ideas|topic|summary|title|time|place|location|where|when|who|what|why|how|next|next steps?|goal|goals|plan|status|update|reminder|question|questions|answer|warning|tip|tips|result|results|price|cost|phone|tel|email|e-mail|address|name|tags?|source|link|url|betreff|datum|notiz|asunto|fecha|nota|objet)$/i;

/** Longer labels are no names: one is repeated in each fact. */
const MOST_CHARACTERS = 60;

interface Line {
  readonly raw: string;
  readonly speaker?: string;
  readonly said: string;
}

function readLine(raw: string): Line {
  const match = LABELLED.exec(raw.trim());
  const speaker = match?.[1];
  const isName = speaker !== undefined && speaker.length <= MOST_CHARACTERS && !FIELD.test(speaker);
  if (!isName) return { raw, said: raw };
  return { raw, speaker, said: match?.[2] ?? "" };
}

const labelsOf = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ speaker }) => speaker === undefined ? [] : [speaker]);

/** Whether somebody talks with an assistant, whose answers may have any number of lines. */
function hasAssistant(labels: readonly string[]): boolean {
  return labels.some((label) => AUTHOR.test(label)) &&
    labels.some((label) => ASSISTANT.test(label));
}

/** Whether the labels are names: several lines carry them, and hardly a line has none. */
function isConversation(lines: readonly Line[]): boolean {
  const labels = labelsOf(lines);
  const [first] = labels;
  if (hasAssistant(labels)) return true;
  if (first === undefined || labels.length * 2 < lines.length) return false;
  if (labels.length === 1) return lines[0]?.speaker === first && AUTHOR.test(first);
  if (labels.some((label) => [AUTHOR, ASSISTANT, ROLE].some((part) => part.test(label)))) {
    return true;
  }
  const distinct = new Set(labels.map((label) => label.toLowerCase()));
  return distinct.size >= 2 && distinct.size < labels.length ||
    distinct.size === 2 && labels.every((label) => /^\p{Lu}/u.test(label)) &&
      lines.length === 2;
}

/** Lines without the labels that an assistant's answer has: a speaker comes again. */
function ofSpeakers(lines: readonly Line[]): readonly Line[] {
  const labels = labelsOf(lines);
  if (!hasAssistant(labels)) return lines;
  const once = new Set<string>();
  const again = new Set<string>();
  for (const label of labels) (once.has(label) ? again : once).add(label);
  return lines.map((line) => {
    const { speaker, raw } = line;
    const speaks = speaker === undefined || again.has(speaker) || AUTHOR.test(speaker) ||
      ASSISTANT.test(speaker);
    return speaks ? line : { raw, said: raw };
  });
}

/**
 * A text by speaker: lines such as `Marc: …` or `[09:12] Priya: …` make a conversation when names
 * come again; any other text is one turn of its author.
 */
export function turns(text: string): Turn[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "").map(readLine);
  if (!isConversation(lines)) return [{ text, assistant: false }];
  const found: { speaker?: string; text: string; assistant: boolean }[] = [];
  for (const { raw, speaker, said } of ofSpeakers(lines)) {
    const last = found.at(-1);
    if (speaker !== undefined) {
      const turn = { text: said, assistant: ASSISTANT.test(speaker) };
      found.push(AUTHOR.test(speaker) ? turn : { ...turn, speaker });
    } else if (last === undefined) found.push({ text: raw, assistant: false });
    else last.text += `\n${raw}`;
  }
  return found;
}
