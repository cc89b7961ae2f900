/** Importance of what may matter for years: health, identity, family, firm rules. */
export const HIGH = 0.9;
/** Importance of most facts. */
export const MEDIUM = 0.5;
/** Importance of what soon is over. */
export const LOW = 0.2;

const LASTING =
  /\b(?:allerg\w+|intoleran\w+|diabet\w+|asthma\w*|coeliac|celiac|blood type|diagnos\w+|medicat\w+|prescri\w+|heart|vegetarian|vegan|kosher|halal|never|always|must not|mustn['’]t|(?:do|does) ?n['o’]?t (?:eat|drink|smoke|want)|can['’]?t stand|birthday|born|died|married|divorced|pregnan\w+|expecting|my name|(?:is|are|was) (?:named|called)|emergency|grew up|my (?:wife|husband|partner|son|daughter|children|kids|mother|father|parents|sister|brother)|prefers?|favou?rite|deadline)\b/i;
const PASSING =
  /\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|week)|right now|at the moment|on the way|currently reading)\b/i;

/** Importance class of a fact found by rules: 0.9, 0.5 or 0.2. */
export function importanceOf(fact: string): number {
  if (LASTING.test(fact)) return HIGH;
  return PASSING.test(fact) ? LOW : MEDIUM;
}

/** Words that English cannot do without, and other languages hardly have. */
const ENGLISH = new Set(
  ("the a an and or but of to in on at for with from by is are was were be been am has have had " +
    "do does did will would can could not no i you he she it we they my your his her our their " +
    "this that these those as if so than then there when what who which because about into")
    .split(" "),
);
const WORD = /\p{L}+(?:['’]\p{L}+)?/gu;

/**
 * Whether a text is English, which the cues are made for. Notes leave the small words out: a short
 * text in plain Latin letters without them is `unclear`.
 */
export function languageOf(text: string): "english" | "unclear" | "other" {
  const words = text.toLowerCase().match(WORD) ?? [];
  const small = words.filter((word) => ENGLISH.has(word) || /['’](?:s|m|re|ve|ll|d|t)$/.test(word));
  if (small.length >= 0.15 * words.length) return "english";
  const isPlain = words.every((word) => /^[a-z'’]+$/.test(word));
  return isPlain && words.length < 12 ? "unclear" : "other";
}

/** Months of a date. */
const MONTH =
  "(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)";
const DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?";
const FAMILY =
  "(?:wife|husband|partner|spouse|mother|mum|mom|father|dad|parents?|son|daughter|kids?|child(?:ren)?|baby|sister|brother|grandmother|granddad|grandfather|grandma|grandpa|aunt|uncle|cousin|niece|nephew|girlfriend|boyfriend|fianc[ée]e?|friend|neighbours?|neighbors?|boss|colleague|flatmate|roommate|dog|cat|pets?|doctor|dentist|landlord|therapist)";

/** A pattern of a sentence, and what it adds to the score. */
type Cue = readonly [pattern: RegExp, weight: number];

const cue = (source: string, weight: number): Cue => [
  new RegExp(source.replaceAll("'", "['’]"), "iu"),
  weight,
];

/**
 * Signs that a sentence says something worth keeping. Weights are small whole steps: they were set
 * by hand on the development texts.
 */
const CUES: readonly Cue[] = [
  // Somebody in particular.
  cue(String.raw`\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our|user|user's)\b`, 0.5),
  cue(String.raw`\b(?:${FAMILY})\b`, 0.8),
  [/(?<!^)(?<![.!?:…]\s["'“(]?)(?<!\p{L})\p{Lu}\p{Ll}{2,}/u, 0.7],
  // Numbers, dates, times, amounts, codes.
  cue(String.raw`\d`, 0.8),
  cue(
    String.raw`\b(?:${MONTH}|${DAY}|spring|summer|autumn|winter|christmas|easter|quarter)\b`,
    0.6,
  ),
  cue(
    String
      .raw`\b(?:every|each|daily|weekly|monthly|yearly|annually|usually|always|never|twice|once|regularly|weekends?|weekdays)\b`,
    0.7,
  ),
  cue(
    String
      .raw`\b(?:since|until|till|from now on|ago|no longer|any ?more|for (?:the first|two|three|four|five|six|ten|many|several) |(?:last|next) (?:week|month|year|spring|summer|autumn|winter|time|session)|in (?:spring|summer|autumn|winter|\d{4})|tomorrow|yesterday)\b`,
    0.6,
  ),
  // Preferences, health, constraints.
  cue(
    String
      .raw`\b(?:prefers?|preferred|favou?rite|likes?|loves?|hates?|can't stand|cannot stand|dislikes?|enjoys?|fond of|afraid of|fan of|into|rather|would like|wants?|wanted|wishes)\b`,
    0.9,
  ),
  cue(
    String
      .raw`\b(?:allerg\w+|intoleran\w+|vegetarian|vegan|diabet\w+|asthma\w*|coeliac|celiac|gluten|lactose|blood type|pills?|medicat\w+|prescri\w+|diagnos\w+|surgery|operation|pregnan\w+|expecting|injur\w+|pain|migraines?|headaches?|(?:do|does) ?n'?o?t (?:eat|drink|smoke|drive|want|like))\b`,
    1.2,
  ),
  cue(
    String
      .raw`\b(?:must(?:n't| not)?|have to|has to|needs? to|not allowed|allowed|only|forbidden)\b`,
    0.5,
  ),
  // Life, work, home, and what people did for good.
  cue(
    String
      .raw`\b(?:works?|worked|working as|jobs?|liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|born|grew up|stud(?:y|ies|ied|ying)|learn(?:s|ed|ing)?|teach(?:es|ing)?|taught|speaks?|plays?|owns?|drives?|marr(?:y|ied|ies)|engaged|divorced|died|birthday|anniversary|adopt(?:s|ed)?|named|called|promoted|retired?|quit|joined|hired|resigned|signed|bought|sold|rent(?:s|ed)?|lease|opened|opening|founded|started|starts?|trains?|training|volunteers?|met|visits?|graduated|gave|won|finished|booked|uses?|using|drinks?|eats?|decided|chose|switched|became|turned|named)\b`,
    0.6,
  ),
  // Agreements and arrangements.
  cue(
    String
      .raw`\b(?:agreed|decision|decided|promised|deadline|due|takes over|took over|responsible|handles?|will|appointment|meeting|session|course|contract|invoices?|payment|costs?|price|fee|budget|password|code|number|keys?|stored|folder|deployed|ships?|release|version|backup|address|gate|closes?|opens?|moved)\b`,
    0.5,
  ),
  // A statement: something is, has or does something.
  cue(
    String
      .raw`\b(?:is|are|was|were|am|'m|has|have|had|'ve|will|can't|don't|doesn't|needs?|goes|go|gets?|got|comes?|runs?|keeps?|\w{3,}ed)\b`,
    0.4,
  ),
  // Greetings, thanks, reactions, closings.
  [
    /^(?:hi|hey|hello|dear|thanks|thank you|thx|wow|cool|great|awesome|sounds|yeah|yes|yep|no way|nope|ok|okay|sure|bye|see you|take care|good luck|congrat\w*|nice|amazing|lovely|oh|ah|ugh|hmm|lol|haha|absolutely|definitely|of course|you're welcome|glad|hope|i hope|i am so|i'm so|let me|let's|good to|talk|catch|i agree|i understand|me too|got it|perfect|best|best wishes|kind regards|regards|cheers|love|hugs|sincerely|yours|sorry|no worries|deal|please|you are|just)\b/i,
    -1.3,
  ],
  // Talk about the moment, the one addressed, and what is not real.
  cue(String.raw`\b(?:you|your|you're|you've)\b`, -0.6),
  cue(
    String
      .raw`\b(?:maybe|perhaps|might|could be|would|i wish|imagine|or not|who knows|not sure|some ?day|think about|somehow)\b`,
    -0.8,
  ),
  cue(
    String
      .raw`\b(?:today|tonight|right now|at the moment|this (?:morning|afternoon|evening)|the whole time|running late|the wind|rain(?:s|ed)?|snow|weather)\b`,
    -0.5,
  ),
  cue(
    String
      .raw`\b(?:annoying|fine|nice|terrible|wonderful|happy|sad|relieved|tired|bored|smug|honest|anyway|believe)\b`,
    -0.5,
  ),
  // Requests: a verb comes first.
  [
    /^(?:check|bring|buy|wash|remember|download|send|call|tell|ask|write|read|look|see|think|try|let|start|fill|please|need|do|come|wait|stop|make|get|take|give)\b/i,
    -0.6,
  ],
];

const QUESTION = /[?？;]["'”’)\]]*$/u;

/** Whether a sentence asks; the Greek question mark looks like a semicolon and is left alone. */
export function isQuestion(sentence: string): boolean {
  return QUESTION.test(sentence) && !sentence.endsWith(";");
}

/** Words a sentence must have to be a statement. */
const FEWEST_WORDS = 4;

/**
 * How much an English sentence looks like a fact worth keeping; questions and fragments give
 * -Infinity.
 */
export function score(sentence: string): number {
  const words = sentence.split(/\s+/).length;
  if (words < FEWEST_WORDS || isQuestion(sentence)) return -Infinity;
  const sum = CUES.reduce((total, [pattern, weight]) => {
    return pattern.test(sentence) ? total + weight : total;
  }, 0);
  return sum + Math.min(words, 20) / 40;
}
