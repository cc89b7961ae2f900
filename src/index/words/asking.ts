/** Longer texts tell something, whatever they end with. */
const LONGEST = 1_000;
/** So much of a text has to be questions. */
const LEAST = 0.3;

const ENDS_ASKING = /[?？؟]["'”’»)\]\s]*$/u;
const SENTENCE = /[^.!?？؟…。！]+[.!?？؟…。！]*/gu;
const QUESTION = /[?？؟]\s*$/u;

/** Whether a text asks: it ends with a question, and questions are a good part of it. */
export function asks(text: string): boolean {
  if (text.length > LONGEST || !ENDS_ASKING.test(text)) return false;
  const questions = (text.match(SENTENCE) ?? []).filter((sentence) => QUESTION.test(sentence));
  return questions.reduce((sum, { length }) => sum + length, 0) >= LEAST * text.length;
}
