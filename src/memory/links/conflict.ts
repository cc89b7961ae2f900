import type { Proposal } from "./judge.ts";
import { lately } from "./lately.ts";
import { NAME, overlap, Statement } from "./statement.ts";

/**
 * Rules, and how sure each is. Set by hand: on the tuning data (`deno task eval conflicts`) nearly all
 * links are right, and texts of others vary more where a change is told than where a value is.
 */
const RULES = {
  /** The same thing has another number, date or time. */
  number: 0.95,
  /** The same thing has another name or place. */
  value: 0.95,
  /** It is said that something is not as it was, in words of the older statement. */
  change: 0.8,
  /** It is said that something is not as it was, about the same part of a life. */
  field: 0.8,
} as const;

/** Longer texts say more than one thing. */
const LONGEST = 400;
/** Cosines below which statements are about different things, whatever their words. */
const LEAST_COSINE = { any: 0.4, field: 0.45, change: 0.5, frame: 0.6 };
/** Share of the words of the shorter statement that both need. */
const LEAST_OVERLAP = { change: 0.5, withoutField: 0.7 };

/** A word, a number, a time or a code. */
const TOKEN = /[\p{L}\p{M}\p{N}$€£](?:[\p{L}\p{M}\p{N}'’.,:@/-]*[\p{L}\p{M}\p{N}%])?/gu;
/** Words that say that something is so from now on, and nothing about it. */
const FILLERS = new Set(
  "now currently today presently already jetzt inzwischen aktuell ahora actualmente".split(" "),
);
const SINCE =
  /\b(?:from now on|these days|nowadays|from this [\p{L}]+ on|since (?:last |this |the )?[\p{L}]+|seit (?:dem |der )?[\p{L}]+|desde [\p{L}]+)\b,?/giu;
/** Signs that something has changed, whatever it is about; "now" and "new" are none. */
const STRONG =
  /\b(?:no longer|any ?more|any longer|not .{1,40} after all|instead|switch\w*|changed|mov(?:ed|ing)|migrat\w+|relocat\w*|became|become|replac\w+|promoted|left|quit|retired|stopped|g[ai]ve[n]? up|cancel\w*|postpon\w+|reschedul\w+|extended|slipped|raised|lowered|cut to|upgraded|corrected|(?:went|gone) (?:up|down)|down to|used to|broke up|split up|called off|got married|divorced|handed|stepped down|dropped out|adopted|enrolled|hired|died|decided not|back (?:to|at|in|from)|nicht mehr|statt|umgezogen|gewechselt|ya no|en vez|cambi\w+|mud\w+|traslad\w+)\b/iu;
const STRONGLY = new RegExp(STRONG, "giu");
/** What is said besides, and takes nothing's place. */
const BESIDES = /\b(?:too|also|as well|auch|también|both)\b/iu;
const ARTICLES = new Set("a an the my our der die das el la los las".split(" "));
/** Values that a statement gives to a thing which has one of them at a time. */
const HAS_ONE =
  /\b(?:is|are|am|['’][smr]e?|has|have|lives?|works?|based|located|hosted|stays?|staying|moored|lies|costs?|weighs?|starts?|begins?|ends?|leaves?|lands?|opens?|closes?|lasts?|allows?|includes?|listens? on|needs?|uses?|prefers?|wants? to become|called|named|written|licensed under|runs? (?:on|with)|plays?|goes to|ist|sind|hat|kostet|empieza|wohnt|wohne|arbeitet|arbeite|es|está|vive|vivo|cuesta|trabajo|trabaja)$/iu;
/** Verbs behind which a number is a thing's own, and a day is not. */
const IS = /\b(?:is|are|starts?|begins?|ends?|leaves?|lands?|ist|sind|es|son)\b/iu;
/** Things of which there may be several. */
const MANY =
  /\b(?:one of|another|some|there (?:is|are)|also|friends?|colleagues?|cousins?|brothers?|sisters?|sons?|daughters?|child(?:ren)?|kids?|aunts?|uncles?|nephews?|nieces?|neighbou?rs?|hobb(?:y|ies)|allerg\w+)\b/iu;
/** Things of which there is one, whatever it is. */
const ONE =
  /\b(?:favou?rite|prefer\w*|preferred|default|current|main|only|best|wants? to become|lieblings\w*|favorit[oa])\b/iu;
/** Requests of how to answer. */
const REQUEST = /^(?:reply|answer|respond|write|call|address|speak|format|antworte|responde)\b/iu;
const NUMBER_WORD =
  /^(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|half|quarter|past|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|seis|siete|ocho|nueve|diez)$/iu;
/** Words before a place, a time or a purpose. */
const PREPOSITION = /^(?:in|on|at|for|with|from|to|behind|under|auf|im|am|mit|en|con|para)$/iu;
const YEAR = /\b(?:19|20)\d\d\b/gu;
const DAY =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)$/iu;
/** Fields in which "I moved" and "I live" need no word in common: home, work, love. */
const MOST_FIELD = 2;
/** Words that begin a sentence and name nobody. */
const OPENING = new Set(
  ("the a an my our your his her their its this that these those since in on at from for to of and but so " +
    "now instead there we you he she it they i i'm i've three more last next every no not when after before " +
    "as with without yesterday today der die das mein meine meinen unser unsere seit jetzt ich wir im am statt " +
    "el la los las mi mis nuestro nuestra ahora desde ya en yo de").split(" "),
);
const FIRST_PERSON =
  /\b(?:i|i['’]m|i['’]ve|me|my|mine|we|us|our|ours|ich|mein\w*|mir|mich|wir|uns\w*|yo|mi|mis|nuestr\w+)\b/iu;

/**
 * Whether a newer statement says something else about the same subject and attribute: by the words of
 * both alone, so that each decision can be explained. What is left open is no conflict: a link too few
 * costs less than one too many.
 *
 * @param cosine Of their vectors.
 */
export function judgeConflict(older: string, newer: string, cosine: number): Proposal | undefined {
  if (cosine < LEAST_COSINE.any) return undefined;
  if (older.length > LONGEST || newer.length > LONGEST) return undefined;
  const [was, is] = [statementOf(older), statementOf(newer)];
  const other = cosine >= LEAST_COSINE.frame ? otherValue(older, newer) : undefined;
  // Most texts end here.
  if (other === undefined && !is.isChange && !STRONG.test(newer)) return undefined;
  // What stands for the words there is shared by most texts.
  if (!was.isSpaced || !is.isSpaced || saysNothingElse(was, is)) return undefined;
  const rule = other ?? changed(older, was, newer, is, cosine);
  return rule && { kind: "conflicts", by: rule, score: RULES[rule] };
}

/** A new memory is compared with several. */
const statementOf = lately((text) => new Statement(text));

/** Whether all words of the newer one are in the older one. */
function saysNothingElse(was: Statement, is: Statement): boolean {
  return is.words.isSubsetOf(was.words) && !is.isChange;
}

const tokensOf = lately((text): readonly string[] => {
  const plain = text.replace(SINCE, " ");
  return (plain.match(TOKEN) ?? []).filter((token) => !FILLERS.has(token.toLowerCase()));
});

/** Where two statements differ: the words before, and those that stand in each other's place. */
interface Difference {
  readonly before: readonly string[];
  readonly was: readonly string[];
  readonly is: readonly string[];
  readonly after: readonly string[];
}

function difference(older: string, newer: string): Difference {
  const [a, b] = [tokensOf(older), tokensOf(newer)];
  const isSame = (i: number, j: number) => a.at(i)?.toLowerCase() === b.at(j)?.toLowerCase();
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && isSame(start, start)) start++;
  let end = 0;
  while (end < least - start && isSame(-1 - end, -1 - end)) end++;
  return {
    before: a.slice(0, start),
    was: a.slice(start, a.length - end),
    is: b.slice(start, b.length - end),
    after: a.slice(a.length - end),
  };
}

/** Most words of a value. */
const LONGEST_VALUE = 5;
/** Words before a value that tell what it is of, whatever their verb. */
const LONG_FRAME = 4;

/** The rule by which two statements of one form give one thing different values. */
function otherValue(older: string, newer: string): "number" | "value" | undefined {
  const { before, was, is } = difference(older, newer);
  const isValue = (value: readonly string[]) => value.length > 0 && value.length <= LONGEST_VALUE;
  if (!isValue(was) || !isValue(is)) return undefined;
  const said = before.join(" ");
  if (MANY.test(said) && !ONE.test(said)) return undefined;
  const isRequest = REQUEST.test(said) && (before.length >= 3 || /^call me$/iu.test(said));
  if (!isRequest && before.length < 2) return undefined;
  const [a, b] = [kindOf(was), kindOf(is)];
  if (a.rest !== b.rest || a.kind !== b.kind) return undefined;
  const isFromNowOn = tokensOf(newer).join(" ") !== (newer.match(TOKEN) ?? []).join(" ");
  const hasOne = before.some((_, i) => HAS_ONE.test(before.slice(0, i + 1).join(" ")));
  if (!isRequest && !hasOne && !(isFromNowOn && before.length >= LONG_FRAME)) return undefined;
  if (a.kind === "day") return IS.test(said) ? "number" : undefined;
  if (a.kind === "number") return "number";
  if (a.kind === "name") return /\b(?:has|have|hat|tiene)\b/iu.test(said) ? undefined : "value";
  // Another word alone may say something besides: "my car is red", "my car is old".
  const isPlace = [...was, ...is].some((token) => PREPOSITION.test(token));
  return !isPlace && (ONE.test(said) || isRequest || isFromNowOn) ? "value" : undefined;
}

type Kind = "day" | "number" | "name" | "word";

/** What a value is, and the words beside it that have to be the same in both. */
function kindOf(value: readonly string[]): { readonly kind: Kind; readonly rest: string } {
  const isNumber = (token: string) => /\d/.test(token) || NUMBER_WORD.test(token);
  const isDay = (token: string) => DAY.test(token);
  const isName = (token: string) => /^\p{Lu}/u.test(token);
  const rest = (is: (token: string) => boolean) =>
    value.filter((token) => !is(token) && !ARTICLES.has(token.toLowerCase())).join(" ")
      .toLowerCase();
  if (value.some(isDay)) return { kind: "day", rest: rest((t) => isDay(t) || isNumber(t)) };
  if (value.some(isNumber)) return { kind: "number", rest: rest(isNumber) };
  if (value.some(isName)) return { kind: "name", rest: rest(isName) };
  return { kind: "word", rest: "" };
}

/** The rule by which a newer statement says that what an older one says has changed. */
function changed(
  older: string,
  was: Statement,
  newer: string,
  is: Statement,
  cosine: number,
): "change" | "field" | undefined {
  const isStrong = STRONG.test(newer);
  if (!isStrong && !is.isChange) return undefined;
  if (BESIDES.test(newer) || !isAboutSame(older, was, newer, is)) return undefined;
  if (was.isChange && namesNothingNew(was, newer)) return undefined;
  const replaced = replacedIn(newer, was);
  if (replaced === "other") return undefined;
  if (replaced === "same") return "change";
  const fields = was.fields.filter((field) => is.fields.includes(field));
  // That something has changed is no word about it.
  const [a, b] = [wordsBeside(older), wordsBeside(newer)];
  if (was.isChange && a.isSubsetOf(b)) return undefined;
  const shared = a.intersection(b).size;
  const share = overlap(a, b);
  if (!isStrong) {
    const isEnough = fields.length > 0 && shared >= 2 && share >= LEAST_OVERLAP.change;
    return isEnough && cosine >= LEAST_COSINE.change ? "change" : undefined;
  }
  const least = fields.length > 0 ? LEAST_OVERLAP.change : LEAST_OVERLAP.withoutField;
  const isNamed = shared >= 2 || fields.length > 0;
  if (cosine >= LEAST_COSINE.change && share >= least && isNamed) return "change";
  const isSame = isSameThing(older, was, newer, is) &&
    (fields.length > 0 || (was.hasNumber && is.hasNumber) || ENDED.test(newer));
  if (isSame) return "change";
  const inLife = fields.some((field) => field <= MOST_FIELD) && hasSameSubject(was, newer, is);
  return inLife && cosine >= LEAST_COSINE.field && !areOfYears(older, newer) ? "field" : undefined;
}

/** Words of a text but for those that say that something has changed. */
function wordsBeside(text: string): ReadonlySet<string> {
  return new Statement(text.replace(STRONGLY, " ")).words;
}

/** What becomes of a plan, whatever it was. */
const ENDED = /\b(?:cancel\w*|postpon\w+|called off|slipped|abgesagt|verschoben|cancelad\w+)\b/iu;

/** Whether both tell of years, and of different ones: what happened twice contradicts nothing. */
function areOfYears(older: string, newer: string): boolean {
  const [a, b] = [older, newer].map((text) => new Set(text.match(YEAR)));
  return a!.size > 0 && b!.size > 0 && a!.isDisjointFrom(b!);
}

/** What is said to be no more: "from Leeds to", "instead of a watch". */
const REPLACED =
  /\b(?:from|instead of|statt|no longer|left|quit|stopped|g[ai]ven? up|cancelled|en vez de|ya no)\s+(.+?)(?=\s+(?:to|for|and|at|by|as|in|zu|por|a)\b|[,;.!]|$)/giu;

/** Whether what is said to be no more is in an earlier statement; `undefined` where nothing is. */
function replacedIn(newer: string, was: Statement): "same" | "other" | undefined {
  const phrases = [...newer.matchAll(REPLACED)]
    .map(([, phrase = ""]) => new Statement(phrase).words)
    .filter((said) => said.size > 0);
  if (phrases.length === 0) return undefined;
  if (phrases.some((said) => said.isSubsetOf(was.words))) return "same";
  return phrases.every((said) => said.isDisjointFrom(was.words)) ? "other" : undefined;
}

/** Whether both are about one thing that is no person, in the same words. */
function isSameThing(older: string, was: Statement, newer: string, is: Statement): boolean {
  if (was.subjects.length > 0 || namesIn(older, was).length + namesIn(newer, is).length > 0) {
    return false;
  }
  const [a, b] = [was, is].map(({ subject }) => new Statement(subject).words);
  return a!.size > 0 && a!.size === b!.size && a!.isSubsetOf(b!);
}

/** Whether a statement has names or numbers, and all of them are in an earlier one. */
function namesNothingNew(was: Statement, newer: string): boolean {
  const values = (newer.match(TOKEN) ?? []).map((token) => token.replace(/['’]s$/u, ""))
    .filter((token) => /^\p{Lu}|\d/u.test(token) && !OPENING.has(token.toLowerCase()));
  return values.length > 0 && values.every((value) => was.mentions(value.toLowerCase()));
}

/** Whether both are about the one who speaks, or about one who is named. */
function hasSameSubject(was: Statement, newer: string, is: Statement): boolean {
  const [first] = namesIn(newer, is);
  if (first !== undefined) return was.subject.includes(first);
  return FIRST_PERSON.test(was.subject) && FIRST_PERSON.test(is.subject);
}

/** Whether whoever one statement is about is in the other one as well. */
function isAboutSame(older: string, was: Statement, newer: string, is: Statement): boolean {
  const isMissing = (other: Statement) => (name: string) => !other.mentions(name);
  if ([...was.subjects, ...namesIn(older, was)].some(isMissing(is))) return false;
  if ([...is.subjects, ...namesIn(newer, is)].some(isMissing(was))) return false;
  return FIRST_PERSON.test(older) === FIRST_PERSON.test(newer);
}

/** Names before the verb. */
function namesIn(text: string, { subject }: Statement): string[] {
  const names = text.slice(0, subject.length).match(NAME) ?? [];
  return names.map((name) => name.toLowerCase())
    .filter((name) => !OPENING.has(name) && !DAY.test(name));
}
