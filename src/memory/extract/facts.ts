import { importanceOf, isQuestion, languageOf, MEDIUM, score } from "./cues.ts";
import { sentences } from "./sentences.ts";
import { turns } from "./turns.ts";

export interface Fact {
  readonly text: string;
  /** 0.9, 0.5 or 0.2. */
  readonly importance: number;
}

/** A sentence that was kept, and what may still be joined to it. */
interface Kept {
  readonly speaker: string | undefined;
  readonly score: number;
  readonly importance: number;
  readonly sentences: string[];
  /** Turn of the last one. */
  turn: number;
  /** Number of the last one among all sentences. */
  at: number;
}

/** Score from which a sentence is kept; set on the development texts. */
const KEEP = 0.6;
/** A sentence that starts with one of these needs the one before it to be understood. */
const REFERS =
  /^(?:he|she|it|they|him|her|his|its|their|this|that|these|those|there|both|one of them|the (?:other|second|first|same) one|he['’]s|she['’]s|it['’]s|they['’]re)\b/i;
/** Sentences of one fact, and their characters together. */
const JOINED_SENTENCES = 3;
const JOINED_CHARACTERS = 280;

function joins(fact: Kept, sentence: string): boolean {
  const length = fact.sentences.reduce((sum, part) => sum + part.length + 1, sentence.length);
  return fact.sentences.length < JOINED_SENTENCES && length <= JOINED_CHARACTERS;
}

/** Whether a sentence in a language without cues is kept: a statement of some length. */
function isStatement(sentence: string): boolean {
  if (isQuestion(sentence) || sentence.endsWith("!")) return false;
  const words = sentence.split(/\s+/).length;
  return words >= 3 ||
    /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]{5}/u.test(sentence);
}

/** Score of a sentence; without cues for its language it is kept or not. */
function worth(sentence: string, language: ReturnType<typeof languageOf>): number {
  if (language === "english") return score(sentence);
  const isKept = isStatement(sentence) && (language === "other" || sentence.endsWith("."));
  const value = isKept ? KEEP : -Infinity;
  return language === "other" ? value : Math.max(value, score(sentence));
}

/**
 * Facts of a text, found by rules: its own sentences, verbatim and in order, those of a
 * conversation with the speaker's name in front. A sentence that starts with a pronoun stands
 * together with the one before it. What an assistant says is left out. The cues are English;
 * of another language every statement is kept.
 *
 * @param most facts that are answered: those with the highest score.
 */
export function extractFacts(text: string, most: number): Fact[] {
  const language = languageOf(text);
  const english = language !== "other";
  const kept: Kept[] = [];
  let at = 0;
  for (const [turn, { speaker, text: said, assistant }] of turns(text).entries()) {
    if (assistant) continue;
    let before: string | undefined;
    for (const sentence of sentences(said)) {
      at++;
      const value = worth(sentence, language);
      const previous = before;
      before = isQuestion(sentence) ? undefined : sentence;
      if (value < KEEP) continue;
      const importance = english ? importanceOf(sentence) : MEDIUM;
      const refers = english && REFERS.test(sentence);
      const last = kept.findLast((fact) => fact.speaker === speaker);
      // The fact just before it, or what the same speaker said last.
      const follows = last !== undefined &&
        (last.turn === turn ? last.at === at - 1 : turn - last.turn <= 2);
      if (refers && last !== undefined && follows && joins(last, sentence)) {
        last.sentences.push(sentence);
        last.turn = turn;
        last.at = at;
        continue;
      }
      const alone: Kept = { speaker, score: value, importance, sentences: [sentence], turn, at };
      if (refers && previous !== undefined && joins(alone, previous)) {
        alone.sentences.unshift(previous);
      }
      kept.push(alone);
    }
  }
  const best = new Set([...kept].sort((a, b) => b.score - a.score).slice(0, most));
  return kept.filter((fact) => best.has(fact)).map(({ speaker, sentences, importance }) => ({
    text: `${speaker === undefined ? "" : `${speaker}: `}${sentences.join(" ")}`,
    importance,
  }));
}
