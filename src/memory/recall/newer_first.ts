import { folded, words } from "../../index/words/words.ts";

/** A hit, as its place among others is decided. */
export interface Dated {
  readonly text: string;
  /** What hits are ordered by: the score of all legs, not bounded. */
  readonly rank: number;
  /** Since when it counts, milliseconds since the epoch. */
  readonly start: number;
}

/** Hits in another order. */
export interface Reordered {
  /** Positions of the hits, best first. */
  readonly order: readonly number[];
  /** Positions of a newer hit and of an older one that says something else about the same thing. */
  readonly conflicts: readonly (readonly [newer: number, older: number])[];
}

/**
 * A logistic model of whether a newer hit answers a question in the place of an older one. Fitted with
 * a ridge of 1 on the tuning part of the update test data, against facts that nothing replaced. `changeInField` was set by hand: fitted,
 * it would count statements that name no change as none. docs/recall.md has the figures.
 */
const WEIGHTS = {
  bias: -9.1,
  /** How far above unrelated hits the newer one stands, as a share of how far the older one does. */
  share: 2.1,
  /** How far above unrelated hits it stands. */
  above: 11.3,
  /** Score of the older one less that of the newer one. */
  gap: 0.35,
  /** Share of the words of the shorter text that both have. */
  overlap: 11.9,
  /** Whether both have words of one field of life. */
  field: 1.75,
  /** Whether the newer one says besides that something has changed. */
  changeInField: 3,
  /** Whether a number is asked for that the older one only has. */
  number: -6.9,
} as const;

/** Most that texts can add. */
const MOST = WEIGHTS.overlap + WEIGHTS.field + WEIGHTS.changeInField;
/** Odds, as a logarithm, from which the newer one comes first: a probability of 0.3. */
const LEAST = Math.log(0.3 / 0.7);
/** Place of the hit that is taken for an unrelated one, and its score where there are fewer. */
const UNRELATED = { place: 9, score: 0.3 };
/** Longer texts say more than one thing. */
const LONGEST = 400;
const MOST_SHARE = 1.5;
const LEAST_ABOVE = 0.02;

/** Signs that something is not as it was: English, German, Spanish. */
const CHANGE =
  /\b(?:now|no longer|any ?more|instead|switch\w*|chang\w*|mov(?:ed|ing)|migrat\w+|relocat\w*|became|become|replac\w+|promot\w+|since|left|quit|retired|stopped|cancel\w*|postpon\w+|reschedul\w+|rais(?:ed)?|lowered|upgraded|corrected|went (?:up|down)|down to|up to|new|again|another|yet|these days|used to|broke up|divorced|handed|adopted|enrolled|passed|found a|has? (?:moved|left|changed)|jetzt|nicht mehr|inzwischen|mittlerweile|seit|statt|neue[rns]?|umgezogen|gewechselt|ahora|ya no|desde|en vez|cambi\w+|mud\w+|traslad\w+|nuev[oa])\b/iu;

/** Fields of life, in words that tell of them: English, German, Spanish. */
const FIELDS: readonly RegExp[] = [
  /\b(?:liv(?:e|es|ed|ing)|home|flat|apartment|house|reside\w*|moved?|address|town|city|based|stay(?:s|ing|ed)?|located|headquarter\w*|office|harbour|moored|hosted|lies|wohn\w*|leb(?:e|t|en)|zuhause|umgezogen|vivo|vive|mudé|casa|está)\b/iu,
  /\b(?:work(?:s|ed|ing)?|jobs?|employ\w*|compan(?:y|ies)|boss|manager|profession|position|promoted|hired|joined|intern\w*|trainee|apprentice|freelanc\w*|retired|unemployed|arbeit\w*|beruf|trabaj\w*|lead(?:s|er)?|in charge|runs?|head|coach|department)\b/iu,
  /\b(?:single|married|engaged|divorced|dating|girlfriend|boyfriend|partner|husband|wife|fianc\w+|broke up|wedding|together|pregnant|expecting|baby|born|novi[oa]|verheiratet|freundin)\b/iu,
  /\b(?:prefer\w*|favou?rite|likes?|loves?|hates?|enjoys?|fan|supports?|always|usually|drink\w*|eats?|orders?|use[sd]?|using|takes?|buys?|pay\w*|vegan|vegetarian|meat|cycles?|drives?|tram|train|mag|trinke|prefiero|pido|favorito)\b/iu,
  /\b(?:plan\w*|going to|will|wants? to|booked|flying|trip|holiday|visit\w*|getting|giving|course|birthday|party|kurs|voy a)\b/iu,
  /\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|o'clock|deadline|appointment|meeting|starts?|montag|dienstag|mittwoch|donnerstag|freitag)\b|\d{1,2}:\d{2}|\b\d{1,2}(?:st|nd|rd|th)\b/iu,
  /\b(?:costs?|price|rent|fee|salary|euros?|dollars?|pounds?|kilos?|kg|weigh\w*|tall|height|number|limit|gb|percent|participants?|members?|subscribers?|kostet)\b|[$€£]/iu,
  /\b(?:doctor|dentist|therapist|teacher|trainer|cleaner|babysitter|contact|emergency|insur\w+|chef|vorgesetzt\w*)\b/iu,
];

/** People beside the one who speaks. */
const OTHERS =
  /\b(?:mother|mum|mom|father|dad|parents?|sister|brother|son|daughter|cousin|aunt|uncle|niece|nephew|wife|husband|partner|girlfriend|boyfriend|friend|colleague|boss|neighbou?r|grandmother|grandfather|roommate|flatmate|schwester|bruder|mutter|vater|sohn|tochter|frau|mann|cousine?|kolleg\w+|hermana?o?|madre|padre|hij[oa]|primo|prima|compañer[oa])\b/giu;
const NAME = /\p{Lu}[\p{L}\p{M}-]+/gu;

const ASKS_NUMBER =
  /\b(?:when|date|what time|which day|how (?:many|much|old|long|tall)|number|price|cost|wann|wie (?:viel|teuer|alt)|cuándo|cuánto)\b/iu;
const NUMBER =
  /\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|one|two|three|four|five|six|seven|eight|nine|ten|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b/iu;
/** Scripts that are written without spaces. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
/** Questions whose answer is somebody. */
const ASKS_WHO = /\b(?:who|whom|whose|name of|wer|wem|wen|quién|contact)\b/iu;
/** What stands after a subject. */
const VERB =
  /\b(?:is|are|was|were|am|has|have|had|will|lives?|works?|eats?|drives?|plays?|goes|likes?|loves?|prefers?|studies|moved|said|wants?|needs?|ist|sind|hat|arbeitet|wohnt|lebt|es|son|tiene|vive|trabaja)\b/iu;

/** What a statement tells. */
class Statement {
  readonly words: ReadonlySet<string>;
  readonly isChange: boolean;
  readonly hasNumber: boolean;
  /** Whether words are told apart by spaces. */
  readonly isSpaced: boolean;
  /** Positions of the fields that it is about. */
  readonly fields: readonly number[];
  /** People before the verb, as far as that can be told. */
  readonly subjects: readonly string[];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text.toLowerCase();
    this.words = new Set(words(folded(text)));
    this.isChange = CHANGE.test(text);
    this.hasNumber = NUMBER.test(text);
    this.isSpaced = !UNSPACED.test(text);
    this.fields = FIELDS.flatMap((field, i) => field.test(text) ? [i] : []);
    this.subjects = subjectOf(this.#text).match(OTHERS) ?? [];
  }

  mentions(word: string): boolean {
    return this.#text.includes(word);
  }
}

/** The part of a sentence before its verb; its first words where no verb is found. */
function subjectOf(text: string): string {
  const at = text.search(VERB);
  return at > 0 ? text.slice(0, at) : text.split(/\s+/, 3).join(" ");
}

/** What a question asks, as far as it tells two statements apart. */
class Question {
  readonly #text: string;
  readonly #names: ReadonlySet<string>;
  readonly #asksNumber: boolean;
  readonly #asksWho: boolean;

  constructor(text: string) {
    this.#text = text.toLowerCase();
    const named = [...text.match(NAME) ?? [], ...text.match(OTHERS) ?? []];
    this.#names = new Set(named.flatMap((name) => words(folded(name))));
    this.#asksNumber = ASKS_NUMBER.test(text);
    this.#asksWho = ASKS_WHO.test(text);
  }

  /** What the texts add to the odds that the newer statement answers in the older one's place. */
  odds(older: Statement, newer: Statement): number {
    // What stands for the words there is shared by most texts.
    if (!older.isSpaced || !newer.isSpaced) return -Infinity;
    // Whoever is asked about has to be in both of them.
    const isMissing = (word: string) => older.words.has(word) && !newer.words.has(word);
    if ([...this.#names].some(isMissing)) return -Infinity;
    if (!this.#asksWho && this.#isAboutOthers(older, newer)) return -Infinity;
    const missesNumber = this.#asksNumber && older.hasNumber && !newer.hasNumber;
    const inField = older.fields.some((field) => newer.fields.includes(field));
    const inWords = overlap(older.words, newer.words);
    // Scores alone tell nothing of what two statements are about.
    if (inWords === 0 && !inField) return -Infinity;
    if (inWords === 1 && older.words.size === newer.words.size) return -Infinity;
    return WEIGHTS.overlap * inWords +
      WEIGHTS.field * Number(inField) +
      WEIGHTS.changeInField * Number(newer.isChange && inField) +
      WEIGHTS.number * Number(missesNumber);
  }

  /** Whether one of them is about somebody whom neither the other one nor the question names. */
  #isAboutOthers(older: Statement, newer: Statement): boolean {
    const isOnly = (word: string, other: Statement) =>
      !other.mentions(word) && !this.#text.includes(word);
    return newer.subjects.some((word) => isOnly(word, older)) ||
      older.subjects.some((word) => isOnly(word, newer));
  }
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const size = Math.min(a.size, b.size);
  if (size === 0) return 0;
  let count = 0;
  for (const word of a) if (b.has(word)) count++;
  return count / size;
}

/** What the scores add to the odds. */
function oddsOfScores(older: number, newer: number, unrelated: number): number {
  const above = newer - unrelated;
  const share = above / Math.max(LEAST_ABOVE, older - unrelated);
  return WEIGHTS.bias + WEIGHTS.share * Math.min(MOST_SHARE, Math.max(-1, share)) +
    WEIGHTS.above * above + WEIGHTS.gap * (older - newer);
}

/** What an unrelated hit scores, by the ranks of hits, best first. */
function unrelatedOf(ranks: readonly number[]): number {
  return ranks[UNRELATED.place] ?? Math.min(UNRELATED.score, ranks.at(-1) ?? 0);
}

/**
 * How many of some hits are worth looking at where so many are answered: those behind that no text can
 * bring up are not.
 *
 * @param ranks What the hits are ordered by, best first.
 */
export function worthReading(ranks: readonly number[], answered: number): number {
  const unrelated = unrelatedOf(ranks);
  const [best = 0] = ranks;
  const last = ranks.findLastIndex((rank) => oddsOfScores(best, rank, unrelated) + MOST >= LEAST);
  return Math.max(Math.min(answered, ranks.length), last + 1);
}

/**
 * The order in which hits answer a question: of two that say something about the same thing the newer
 * comes first, directly before the other. Unrelated hits keep their places, however new they are.
 *
 * @param hits Best first.
 */
export function newerFirst(query: string, hits: readonly Dated[]): Reordered {
  const question = new Question(query);
  const statements: Statement[] = [];
  const statement = (at: number) => statements[at] ??= new Statement(hits[at]!.text);
  const unrelated = unrelatedOf(hits.map(({ rank }) => rank));
  const conflicts: [number, number][] = [];
  const takesPlace = (newer: number, older: number): boolean => {
    const [a, b] = [hits[newer]!, hits[older]!];
    if (a.start <= b.start || a.text.length > LONGEST || b.text.length > LONGEST) return false;
    const odds = oddsOfScores(b.rank, a.rank, unrelated);
    // Most hits are too far apart, whatever they say.
    if (odds + MOST < LEAST) return false;
    if (odds + question.odds(statement(older), statement(newer)) < LEAST) return false;
    conflicts.push([newer, older]);
    return true;
  };
  const order = hits.map((_, i) => i);
  for (let at = 1; at < order.length; at++) {
    const one = order[at]!;
    const place = order.findIndex((other, i) => i < at && takesPlace(one, other));
    if (place >= 0) order.splice(place, 0, ...order.splice(at, 1));
  }
  return { order, conflicts };
}
