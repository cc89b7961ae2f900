import { folded, words } from "../../index/words/words.ts";

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
export const OTHERS =
  /\b(?:mother|mum|mom|father|dad|parents?|sister|brother|son|daughter|cousin|aunt|uncle|niece|nephew|wife|husband|partner|girlfriend|boyfriend|friend|colleague|boss|neighbou?r|grandmother|grandfather|roommate|flatmate|schwester|bruder|mutter|vater|sohn|tochter|frau|mann|cousine?|kolleg\w+|hermana?o?|madre|padre|hij[oa]|primo|prima|compañer[oa])\b/giu;
/** Names, and whatever else begins with a capital letter. */
export const NAME = /\p{Lu}[\p{L}\p{M}-]+/gu;

const NUMBER =
  /\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|one|two|three|four|five|six|seven|eight|nine|ten|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b/iu;
/** Scripts that are written without spaces. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
/** What stands after a subject. */
const VERB =
  /\b(?:is|are|was|were|am|has|have|had|will|lives?|works?|eats?|drives?|plays?|goes|likes?|loves?|prefers?|studies|moved|said|wants?|needs?|ist|sind|hat|arbeitet|wohnt|lebt|es|son|tiene|vive|trabaja)\b/iu;

/** What a statement tells; most of it is looked for when it is asked for, which is seldom. */
export class Statement {
  readonly isChange: boolean;
  /** Whether words are told apart by spaces. */
  readonly isSpaced: boolean;
  readonly #written: string;
  readonly #text: string;
  #words: ReadonlySet<string> | undefined;
  #fields: readonly number[] | undefined;
  #subject: string | undefined;

  constructor(text: string) {
    this.#written = text;
    this.#text = text.toLowerCase();
    this.isChange = CHANGE.test(text);
    this.isSpaced = !UNSPACED.test(text);
  }

  get words(): ReadonlySet<string> {
    return this.#words ??= new Set(words(folded(this.#written)));
  }

  get hasNumber(): boolean {
    return NUMBER.test(this.#written);
  }

  /** Positions of the fields that it is about. */
  get fields(): readonly number[] {
    return this.#fields ??= fieldsOf(this.#written);
  }

  /** What stands before the verb, in lower case, as far as that can be told. */
  get subject(): string {
    return this.#subject ??= subjectOf(this.#text);
  }

  /** People in it. */
  get subjects(): readonly string[] {
    return this.subject.match(OTHERS) ?? [];
  }

  mentions(word: string): boolean {
    return this.#text.includes(word);
  }
}

/** Positions of the fields of life that a text is about. */
export function fieldsOf(text: string): readonly number[] {
  return FIELDS.flatMap((field, i) => field.test(text) ? [i] : []);
}

/** The part of a sentence before its verb; its first words where no verb is found. */
function subjectOf(text: string): string {
  const at = text.search(VERB);
  return at > 0 ? text.slice(0, at) : text.split(/\s+/, 3).join(" ");
}

/** Share of the words of the shorter of two texts that both have. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const size = Math.min(a.size, b.size);
  if (size === 0) return 0;
  let count = 0;
  for (const word of a) if (b.has(word)) count++;
  return count / size;
}
