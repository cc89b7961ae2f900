import { ENGLISH } from "./languages/english.ts";
import type { Language } from "./languages/language.ts";
import { languageOf } from "./languages/recognise.ts";
import { asks, countWords } from "./score.ts";
import { sentences } from "./sentences.ts";
import { signed } from "./signature.ts";
import { turns } from "./turns.ts";

/** A sentence of a text, and who says it. */
export interface Statement {
  readonly speaker: string | undefined;
  /** Whether the speaker is the one who signed: the name is told only where somebody says `I`. */
  readonly isSigned: boolean;
  readonly assistant: boolean;
  /** Number of its turn. */
  readonly turn: number;
  /** Without greetings and fillers in front. */
  readonly text: string;
  /** As it answers a question: with its yes or no. */
  readonly reply: string;
  readonly asks: boolean;
  /** Names what comes after it. */
  readonly isHeading: boolean;
  readonly language: ReturnType<typeof languageOf>;
}

/** The tables for a language: notes in plain Latin letters are tried as English ones. */
export function tablesOf(language: Statement["language"]): Language | undefined {
  if (language === "other") return undefined;
  return language === "unclear" ? ENGLISH : language;
}

/** Greetings and fillers that may follow each other at a sentence's start. */
const OPENINGS = 4;
/** Dictation: a sentence of so many words has no punctuation that could part it. */
const RUN_ON_WORDS = 45;
/** A part of dictation has at least so many words. */
const PART_WORDS = 10;
/** Headers of a letter; its subject names what the letter is about. */
const HEADER = /^(?:cc|bcc)\s?:/i;
const SUBJECT = /^(?:(?:subject|re|fwd?|aw|wg|betreff|asunto|objet)\s?:\s*){1,4}/i;
/** Words up to which the first words of a text, without a verb, are its heading. */
const HEADING_WORDS = 7;
/** A statement, and the question that goes on from it. */
const ASKING_TAIL = /^(.{8,}?[^,\s]),\s(?=.{4,}[?？])/u;

function withoutOpening(sentence: string, language: Language): string {
  let rest = sentence.replace(language.hesitation, "");
  for (let i = 0; i < OPENINGS; i++) {
    const opening = language.opening.exec(rest)?.[0];
    if (opening === undefined || opening === "") break;
    rest = rest.slice(opening.length).trimStart();
  }
  if (rest === "") return sentence;
  const isCapital = /^\p{Lu}/u.test(sentence);
  return isCapital ? rest.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase()) : rest;
}

/** Parts of dictation, cut where the next thing begins. */
function parts(sentence: string, language: Language): string[] {
  if (countWords(sentence) < RUN_ON_WORDS) return [sentence];
  const found: string[] = [];
  let from = 0;
  for (const { index, 0: seam } of sentence.matchAll(language.seam)) {
    const head = sentence.slice(from, index).trim();
    if (countWords(head) < PART_WORDS) continue;
    found.push(head);
    from = index + seam.length;
  }
  const rest = sentence.slice(from).trim();
  const isShort = found.length > 0 && countWords(rest) < PART_WORDS;
  if (isShort) found[found.length - 1] += ` ${rest}`;
  else found.push(rest);
  return found;
}

/** The language of a sentence that stands out of its text, else that of the text. */
function languageIn(sentence: string, language: Statement["language"]): Statement["language"] {
  if (countWords(sentence) < 6) return language;
  const own = languageOf(sentence);
  return typeof own === "string" ? language : own;
}

/** A statement that goes on as a question: the statement, then the question. */
function withoutQuestion(sentence: string, language: Language): string[] {
  if (!/[?？]$/u.test(sentence)) return [sentence];
  const [whole, head] = ASKING_TAIL.exec(sentence) ?? [];
  if (whole === undefined || head === undefined || language.question.test(head)) return [sentence];
  const isStatement = language.firstPerson.test(head) && language.verb.test(head);
  return isStatement ? [head, sentence.slice(whole.length)] : [sentence];
}

function isHeading(sentence: string, language: Language): boolean {
  return countWords(sentence) <= HEADING_WORDS && !/[:=!?]\s|,.*,|[!?]$/.test(sentence) &&
    !language.verb.test(sentence);
}

type Said = Pick<Statement, "speaker" | "isSigned" | "assistant" | "turn">;

/** The statements of one sentence; `isFirst` when nothing was said before it. */
function* inSentence(
  sentence: string,
  whole: Statement["language"],
  said: Said,
  isFirst: boolean,
): Generator<Statement> {
  const language = languageIn(sentence, whole);
  const tables = tablesOf(language);
  const base = { ...said, language };
  const subject = SUBJECT.exec(sentence)?.[0];
  if (subject !== undefined) {
    const text = sentence.slice(subject.length);
    yield { ...base, text, reply: text, asks: false, isHeading: true };
    return;
  }
  if (tables === undefined) {
    const asked = asks(sentence, tables);
    yield { ...base, text: sentence, reply: sentence, asks: asked, isHeading: false };
    return;
  }
  for (const part of parts(sentence, tables).flatMap((one) => withoutQuestion(one, tables))) {
    const text = withoutOpening(part, tables);
    const heads = isFirst && said.speaker === undefined && isHeading(text, tables);
    const reply = tables.yesOrNo.test(part) ? part : text;
    yield { ...base, text, reply, asks: asks(text, tables), isHeading: heads };
  }
}

/** The sentences of a text in order, by speaker. */
export function* statements(text: string): Generator<Statement> {
  const language = languageOf(text);
  const tables = tablesOf(language);
  const found = turns(text);
  const [only] = found;
  const isLetter = found.length === 1 && only?.speaker === undefined && tables !== undefined;
  const letter = isLetter ? signed(only?.text ?? "", tables) : undefined;
  let isFirst = isLetter;
  for (const [turn, { speaker, text: spoken, assistant }] of found.entries()) {
    const isSigned = letter?.name !== undefined;
    const said = { speaker: letter?.name ?? speaker, isSigned, assistant, turn };
    for (const sentence of sentences(letter?.body ?? spoken)) {
      if (HEADER.test(sentence)) continue;
      yield* inSentence(sentence, language, said, isFirst);
      isFirst = false;
    }
  }
}
