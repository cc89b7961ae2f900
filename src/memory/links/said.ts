import { stem } from "porter2";
import { compatible } from "../../index/words/words.ts";
import { lately } from "./lately.ts";
import { withoutContractions } from "./same_statement.ts";
import { IRREGULAR, SYNONYMS } from "./synonyms.ts";
import * as wordings from "./wordings.ts";

/** A word that tells something. */
export interface Word {
  /** The same for words that say the same. */
  readonly sense: string;
  /** As it stands there, in lower case. */
  readonly form: string;
  /** Whether it is written as a name. */
  readonly isName: boolean;
  /** Whether it is a past form, or a participle. */
  readonly isPast: boolean;
  /** Whether it is a participle behind a form of "to be" in the present. */
  readonly isPassive: boolean;
  /** The preposition in front of it, if any. */
  readonly preposition: string;
}

/** Somebody who does something, or to whom it is done. */
export interface Party {
  readonly who: string;
  readonly preposition: string;
}

const TOKEN =
  /\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?(?![\p{L}\p{N}])|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*|[\p{Sc}%#§°+;]/gu;
const NAME = /(?<![.!?:\n"“”()]\s{0,3})(?<=\S\s*)\p{Lu}[\p{L}\p{M}]*/gu;
const DATED =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december)$/u;
/** Whether a word is a month or a day of the week. */
export function isDated(form: string): boolean {
  return DATED.test(form);
}

const PRESENT_BE = new Set(["is", "are", "am", "be", "being", "get", "gets"]);
const PAST_BE = new Set(["was", "were", "did", "had", "been", "usedto"]);
/** What stands between an owner and what is owned. */
const OWNER = "¤";
/** In place of a preposition that is not there. */
export const ANY = "any";
/** Third persons, by their forms. */
const THIRD: ReadonlyMap<string, string> = new Map(
  ["he him his himself", "she her hers herself", "they them their theirs themselves"]
    .flatMap((forms) =>
      forms.split(" ").map((form): [string, string] => [form, forms.split(" ")[0]!])
    ),
);
const FIRST_PERSON = /\b(?:i|me|my|we|us|our|mine|ours)\b/u;
const SECOND_PERSON = /\b(?:you|your|yours)\b/u;
const SUBJECTS = new Set(["i", "me", "we", "us"]);

const senses: ReadonlyMap<string, string> = new Map(
  SYNONYMS.flatMap((group) => {
    const words = group.split(" ");
    return words.flatMap((word) =>
      [word, stem(word)].map((form): [string, string] => [form, words[0]!])
    );
  }),
);

function senseOf(form: string): string {
  const base = IRREGULAR.get(form) ?? form;
  const known = senses.get(base);
  if (known !== undefined) return known;
  const root = stem(base);
  return senses.get(root) ?? root;
}

/** Relations, as words are compared. */
const RELATIONS = new Set([...wordings.PERSONS].map(senseOf));

/** A statement without what only says that it was said before, or that somebody wants it. */
export function withoutOpening(plain: string): { readonly text: string; readonly isEcho: boolean } {
  let text = plain;
  for (const [pattern, instead] of wordings.ASKED) {
    const asked = text.replace(pattern, instead);
    if (asked !== text) return { text: asked, isEcho: true };
  }
  for (const opening of wordings.OPENINGS) text = text.replace(opening, "");
  return { text, isEcho: text !== plain };
}

const plainMarks = lately((text) =>
  compatible(text).replaceAll("’", "'").replaceAll(/\b(Mr|Mrs|Ms|Dr|St)\./gu, "$1").trim()
);

/** Words that are written as names: with a capital letter inside of a sentence; in lower case. */
export function namesIn(text: string): Set<string> {
  const found = plainMarks(text).match(NAME) ?? [];
  return new Set(found.map((name) => name.toLowerCase()).filter((name) => name !== "i"));
}

/** Words that are written without a capital letter somewhere. */
export function plainWordsIn(text: string): Set<string> {
  return new Set(plainMarks(text).match(/(?<!\p{L})\p{Ll}[\p{L}\p{M}]*/gu) ?? []);
}

/** A text in its plainest wording, and what it was before. */
interface Phrased {
  readonly original: string;
  readonly said: string;
  readonly isEcho: boolean;
  readonly plain: string;
  readonly tokens: readonly string[];
}

const phrased = lately((text): Phrased => {
  const original = plainMarks(text);
  const lower = original.toLowerCase()
    .replaceAll(/\b(?:the )?user's\b/gu, "my").replaceAll(/\bi'd\b/gu, "i")
    // Whose it is tells Ann's dog from a dog that is Ann's.
    .replaceAll(/(?<=\p{L})'s (?=\p{L})/gu, ` ${OWNER} `);
  const { text: said, isEcho } = withoutOpening(
    withoutContractions(lower).replaceAll(/\s+/gu, " "),
  );
  let plain = ` ${said} `;
  if (wordings.ANY_PHRASE.test(plain)) {
    for (const [pattern, instead] of wordings.PHRASES) plain = plain.replaceAll(pattern, instead);
  }
  return { original, said, isEcho, plain, tokens: numbered(plain.match(TOKEN) ?? []) };
});

/** Words that tell a number. */
const TELLS_NUMBER = new RegExp(
  `(?<![a-z])(?:${
    [...wordings.NUMBER_WORDS.keys(), ...wordings.TENS.keys()].join("|")
  }|hundred|thousand|dozen|tenth|fifth|quarter)(?![a-z])`,
  "iu",
);

/** The numbers of a text that are written in digits, each once, and whether all of its numbers are. */
const figuresOf = lately((text): { readonly figures: string; readonly isAll: boolean } => {
  const plain = compatible(text);
  const figures = plain.replaceAll(/(?<=\d):00\b/gu, "").replaceAll(/(?<=\d),(?=\d)/gu, "")
    .match(/\d+/gu) ?? [];
  return { figures: [...new Set(figures)].sort().join(" "), isAll: !TELLS_NUMBER.test(plain) };
});

/** Whether two texts tell different numbers, as far as digits show it: then they never say the same. */
export function tellOtherNumbers(a: string, b: string): boolean {
  const [one, other] = [figuresOf(a), figuresOf(b)];
  return one.isAll && other.isAll && one.figures !== other.figures;
}

/** What a short statement says, as far as its words tell. */
export class Said {
  /** Its words, in their order. */
  readonly words: readonly Word[];
  /** Its numbers with what stands behind each, in their order. */
  readonly numbers: readonly (readonly [number: string, next: string])[];
  /** How often something is denied. */
  readonly denials: number;
  readonly parties: readonly Party[];
  /** Whether somebody is told what to do. */
  readonly isOrder: boolean;
  readonly isQuestion: boolean;
  /** Whether it is of the future. */
  readonly isFuture: boolean;
  /** Whether it is of the past, by a form of "to be", "to have" or "to do". */
  readonly wasBefore: boolean;
  /** Whether any word is of the past. */
  readonly hasPast: boolean;
  /** Whether somebody has something. */
  readonly has: boolean;
  /** Whether it tells what something is called. */
  readonly isNaming: boolean;
  readonly must: boolean;
  /** Whether it tells what is, or what somebody has, beside what is done. */
  readonly isState: boolean;
  /** Whether it names who something is done by. */
  readonly isPassive: boolean;
  /** Whether something is done, by whomever. */
  readonly isDone: boolean;
  /** Whether it is about two who talk with each other. */
  readonly isDialogue: boolean;
  /** Whether it joins or compares several things, so that their order matters. */
  readonly isOrdered: boolean;
  /** Whether it says again what was said before, by its first words. */
  readonly isEcho: boolean;

  /**
   * @param names Words that are names, in lower case, as another text may show.
   * @param others Words that are none.
   */
  constructor(
    text: string,
    names: ReadonlySet<string> = namesIn(text),
    others: ReadonlySet<string> = new Set(),
  ) {
    const { original, said, isEcho, plain, tokens } = phrased(text);
    this.isEcho = isEcho;
    this.isDialogue = FIRST_PERSON.test(said) && SECOND_PERSON.test(said);
    this.isQuestion = /\?\s*$/u.test(said);
    const initial = /^\p{Lu}\p{Ll}+/u.exec(original)?.[0].toLowerCase() ?? "";
    const read = new Reader(tokens, names, others.has(initial) ? "" : initial);
    this.words = read.words;
    this.numbers = numbersOf(read.words);
    this.denials = tokens.filter((token) => wordings.NEGATIONS.has(token)).length;
    this.parties = read.parties;
    const [first = ""] = tokens;
    this.isOrder = tokens.includes("please") || wordings.ORDERS.has(first) ||
      (first === "never" || first === "always");
    this.isFuture = tokens.includes("will") || tokens.includes("shall");
    this.wasBefore = tokens.some((token) => PAST_BE.has(token));
    this.hasPast = this.wasBefore ||
      read.words.some(({ isPast, isPassive }) => isPast && !isPassive);
    this.has = tokens.some((token) => token === "have" || token === "has" || token === "having");
    this.isNaming = tokens.includes("named");
    this.must = tokens.some((token) => MUST.has(token));
    this.isPassive = /\b(?:is|are|was|were|been|being|be)\b(?: \w+){1,3}? by\b/u.test(plain);
    this.isDone = /\b(?:is|are|was|were|been|being|be) (?:\w+ )?\w+ed\b/u.test(plain);
    this.isState = tokens.some((token) => STATES.has(token));
    this.isOrdered =
      tokens.some((token) =>
        token === ";" || wordings.JOINTS.has(token) || wordings.COMPARING.has(token)
      ) || /[.!?]\s+\S/u.test(said.replaceAll(/\b(?:no|prof)\./gu, ""));
  }
}

const STATES = new Set("is are am was were be have has named".split(" "));
/** Between "is" and a participle these begin something else. */
const BREAKS = new Set(
  "when where what who how that the a an my our they we i you he she it".split(" "),
);
/** What may stand between a name and a relation. */
const BESIDE = new Set("is are was were my our the a an i named".split(" "));
const MUST = new Set(["must", "should", "ought", "need", "needs"]);

/** Number words as figures: "sixty-three" is 63, "two hundred" 200. */
function numbered(tokens: readonly string[]): string[] {
  const found: string[] = [];
  let last = -1;
  for (const token of tokens) {
    const value = wordings.NUMBER_WORDS.get(token) ?? wordings.TENS.get(token);
    const before = last >= 0 ? Number(found[last]) : undefined;
    const isJoined = last === found.length - 1;
    if (value !== undefined) {
      if (isJoined && before !== undefined && value < 10 && before >= 20 && before % 10 === 0) {
        found[last] = String(before + value);
      } else last = found.push(String(value)) - 1;
    } else if ((token === "hundred" || token === "thousand") && isJoined && before !== undefined) {
      found[last] = String(before * (token === "hundred" ? 100 : 1000));
    } else if (token === "hundred" || token === "thousand" || token === "dozen") {
      last = found.push(token === "dozen" ? "12" : token === "hundred" ? "100" : "1000") - 1;
    } else {
      const plain = token.replace(/(?<=\d)(?:st|nd|rd|th)$/u, "");
      found.push(/^\d{1,3}(?:,\d{3})+$/u.test(plain) ? plain.replaceAll(",", "") : plain);
    }
  }
  return found;
}

function numbersOf(words: readonly Word[]): [string, string][] {
  return words.flatMap(({ form }, i): [string, string][] =>
    /\d/u.test(form) ? [[form, words[i + 1]?.sense ?? ""]] : []
  );
}

/** Reads tokens: which are words that tell something, and who takes part. */
class Reader {
  readonly words: Word[] = [];
  readonly parties: Party[] = [];

  /** @param initial The first word of the text, which may be a name. */
  constructor(tokens: readonly string[], names: ReadonlySet<string>, initial: string) {
    const isSomebody = (token: string) =>
      ((names.has(token) || token === initial) && !DATED.test(token)) ||
      wordings.PERSONS.has(token);
    const hasSomebody = tokens.some(isSomebody);
    let preposition = "";
    let somebodyAt = -1;
    for (const [i, token] of tokens.entries()) {
      if (wordings.LIGHT.has(token)) {
        preposition = token;
        continue;
      }
      if (SUBJECTS.has(token)) this.parties.push({ who: "i", preposition });
      if (token === "where" || token === "when") this.#placed(tokens[i - 1] ?? "");
      if (wordings.EMPTY.has(token) || wordings.NEGATIONS.has(token)) {
        if (token === "without") this.words.push(word(token, false, [], ""));
        continue;
      }
      const third = THIRD.get(token);
      if (third !== undefined && third !== token && hasSomebody) continue;
      if (token === ";") continue;
      if (token === OWNER) {
        const owner = this.parties.at(-1);
        if (owner === undefined || owner.who !== this.words.at(-1)?.sense) continue;
        this.parties[this.parties.length - 1] = { ...owner, preposition: "of" };
        continue;
      }
      const isName = names.has(token) && !DATED.test(token);
      const made = word(third ?? token, isName, tokens.slice(Math.max(0, i - 3), i), preposition);
      this.words.push(made);
      if (isSomebody(token)) {
        this.#take({ who: made.sense, preposition }, tokens.slice(somebodyAt + 1, i));
        somebodyAt = i;
      }
      preposition = "";
    }
  }

  /** "Rome is where Ann lives" tells the place first: it is led by nothing, as it would be behind. */
  #placed(before: string): void {
    if (!STATES.has(before)) return;
    for (const [i, one] of this.words.entries()) {
      if (one.preposition === "") this.words[i] = { ...one, preposition: ANY };
    }
    for (const [i, party] of this.parties.entries()) {
      if (party.preposition === "") this.parties[i] = { ...party, preposition: ANY };
    }
  }

  /** A name beside a relation is the same party: "my niece Ottilia", "Ottilia is my niece". */
  #take(party: Party, between: readonly string[]): void {
    const last = this.parties.at(-1);
    const isRelation = (one: Party) => RELATIONS.has(one.who);
    const isSame = last !== undefined && last.who !== "i" &&
      isRelation(last) !== isRelation(party) &&
      this.words.at(-2)?.sense === last.who && between.every((token) => BESIDE.has(token));
    if (!isSame) {
      this.parties.push(party);
      return;
    }
    // The relation first: "Ottilia, my niece" is "my niece Ottilia".
    const [one, other] = this.words.splice(-2);
    if (wordings.PERSONS.has(one!.form)) this.words.push(one!, other!);
    else this.words.push(other!, one!);
    const who = [last.who, party.who].sort().join(" ");
    this.parties[this.parties.length - 1] = { who, preposition: last.preposition };
  }
}

function word(
  form: string,
  isName: boolean,
  before: readonly string[],
  preposition: string,
): Word {
  const last = before.at(-1) === "not" ? before.at(-2) : before.at(-1);
  const isPast = !isName && !/eed$/u.test(form) &&
    (IRREGULAR.has(form) || /[a-z]{2}ed$/u.test(form) || last === "did" ||
      (last === "been" && /ing$/u.test(form)));
  const isBeside = PRESENT_BE.has(last ?? "") ||
    (PRESENT_BE.has(before.at(-2) ?? "") && !BREAKS.has(last ?? ""));
  const isPassive = isPast && isBeside;
  return { sense: isName ? form : senseOf(form), form, isName, isPast, isPassive, preposition };
}
