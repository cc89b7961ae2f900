import { folded } from "../../index/words/words.ts";

/** Questions longer than this ask for more than one thing, and longer texts hold some of each. */
const LONGEST_QUESTION = 500;
const LONGEST_TEXT = 1000;

/** Days and months, in English and German. */
const CALENDAR = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|" +
  "june|july|august|september|october|november|december|(?:mon|diens|donners|frei|sams|sonn)tags?|" +
  "mittwochs?|januar|februar|marz|mai|juni|juli|oktober|dezember";

const IS_CALENDAR = new RegExp(`^(?:${CALENDAR})$`);
const NUMBER = new RegExp(
  "\\d|^(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|" +
    "seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|" +
    "dozen|half|both|pair|twins?|once|twice|first|second|third|fourth|fifth|zwei|drei|vier|funf|" +
    "sechs|sieben|acht|neun|zehn)$",
);
const TIME = new RegExp(
  `\\b(?:${CALENDAR}|spring|summer|autumn|winter|mornings?|noon|afternoons?|evenings?|nights?|` +
    "midnight|today|yesterday|tomorrow|daily|weekly|monthly|yearly|hours?|minutes?|days?|weeks?|" +
    "weekends?|weekdays?|months?|years?|o'clock|birthday|christmas|easter|half past|since|ago|" +
    "every|advent|fruhling|sommer|herbst|jahre?n?|uhr)\\b|\\d:\\d\\d|\\b(?:19|20)\\d\\d\\b",
);
const PERSON = new RegExp(
  "\\b(?:mother|father|mum|mom|dad|parents|sister|brother|wife|husband|son|daughter|uncle|aunt|" +
    "cousin|grandmother|grandfather|grandma|grandpa|partner|girlfriend|boyfriend|friends?|" +
    "colleagues?|boss|neighbou?rs?|landlord|doctor|dentist|dr|mrs?|ms|professor|team|company|" +
    "board|contractor|people|frau|mann|herr|mutter|vater)\\b",
);
/** Before a day or a number most of these tell a time. */
const PLACE = new RegExp(
  "\\b(?:in|at|from|behind|near|on|under|above|next to|to|by|into|inside|outside|zu|zur|zum|aus|" +
    `im|am|an|auf|bei)\\b(?! (?:the )?(?:\\d|(?:${CALENDAR})\\b))`,
);

/** Words that begin a sentence often enough to be no name there. */
const OPENERS = new Set(
  ("a about after all alle am an and are as at be because before by can could das der die do does " +
    "each ein eine every for from had has have he her his how i ich i'm i've i'd i'll if in is it " +
    "its leftover may meine mein most must my no not of on our she since so some text that the " +
    "their them then there these they this those three to two until us user version was we were " +
    "what when where which while who will wir with you your").split(" "),
);

/** A question for a kind of thing, and how a text shows that it holds one. */
interface AnswerKind {
  readonly asked: RegExp;
  given(text: AnswerText): boolean;
}

interface AnswerText {
  readonly written: string;
  /** Words that the question does not have, as they are written. */
  readonly news: readonly string[];
  /** The same, folded, in one text. */
  readonly plainNews: string;
  /** Whether its first word is among them. */
  readonly opensNew: boolean;
}

const hasNumber = ({ news }: AnswerText): boolean => news.some((word) => NUMBER.test(folded(word)));
const hasTime = ({ plainNews }: AnswerText): boolean => TIME.test(plainNews);

/** Whether a name may stand in the text. Who writes all words small writes names small, too. */
function hasName({ written, news, plainNews, opensNew }: AnswerText): boolean {
  if (written === written.toLowerCase() || PERSON.test(plainNews)) return true;
  return news.some((word, i) => {
    const small = folded(word);
    const isCapital = word[0] !== word[0]!.toLowerCase();
    const isPronoun = small === "i" || small.startsWith("i'");
    const isOpener = i === 0 && opensNew && OPENERS.has(small);
    return isCapital && !isPronoun && !isOpener && !IS_CALENDAR.test(small);
  });
}

const COLOUR = new RegExp(
  "\\b(?:black|white|gr[ae]y|red|blue|green|yellow|orange|brown|pink|purple|violet|gold(?:en)?|silver|" +
    "turquoise|teal|beige|dark|light|colou?r(?:ed|s|ful)?|schwarz|weiss|grau|rot|blau|grun|gelb|braun)\\b",
);
const CALLED = /\b(?:called|names?|named|heisst|nickname)\b/;

/** Who asks for one of these is not answered by a text without any. */
const ANSWER_KINDS: readonly AnswerKind[] = [
  {
    asked: new RegExp(
      "\\bhow (?:many|much|old|tall|high|large|big|heavy|accurate|far|long|often|fast|wide|deep)\\b|" +
        "\\b(?:price|costs?|charge|number|weight|size|rate|fee|age|salary|budget|rent|code|pay|" +
        "percentage|grade|length|premium|year|kostet|preis)\\b|\\bwie ?(?:viele?|alt|lange|hoch|" +
        "gross|oft)\\b",
    ),
    given: (text) => hasNumber(text) || hasTime(text),
  },
  {
    asked: new RegExp(
      "\\b(?:when|what time|(?:what|which) (?:day|date|month|year|weekday)|dates?|birthday|how long|" +
        "how often|year|anniversary|wann|wie lange)\\b",
    ),
    given: (text) => hasTime(text) || hasNumber(text),
  },
  { asked: /\b(?:who|whom|whose|wer|wem|wen|wessen)\b/, given: hasName },
  {
    asked:
      /\bwhat\b.* (?:cost|pay|charge|earn)\b|\b(?:price|salary|rent|fee|premium)\b|\bwas kostet\b/,
    given: hasNumber,
  },
  {
    asked: /\b(?:what|which|who)\b.* (?:called|name)\b|^names? of\b|\bwie heisst\b/,
    given: (text) => hasName(text) || CALLED.test(text.plainNews),
  },
  {
    asked: /\b(?:how old|age)\b|\bwie alt\b/,
    given: (text) =>
      hasNumber(text) || /\b(?:born|years?|birthday|jahre?|geboren)\b/.test(text.plainNews),
  },
  {
    asked: /\b(?:password|pin|combination|code|passwort|kontonummer)\b/,
    given: ({ written }) => /\d|password|\bpin\b|combination|\bcode|passwort/i.test(written),
  },
  {
    asked: /\b(?:tele)?phone number|\bnumber of (?:mr|ms|mrs|dr)\b|\b(?:telefon|handy)nummer\b/,
    given: ({ news }) => news.some((word) => /\d{3}/.test(word)),
  },
  { asked: /\be-?mail address/, given: ({ written }) => written.includes("@") },
  { asked: /\bcolou?r\b|\bwelche farbe\b/, given: ({ plainNews }) => COLOUR.test(plainNews) },
  {
    asked: /\b(?:where|which (?:city|town|street|place|country|floor)|address|wo|woher|wohin)\b/,
    given: ({ written }) => PLACE.test(folded(written)),
  },
];

const WORD = /[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}'’.:,-]*[\p{L}\p{M}\p{N}])?/gu;

/** Enough to tell "gauge" and "gauges" apart from other words. */
function root(word: string): string {
  return folded(word).replace(/'s$/, "").replace(/(?<=.{3})(?:ings?|ies|ied|ed|es|s|e)$/, "");
}

/** What a query asks for, read once for all of its hits. */
export class Question {
  readonly text: string;
  readonly #kinds: readonly AnswerKind[];
  /** Roots of its words, where it asks for a kind of thing. */
  readonly #roots: ReadonlySet<string>;

  constructor(text: string) {
    this.text = text;
    const asked = text.length > LONGEST_QUESTION ? "" : folded(text);
    this.#kinds = ANSWER_KINDS.filter((kind) => kind.asked.test(asked));
    this.#roots = new Set(this.#kinds.length === 0 ? [] : (text.match(WORD) ?? []).map(root));
  }

  /**
   * Whether it asks for a number, a time, a name or a place, and a text has nothing of that kind: it
   * is about the same thing and does not answer. Questions in other languages than English and
   * German seem to ask for nothing.
   */
  isLackedBy(text: string): boolean {
    if (this.#kinds.length === 0 || text.length > LONGEST_TEXT) return false;
    const words = text.match(WORD) ?? [];
    const news = words.filter((word) => !this.#roots.has(root(word)));
    const opensNew = words[0] !== undefined && news[0] === words[0];
    const answer = { written: text, news, plainNews: folded(news.join(" ")), opensNew };
    return this.#kinds.some((kind) => !kind.given(answer));
  }
}
