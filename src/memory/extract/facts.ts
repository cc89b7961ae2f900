import { Draft, render } from "./draft.ts";
import { countWords, importanceOf, KEEP, MEDIUM, score, worth } from "./score.ts";
import { type Statement, statements, tablesOf } from "./statements.ts";
import { Referents } from "./pronouns.ts";

export interface Fact {
  readonly text: string;
  /** 0.9, 0.5 or 0.2. */
  readonly importance: number;
}

/** Score from which a sentence is kept with the one it refers to: it costs no fact of its own. */
const KEEP_JOINED = 0.05;
/** The same within the answer to a question. */
const KEEP_ANSWERING = -1;
/** What a question adds to its answer: somebody wanted to know. */
const ASKED = 0.5;
/** Words up to which a sentence is not read without what its pronoun stands for. */
const POINTING_WORDS = 10;
/** Words up to which a sentence without a verb leans on the one before it. */
const FRAGMENT_WORDS = 12;
/** The thing that a sentence begins with. */
const DEFINITE =
  /^(?:the|this|these|der|die|das|dieser?|el|la|los|las|le|les|l['’])\s?(\p{L}{3,})(?!\p{L})/iu;

/** Whether a sentence has no verb in its first part. */
function isFragment({ text, language }: Statement): boolean {
  const tables = tablesOf(language);
  if (tables === undefined) return false;
  if (tables.firstPerson.exec(text)?.index === 0) return false;
  const [head = ""] = text.split(/[,;]\s/, 1);
  return countWords(text) <= FRAGMENT_WORDS && !tables.verb.test(head);
}

/** Whether a sentence is about the thing that a fact has just named. */
function goesOn({ text, language }: Statement, last: Draft): boolean {
  const pointing = tablesOf(language)?.pointing;
  if (pointing?.test(text) && countWords(text) <= POINTING_WORDS) return true;
  const thing = DEFINITE.exec(text)?.[1]?.toLowerCase();
  // Rows about one thing each name it alike, and can be read alone.
  const begins = last.statements.some((one) =>
    DEFINITE.exec(one.text)?.[1]?.toLowerCase() === thing
  );
  return thing !== undefined && !begins && last.names(thing);
}

/** Goes through the sentences of a text, and keeps what is worth it. */
class Reader {
  readonly #drafts: Draft[] = [];
  readonly #lastOf = new Map<string | undefined, Draft>();
  readonly #referents = new Referents();
  /** The sentence before in the same turn. */
  #before: Statement | undefined;
  /** The last question of somebody else's turn just before. */
  #asked: Statement | undefined;
  /** The last question of this turn. */
  #asking: Statement | undefined;
  /** A heading that stands before the next fact. */
  #heading: Statement | undefined;
  #turn = 0;
  #at = 0;

  read(statement: Statement): void {
    if (statement.turn !== this.#turn) this.#asked = this.#asking;
    if (statement.turn !== this.#turn) this.#asking = this.#before = undefined;
    this.#turn = statement.turn;
    this.#at++;
    if (statement.isHeading) this.#head(statement);
    else if (statement.asks) this.#asking = statement;
    else if (!statement.assistant) this.#take(statement);
    this.#referents.note(statement.text);
    this.#before = statement.asks ? undefined : statement;
  }

  #take(statement: Statement): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked !== undefined && this.#answer(statement, asked)) return;
    const { text, language } = statement;
    const value = worth(text, language);
    const tables = tablesOf(language);
    const last = this.#last(statement);
    const refers = tables?.referring.test(text) ?? false;
    const isPart = this.#before !== undefined && isFragment(statement);
    const leans = refers || isPart || last !== undefined && goesOn(statement, last);
    const floor = last?.answers === statement.turn ? KEEP_ANSWERING : KEEP_JOINED;
    if (value < (leans ? floor : KEEP)) return;
    const importance = tables === undefined ? MEDIUM : importanceOf(text, tables);
    if (leans && last?.add([statement], { value, importance }, this.#at)) return;
    if (value >= KEEP) this.#begin(new Draft(statement, { value, importance }, this.#at), refers);
  }

  /** The fact that a sentence may go on: the one just before it, or what the speaker said last. */
  #last(statement: Statement): Draft | undefined {
    const last = this.#lastOf.get(statement.speaker);
    return last?.isJustBefore(statement.turn, this.#at) ? last : undefined;
  }

  /** Keeps a heading for the next fact; the one before stands for itself. */
  #head(statement: Statement | undefined): void {
    const { text = "", language = "other" } = this.#heading ?? {};
    const value = this.#heading === undefined ? -Infinity : worth(text, language);
    if (this.#heading !== undefined && value >= KEEP) {
      const tables = tablesOf(language);
      const importance = tables === undefined ? MEDIUM : importanceOf(text, tables);
      this.#push(new Draft(this.#heading, { value, importance }, this.#at));
    }
    this.#heading = statement;
  }

  #begin(draft: Draft, refers: boolean): void {
    const [statement] = draft.statements;
    if (this.#heading !== undefined) draft.precede(this.#heading);
    else if (refers && statement !== undefined) this.#explain(draft, statement);
    this.#heading = undefined;
    this.#push(draft);
  }

  #push(draft: Draft): void {
    this.#drafts.push(draft);
    this.#lastOf.set(draft.speaker, draft);
  }

  /** Makes plain what a sentence refers to that follows no fact. */
  #explain(draft: Draft, { text, language }: Statement): void {
    const resolved = this.#referents.resolve(text, language);
    if (resolved !== undefined) draft.reword(resolved);
    else if (this.#before !== undefined) draft.precede(this.#before);
  }

  /** Takes a short answer together with its question, if it is worth it. */
  #answer(statement: Statement, asked: Statement): boolean {
    const tables = tablesOf(statement.language);
    if (tables === undefined) return false;
    const text = statement.reply;
    const isElliptic = !tables.verb.test(asked.text);
    const isAnswer = isElliptic || tables.yesOrNo.test(text) || isFragment(statement);
    if (!isAnswer || tables.offer.test(asked.text)) return false;
    const importance = importanceOf(`${asked.text} ${text}`, tables);
    const value = score(statement.text, tables) + Math.max(0, score(asked.text, tables)) + ASKED;
    if (value < KEEP_JOINED) return false;
    const answer = { ...statement, text };
    const last = this.#last(statement);
    const goesOn = isElliptic || tables.pronoun.test(asked.text);
    if (goesOn && last?.add([asked, answer], { value, importance }, this.#at)) return true;
    if (value < KEEP || isElliptic && !isFragment(statement)) return false;
    const draft = new Draft(answer, { value, importance }, this.#at);
    draft.precede(asked);
    draft.answers = statement.turn;
    this.#push(draft);
    return true;
  }

  facts(most: number): Fact[] {
    this.#head(undefined);
    const best = new Set([...this.#drafts].sort((a, b) => b.value - a.value).slice(0, most));
    return this.#drafts.filter((draft) => best.has(draft)).map((draft) => ({
      text: render(draft),
      importance: draft.importance,
    }));
  }
}

/**
 * Facts of a text, found by rules: its own sentences, in order, without greetings and fillers, and
 * those of a conversation with the speaker's name in front. A sentence that refers to the one before
 * it stands together with it, or has its pronoun replaced by what it plainly means; a short answer
 * stands behind its question. What an assistant states is left out. There are cues for English,
 * German, Spanish and French; of another language every statement is kept.
 *
 * @param most facts that are answered: those with the highest score.
 */
export function extractFacts(text: string, most: number): Fact[] {
  const reader = new Reader();
  for (const statement of statements(text)) reader.read(statement);
  return reader.facts(most);
}
