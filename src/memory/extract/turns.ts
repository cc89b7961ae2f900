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
