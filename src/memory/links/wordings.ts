/** Words by which English says one thing in several ways. Only what is the same whatever stands near. */

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Ways to say something again that was said before: what follows is the statement. */
export const OPENINGS: readonly RegExp[] = [
  /^(?:as|like) (?:(?:you|i|we|the user) (?:have |has )?)?(?:already )?(?:noted|mentioned|said|stated|discussed|told me|recorded|remembered|agreed)(?: (?:before|earlier|above|previously))?[,:]? /u,
  /^(?:(?:earlier|previously|before),? )?(?:you|the user) (?:have |has |had )?(?:also |already |once |just )?(?:mentioned|said|told me|noted|stated|shared|explained|pointed out|let me know|says|mentions|notes|states|reported)(?: (?:earlier|before|previously))?(?: to me)?(?: that)?[,:]? /u,
  /^(?:i|we) (?:still )?(?:remember|recall|know|noted|see|understand)(?: from (?:earlier|before|my notes|memory))?(?: that|[,:]) /u,
  /^(?:i have (?:it )?(?:noted|in my notes|on record)|my notes say|from (?:my )?(?:memory|notes)|according to (?:my )?(?:memory|notes)|reminder|remember|note(?: to self)?|fact|fyi|for reference|user|user fact|the user)(?: that)?[:,] /u,
  /^(?:please )?(?:remember|note|keep in mind) that /u,
  /^(?:since|given that|from what|based on what) (?:you|the user) (?:have )?(?:said|told me|mentioned|noted)(?: before| earlier)?(?: that)?[,:]? /u,
  /^(?:right|yes|ok|okay|sure|noted|got it|understood|of course)[,:.!] /u,
  /^as (?:i|we) (?:recall|remember|know|noted)[,:]? /u,
];

/** The same for what is wanted: what follows is an instruction. */
export const ASKED: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:you|the user) (?:have |has )?(?:asked|told|instructed|wanted|wants|want|asks) (?:me|us) not to /u,
    "please not ",
  ],
  [
    /^(?:you|the user) (?:have |has )?(?:asked|told|instructed|wanted|wants|want|asks) (?:me|us) never to /u,
    "please not ",
  ],
  [
    /^(?:you|the user) (?:have |has )?(?:asked|told|instructed|wanted|wants|want|asks) (?:me|us) (?:to|that) /u,
    "please ",
  ],
  [/^(?:you|the user) (?:have |has )?(?:asked|asks) for /u, "please "],
];

/** Phrases that one word stands for, in lower case and without contractions. */
export const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:the )?user(?: is|'s)?\b(?= own\b)/gu, "i"],
  [/\b(?:the )?user\b/gu, "i"],
  [/\bi'd\b/gu, "i"],
  [/\b(?:is|are|was|were) (?:called|named)\b(?! by)/gu, " named "],
  [/\bis the name of\b/gu, " named "],
  [/\b(an?) (\w+) called\b/gu, "$1 $2 named"],
  [/\b(?:have|has) got\b(?! to\b)/gu, " have "],
  [/\bper cent\b/gu, " percent "],
  [/\brequires?\b/gu, " needs "],
  [/\byears? old\b|\baged\b/gu, " "],
  [/\b(?:a|one) tenth\b/gu, " 10 percent "],
  [/\b(?:a|one) fifth\b/gu, " 20 percent "],
  [/\b(?:a|one) quarter of\b/gu, " 25 percent of "],
  [/(?<=\d):00\b/gu, ""],
  [
    /\b(january|february|march|april|may|june|july|august|september|october|november|december) (\d{1,2})(?:st|nd|rd|th)?\b(?!\d|[:.]\d)/gu,
    "$2 $1",
  ],
  [/\bo'clock\b/gu, " "],
  [
    /\bno (\w+) (?:may|can|must|should|shall) (?:have|be|contain|take|exceed) (?:more than|over|longer than) (?=\w)/gu,
    " $1 atmost ",
  ],
  [
    /\bnothing (?:over|above|more than|larger than|bigger than|longer than) (.{1,40}?) (?:can|may) be (?=\w)/gu,
    " atmost $1 be ",
  ],
  [/\b(?:is|are) (?:capped at|limited to)\b|\bha(?:s|ve) a (?:cap|limit) of\b/gu, " atmost "],
  [/\b(?:love|like|prefer|enjoy)s? (?:the )?(?:most|best)\b/gu, " favourite "],
  [/\b(?:written|made|built|implemented|coded|developed|programmed) (?:in|with)\b/gu, " made in "],
  [/\bunwanted\b/gu, " not want "],
  [/\b(?:comes?|coming) from\b/gu, " from "],
  [/\b(?:no longer|not any ?more|not any longer|no more(?! than))\b/gu, " nolonger "],
  [/\bnot (.{1,60}?) any ?more\b/gu, " nolonger $1 "],
  [
    /\b(?:at the most|at most|up to|(?:no|not) more than|(?:a )?maximum(?: of)?|not over)(?= \w)/gu,
    " atmost ",
  ],
  [/\b(?:at least|(?:no|not) (?:less|fewer) than|(?:a )?minimum(?: of)?)(?= \w)/gu, " atleast "],
  [/\b(?:more than|over)(?= \d)/gu, " morethan "],
  [/\b(?:(?:less|fewer) than|under|below)(?= \d)/gu, " lessthan "],
  [/(?<!\b(?:is|are|am|get|gets|getting|got) )\bused to\b/gu, " usedto "],
  [/\b(?:go(?:es)?|going|gone) up\b/gu, " rise "],
  [/\bwent up\b/gu, " rose "],
  [/\b(?:go(?:es)?|going|gone) down\b/gu, " fall "],
  [/\bwent down\b/gu, " fell "],
  [/\b(?:can not|could not) (?:stand|bear)\b/gu, " hate "],
  [/\bcan not hear\b/gu, " deaf "],
  [/\b(?:is|am|are) (?:fond of|keen on|into)\b/gu, " like "],
  [/\bdo(?:es)? not (?:like|enjoy)\b/gu, " dislike "],
  [/\b(?:take|takes|taking) care of\b|\blook(?:s|ing)? after\b/gu, " care "],
  [/\bput(?:s|ting)? aside\b/gu, " save "],
  [/\b(?:takes?|taking) place\b/gu, " "],
  [/\b(?:have|has|got) to\b/gu, " must "],
  [/\bneeds? to be\b/gu, " must be "],
  [/\b(?:is|are) (?:in charge of|responsible for)\b/gu, " lead "],
  [/\bworks? as\b|\bworking as\b/gu, " is "],
  [/\bwrit(?:e|es|ing) code\b/gu, " code "],
  [/\b(?:is|are|am) able to\b/gu, " can "],
  [/\b(?:is|are|am) allowed to\b/gu, " may "],
  [/\b(?:is|are|am) going to\b/gu, " will "],
  [/\bhalf past\b/gu, " half past "],
  [/\bevery other\b/gu, " second "],
  [/\ba lot(?: of)?\b|\blots of\b/gu, " "],
  [/\bhome town\b/gu, " hometown "],
  [/\bset up\b/gu, " setup "],
  [/\beach other\b/gu, " together "],
  [/\bof course\b|\bby the way\b|\bin fact\b/gu, " "],
];

/** Any of them: most texts have none, and one look is cheaper than one for each. */
export const ANY_PHRASE = new RegExp(
  PHRASES.map(([pattern]) => `(?:${pattern.source})`).join("|"),
  "u",
);

/** Words that change nothing about what is said. */
export const EMPTY = list(`
  a an the this that these those is are am be been being was were has have having had do does did
  who whom whose which what where when why how that there here and also just very really quite too
  still already currently now please kindly own every each all per own so then well i me my mine
  myself we us our ours ourselves you your yours yourself it its itself one ones all any named actually basically simply exactly indeed anyway will shall can may
  must should ought need needs to as
  always ever`);

/** Prepositions that may be missing on one side, as in "Berlin is where I live". */
export const LIGHT = list(
  "in on at to from for by with of as into onto about within per via during",
);

/** Words before which these say the same. */
export const TIMES = list(
  "weekend morning afternoon evening night noon midday midnight summer winter spring autumn",
);
export const AT_TIMES = list("in on at during");

/** Pairs of these may stand for each other. */
export const LIKE_PREPOSITIONS: readonly ReadonlySet<string>[] = [
  list("in at into within"),
  list("for of to about"),
  list("by with of from via"),
  list("in of"),
  list("on for"),
  list("at of to"),
];
export const NEGATIONS = list(
  "not never no none nobody nothing neither nor cannot without nowhere",
);

/** What makes a wish or an order of a sentence. */
export const ORDERS = list(`
  use write answer keep sort give avoid ask tell show call run add put do make never always prefer
  explain format commit deploy test check follow include start end stop send reply speak address
  remind book buy let limit name place read respond say set sign skip spell store summarise summarize
  take translate treat wait warn be talk quote cite round round-up log wrap sort list round not`);

/** Others than the one who speaks. */
export const PERSONS = list(`
  mother mum mom mama father dad papa parent parents sister brother son daughter cousin aunt uncle
  niece nephew wife husband spouse partner girlfriend boyfriend fiance fiancee friend colleague boss
  manager neighbour neighbor grandmother grandfather grandma grandpa gran granny nan roommate flatmate
  housemate landlord landlady tenant electrician plumber accountant lawyer doctor dentist teacher tutor coach trainer nurse child kid baby
  twin boy girl man woman goddaughter godson godmother godfather stepmother stepfather stepson
  stepdaughter assistant secretary client customer guest dog cat puppy kitten horse parrot
  rabbit hamster goat`);

/** Verbs of which the one who does it is another one than the one it is done to. */
export const COMPARING = list(
  "than over instead rather versus before after above below under behind",
);

/** Where two statements are joined, words belong to the one or the other. */
export const JOINTS = list("and but or while whereas although though nor yet because if unless");

/** Nouns that only carry others, as in "1 May is the day when it ends": one side may have them more. */
export const NOUN_CARRIERS = list(`
  thing place spot day date time name kind type way person people number part language subject
  setting port value title item instrument tool location position hometown voice degree size age
  something somewhere`);

/** The same for verbs, beside another verb: "it makes me laugh", "she gave him a training". */
export const VERB_CARRIERS = list("see find give get make go take come serve say");

/** Numbers as words. */
export const NUMBER_WORDS: ReadonlyMap<string, number> = new Map(
  ("zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
    "seventeen eighteen nineteen").split(" ")
    .map((word, i): [string, number] => [word, i === 0 ? 0 : i + 1]),
);
export const TENS: ReadonlyMap<string, number> = new Map(
  "twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
    .map((word, i): [string, number] => [word, 10 * (i + 2)]),
);
