import type { Proposal } from "./judge.ts";
import { ANY, isDated, namesIn, plainWordsIn, Said, tellOtherNumbers, type Word } from "./said.ts";
import { Statement } from "./same_statement.ts";
import * as wordings from "./wordings.ts";

/** The rule that finds what was said again because it was recalled. */
export const ECHO = "echo";
/** Longest text whose words are compared in any order, in characters. */
const SHORT = 400;
/** Most words of a statement of which a part may have moved. */
const MOST_MOVED = 16;
/** Most words that one side may have more. */
const MOST_CARRIERS = 2;

/** Finds that a new memory says what an older one says. */
export function judgeRepetition(older: string, newer: string): Proposal | undefined {
  if (tellOtherNumbers(older, newer)) return undefined;
  const hasSameWords = new Statement(older).saysTheSame(new Statement(newer));
  const same: Proposal = { kind: "restates", by: "same_words", score: 1 };
  if (older.length > SHORT || newer.length > SHORT) return hasSameWords ? same : undefined;
  const names = namesIn(older).union(namesIn(newer));
  const others = plainWordsIn(older).union(plainWordsIn(newer));
  const [a, b] = [new Said(older, names, others), new Said(newer, names, others)];
  if (a.isQuestion !== b.isQuestion || differsByHaving(a, b)) return undefined;
  if (hasSameWords) return same;
  if (!saysTheSame(a, b)) return undefined;
  return { kind: "restates", by: b.isEcho ? ECHO : "other_words", score: 0.9 };
}

/** Whether one says what somebody is, and the other what somebody has, and nothing else tells it. */
function differsByHaving(a: Said, b: Said): boolean {
  return a.has !== b.has && !(a.isNaming && b.isNaming) &&
    Math.max(a.words.length, b.words.length) <= 2;
}

function saysTheSame(a: Said, b: Said): boolean {
  if (a.words.length === 0 || b.words.length === 0) return false;
  if (a.denials !== b.denials) return false;
  if ((a.isDialogue || b.isDialogue) && !(a.isOrder && b.isOrder)) return false;
  if (!isOneTime(a, b) || !isOneMood(a, b)) return false;
  const pairs = matched(a, b);
  if (pairs === undefined) return false;
  return pairs.every(([one, other]) =>
    isOneTense(one, other, a, b) && isLedAlike(one, other) && isOneAgent(one, other, a, b)
  ) &&
    hasSameNumbers(a, b) && hasSameRoles(a, b) && hasSameOrder(a, b);
}

/** Whether both are of the past, of the present, or of the future. */
function isOneTime(a: Said, b: Said): boolean {
  if (a.wasBefore !== b.wasBefore && !(a.hasPast && b.hasPast)) return false;
  if (a.isFuture === b.isFuture) return true;
  return a.numbers.length > 0 && b.numbers.length > 0;
}

/** Whether both tell what is, or both what has to be. */
function isOneMood(a: Said, b: Said): boolean {
  if (a.must !== b.must) return a.must ? b.isOrder : a.isOrder;
  return true;
}

type Pairs = readonly (readonly [Word, Word])[];

/** The words of one statement with those of the other; `undefined` unless each says all of the other. */
function matched(a: Said, b: Said): Pairs | undefined {
  const pairs: (readonly [Word, Word])[] = [];
  // Who gives an order wants it.
  const isTold = ({ sense }: Word, other: Said) => sense !== WANT || !other.isOrder;
  const left = b.words.filter((word) => isTold(word, a));
  const missing: Word[] = [];
  for (const one of a.words.filter((word) => isTold(word, b))) {
    const at = left.findIndex((other) => isSameWord(one, other));
    if (at >= 0) pairs.push([one, ...left.splice(at, 1)] as [Word, Word]);
    else if (!b.words.some((other) => isSameWord(one, other))) missing.push(one);
  }
  const more = left.filter((other) => !a.words.some((one) => isSameWord(one, other)));
  if (missing.length === 0 && more.length === 0) {
    return pairs;
  }
  if (missing.length > 0 && more.length > 0) return undefined;
  const [carriers, other] = missing.length > 0 ? [missing, b] : [more, a];
  const isCarried = carriers.every((word) => isCarrier(word, other));
  return carriers.length <= MOST_CARRIERS && pairs.length >= 2 && isCarried ? pairs : undefined;
}

const WANT = "want";
const sensesOf = (words: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(new Said([...words].join(" ")).words.map(({ sense }) => sense));
const NOUN_CARRIERS = sensesOf(wordings.NOUN_CARRIERS);
const VERB_CARRIERS = sensesOf(wordings.VERB_CARRIERS);
const COUNTED = sensesOf(new Set(["age", "size", "number"]));

/** Whether a word adds nothing to what another statement says without it. */
function isCarrier({ sense, isName, preposition }: Word, other: Said): boolean {
  if (isName) return false;
  if (sense === "plan") return other.isFuture;
  if (sense === "use") return other.isEcho && other.isOrder;
  if (sense === "they") return other.isDone;
  // In place of "is" and "has" they would tell something.
  if (VERB_CARRIERS.has(sense)) return !other.isState;
  // "By day" tells when.
  const isLed = preposition !== "" && preposition !== "of" && preposition !== ANY;
  return NOUN_CARRIERS.has(sense) && (!isLed || COUNTED.has(sense));
}

/** Names are the same only letter by letter: endings make Ann of Anne. */
function isSameWord(a: Word, b: Word): boolean {
  return a.form === b.form || (a.sense === b.sense && !a.isName && !b.isName);
}

/** Whether a word is of one time in both statements. */
function isOneTense(one: Word, other: Word, a: Said, b: Said): boolean {
  if (one.form === other.form || one.isPast === other.isPast) return true;
  const past = one.isPast ? one : other;
  // The noun of a verb: "our first kiss was".
  return past.isPassive || (one.isPast ? b : a).hasPast;
}

const AGENT = /(?:er|or)s?$/u;

/** Whether who does something is told of in both: "she plays" and "she is a player", no play. */
function isOneAgent(one: Word, other: Word, a: Said, b: Said): boolean {
  if (AGENT.test(one.form) === AGENT.test(other.form)) return true;
  const who = (said: Said) => said.parties.map((party) => party.who).sort().join("\n");
  return a.parties.length > 0 && who(a) === who(b);
}

/** Whether what stands before a word leaves it in its place. */
function isLedAlike(a: Word, b: Word): boolean {
  const [one, other] = [a.preposition, b.preposition];
  if (one === "" || other === "" || one === other || one === ANY || other === ANY) return true;
  const isTime = /\d/u.test(a.form) || isDated(a.form) || wordings.TIMES.has(a.form);
  if (isTime && wordings.AT_TIMES.has(one) && wordings.AT_TIMES.has(other)) return true;
  return wordings.LIKE_PREPOSITIONS.some((pair) => pair.has(one) && pair.has(other));
}

function hasSameNumbers(a: Said, b: Said): boolean {
  if (a.numbers.length !== b.numbers.length) return false;
  const inOrder = a.numbers.every(([number], i) => number === b.numbers[i]![0]);
  // In another order each has to belong to what it belonged to.
  return inOrder ||
    a.numbers.every(([number, next]) =>
      b.numbers.some(([other, after]) => number === other && next === after)
    );
}

/** Whether the same do it, to the same. */
function hasSameRoles(a: Said, b: Said): boolean {
  const of = (said: Said, other: Said) =>
    said.parties.filter(({ who, preposition }) => {
      const there = other.parties.find((party) => party.who === who);
      return there !== undefined &&
        (there.preposition !== preposition || preposition === "" || preposition === "by") &&
        there.preposition !== ANY && preposition !== ANY;
    }).map(({ who }) => who);
  const [one, other] = [of(a, b), of(b, a)];
  // Somebody who is the boss here, and there the boss of somebody.
  const isPart = (whole: string, part: string) =>
    whole !== part && whole.split(" ").some((word) => part.split(" ").includes(word));
  if (a.parties.some((party) => b.parties.some(({ who }) => isPart(party.who, who)))) return false;
  if (one.length < 2) return true;
  const inOrder = one.join("\n") === other.join("\n");
  if (inOrder) return a.isPassive === b.isPassive;
  return one.length === 2 && a.isPassive !== b.isPassive;
}

/** Whether words are in the same order, or in another one that says the same. */
function hasSameOrder(a: Said, b: Said): boolean {
  if (isTurned(a, b)) return true;
  if (a.isOrdered || b.isOrdered) return false;
  // "Folders hold papers" and "papers are in folders", "Ann called Ben" and "Ben was called by Ann".
  if (a.isPassive !== b.isPassive) return true;
  if (isOneSubject(a, b) && isMoved(a.words, b.words)) return true;
  return (a.isState || b.isState) && !isSwapped(a, b);
}

/** Whether the same do it: the one who speaks and nobody else, or what comes first in both. */
function isOneSubject(a: Said, b: Said): boolean {
  const isMine = ({ parties: [party, ...rest] }: Said) =>
    party?.who === "i" && party.preposition === "" && rest.length === 0;
  const [first, other] = [a.words[0], b.words[0]];
  return (isMine(a) && isMine(b)) ||
    (first?.preposition === "" && other?.preposition === "" && isSameWord(first, other));
}

/** Whether a part has moved to another place, with what led it: "my keys I keep in the safe". */
function isMoved(a: readonly Word[], b: readonly Word[]): boolean {
  if (a.length !== b.length || a.length > MOST_MOVED) return false;
  const isSame = (one: Word, other: Word) =>
    isSameWord(one, other) && one.preposition === other.preposition;
  for (let from = 0; from < a.length; from++) {
    for (let to = from + 1; to <= a.length; to++) {
      const part = a.slice(from, to);
      const rest = [...a.slice(0, from), ...a.slice(to)];
      for (let at = 0; at <= rest.length; at++) {
        const moved = [...rest.slice(0, at), ...part, ...rest.slice(at)];
        if (moved.every((word, i) => isSame(word, b[i]!))) return true;
      }
    }
  }
  return false;
}

/** Whether two words have changed places behind a preposition. */
function isSwapped(a: Said, b: Said): boolean {
  const led = (one: Word, said: Said) =>
    said.words.find((word) => isSameWord(word, one))?.preposition ?? "";
  const changes = a.words.map((word) => [word.preposition, led(word, b)] as const);
  return changes.some(([before, after]) =>
    before !== "" && after === "" &&
    changes.some(([other, then]) => other === "" && then === before)
  );
}

/** Whether the words of one are those of the other, or these with a part moved to the front. */
function isTurned(a: Said, b: Said): boolean {
  const led = a.words.find((word) =>
    word.preposition !== "" &&
    b.words.some((other) => isSameWord(word, other) && other.preposition === word.preposition)
  );
  const without = (said: Said) => {
    const at = said.words.findIndex((word) => led !== undefined && isSameWord(word, led));
    const isNumber = /\d/u.test(said.words[at + 1]?.form ?? "");
    return said.words.filter((_, i) => i !== at && !(isNumber && i === at + 1));
  };
  return isRotated(a.words, b.words) || (led !== undefined && isRotated(without(a), without(b)));
}

function isRotated(a: readonly Word[], b: readonly Word[]): boolean {
  const shared = (said: readonly Word[], others: readonly Word[]) =>
    said.filter((word) => others.some((other) => isSameWord(word, other)));
  const [one, other] = [shared(a, b), shared(b, a)];
  if (one.length !== other.length) return false;
  const { length } = one;
  for (let by = 0; by < length; by++) {
    if (other.every((word, i) => isSameWord(word, one[(i + by) % length]!))) return true;
  }
  return false;
}
