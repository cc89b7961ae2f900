import type { Statement } from "./statements.ts";
import { tablesOf } from "./statements.ts";

/** Sentences of one fact, and their characters together. */
const MOST_SENTENCES = 3;
const MOST_CHARACTERS = 280;
/** Turns after which somebody goes on with something else. */
const NEAR_TURNS = 2;

/** What a sentence is worth, and for how long it may matter. */
interface Weight {
  readonly value: number;
  readonly importance: number;
}

/** A fact that is being put together. */
export class Draft {
  readonly speaker: string | undefined;
  value: number;
  importance: number;
  readonly statements: Statement[];
  /** Number of the turn that answers its question. */
  answers: number | undefined;
  /** Number of the last sentence's turn, and of the sentence in the text. */
  #turn: number;
  #at: number;

  constructor(statement: Statement, { value, importance }: Weight, at: number) {
    this.speaker = statement.speaker;
    this.value = value;
    this.importance = importance;
    this.statements = [statement];
    this.#turn = statement.turn;
    this.#at = at;
  }

  isJustBefore(turn: number, at: number): boolean {
    return this.#turn === turn ? this.#at === at - 1 : turn - this.#turn <= NEAR_TURNS;
  }

  #holds(more: readonly Statement[]): boolean {
    const all = [...this.statements, ...more];
    const length = all.reduce((sum, { text }) => sum + text.length + 1, 0);
    return all.length <= MOST_SENTENCES + more.length - 1 && length <= MOST_CHARACTERS;
  }

  /** Adds sentences, unless the fact would become too long. */
  add(more: readonly Statement[], { value, importance }: Weight, at: number): boolean {
    if (!this.#holds(more)) return false;
    this.statements.push(...more);
    this.value = Math.max(this.value, value);
    this.importance = Math.max(this.importance, importance);
    this.#turn = more.at(-1)?.turn ?? this.#turn;
    this.#at = at;
    return true;
  }

  /** Puts a sentence in front, unless the fact would become too long. */
  precede(statement: Statement): void {
    if (this.#holds([statement])) this.statements.unshift(statement);
  }

  /** Whether a sentence of it has the word, which is in lower case. */
  names(word: string): boolean {
    return this.statements.some(({ text }) =>
      text.toLowerCase().split(/[^\p{L}]+/u).includes(word)
    );
  }

  /** Gives the first sentence other words. */
  reword(text: string): void {
    const [first] = this.statements;
    if (first !== undefined) this.statements[0] = { ...first, text };
  }
}

/** A fact as it is read: its sentences, with the speaker's name where it is needed. */
export function render({ statements }: Draft): string {
  let text = "";
  let before: Statement | undefined;
  for (const statement of statements) {
    const changes = before !== undefined &&
      (before.turn !== statement.turn && before.speaker !== statement.speaker ||
        before.assistant !== statement.assistant);
    const names = before === undefined || changes;
    if (before !== undefined) text += changes ? " – " : between(before);
    text += `${names ? nameOf(statement, statements) : ""}${statement.text}`;
    before = statement;
  }
  return text;
}

/** What parts a sentence from the next: lines and turns often have no full stop. */
function between({ text, isHeading }: Statement): string {
  if (/[.!?…:;,。！？]["'”’»)\]]{0,3}$/u.test(text)) return " ";
  return isHeading ? ": " : "; ";
}

/** The name in front; who signed a letter is named only where somebody says `I`. */
function nameOf(statement: Statement, statements: readonly Statement[]): string {
  const { speaker, isSigned, assistant, language } = statement;
  if (speaker === undefined || assistant) return "";
  const first = tablesOf(language)?.firstPerson;
  const isSaid = !isSigned || statements.some(({ text }) => first?.test(text));
  return isSaid ? `${speaker}: ` : "";
}
