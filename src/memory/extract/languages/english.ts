import {
  COMMON_CUES,
  type Cue,
  type Language,
  NAME,
  sounds,
  start,
  words,
  wordSet,
} from "./language.ts";

const MONTH =
  "january|february|march|april|june|july|august|september|october|november|december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec";
const DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|wed|thurs?|fri|sat|sun";
const FAMILY =
  "wife|husband|partner|spouse|mother|mum|mom|mama|father|dad|papa|parents?|son|daughter|kids?|child(?:ren)?|baby|toddler|twins?|sister|brother|siblings?|(?:great-)?grand(?:mother|father|ma|pa|dad|son|daughter|children|kids)|gran|nan|aunt|uncle|cousin|niece|nephew|in-laws?|girlfriend|boyfriend|gf|bf|fianc[ée]e?|friend|neighbours?|neighbors?|boss|colleague|flatmate|roommate|housemate|dog|puppy|cat|kitten|horse|pets?|doctor|gp|dentist|landlord|landlady|tenants?|therapist|physio|midwife|vet|teacher|tutor";

/** Ordinary ways to spend a day: nobody asks for them a year later. */
const ORDINARY =
  "the wind|rain(?:s|ed)|snow(?:ed|s)|weather|went to (?:the|a) (?:shops?|supermarket|market|store|park|gym|cinema|pub|beach|lake)|went (?:for|on) a|went (?:shopping|swimming|home|to bed|out)|watched|had (?:lunch|dinner|breakfast|coffee|tea|soup|pizza|pasta)|(?:slept|woke|ate|cooked|swam|cycled|walked|strolled|sat|stood|stared|laughed|chatted|waited|cleaned|tidied|vacuumed|ironed)|was (?:standing|sitting|waiting|walking)|put the \\w+ (?:on|out|away)|lost an? \\w+|made (?:pancakes|soup|tea|coffee|dinner|lunch)|did the (?:dishes|laundry|washing)|missed the \\w+|lost my (?:scarf|umbrella|gloves?|hat)|nothing happened|what a \\w+|showed everyone";

const POSITIVE: readonly Cue[] = [
  // Somebody in particular.
  [words("i|i'?m|i'?ve|i'd|i'll|my|mine|we|we're|we'?ve|our|ours|user|user's"), 0.5],
  [words(FAMILY), 0.8],
  NAME,
  [
    words(
      `${MONTH}|${DAY}|spring|summer|autumn|fall|winter|christmas|easter|quarter|midnight|noon`,
    ),
    0.6,
  ],
  [
    words(
      "every|each|daily|nightly|weekly|monthly|yearly|annually|usually|always|never|twice|once|regularly|weekends?|weekdays|mornings|evenings|nights",
    ),
    0.7,
  ],
  [
    words(
      "since|until|till|til|from now on|ago|no longer|no more|any ?more|for (?:the first|two|three|four|five|six|seven|eight|nine|ten|many|several|over|almost) \\w+|(?:last|next) (?:week|month|year|spring|summer|autumn|winter|time|session)|in (?:spring|summer|autumn|winter)|tomorrow|yesterday|by hand|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|eighty|hundred|thousand)",
    ),
    0.6,
  ],
  // Preferences, health, constraints.
  [
    words(
      "prefers?|preferred|favou?rites?|likes?|loves?|adores?|hates?|loathes?|despises?|detests?|can'?t stand|cannot stand|can'?t bear|dislikes?|enjoys?|fond of|afraid of|scared of|terrified of|fan of|obsessed with|into|rather|would like|wants?|wanted|wishes|swears? by|allowed to",
    ),
    0.9,
  ],
  [
    words(
      "allerg\\w+|intoleran\\w+|vegetarians?|vegans?|pescatarian|teetotal\\w*|sober|kosher|halal|diabet\\w+|asthma\\w*|coeliac|celiac|gluten|lactose|epilep\\w+|insulin|inhaler|dyslexi\\w+|deaf|blind|colou?r-?blind|left-handed|blood type|pills?|tablets?|medicat\\w+|prescri\\w+|diagnos\\w+|surgery|operation|pregnan\\w+|expecting|injur\\w+|pain|migraines?|headaches?|swells?|faints?|a&e|hay ?fever|blood pressure|(?:do|does) ?(?:n'?o?t|not) (?:eat|drink|smoke|drive|want|like|swim|fly|sleep)|don'?t (?:eat|drink|smoke|drive|like|want)|can'?t (?:have|eat|drink|drive|hear|see|swim|read|walk)|cannot (?:have|eat|drink|drive|hear|see|swim|read|walk)|hurts?|aches?|snores?|sleepwalks?|stutters?|quit|gave up|given up|stopped \\w+ing",
    ),
    1.2,
  ],
  [
    words(
      "must(?:n't| not)?|have to|has to|had to|needs? to|not allowed|allowed|only|forbidden|without|except|instead of|shall not|may not|nobody|no one|default",
    ),
    0.5,
  ],
  // Life, work, home, and what people did for good.
  [
    words(
      "works?|worked|working|jobs?|liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|born|grew up|stud(?:y|ies|ied|ying)|learn(?:s|ed|ing)?|teach(?:es|ing)?|taught|speaks?|plays?|owns?|drives?|marr(?:y|ied|ies)|engaged|single|widow(?:ed|er)?|split|divorced|died|passed away|dead|buried|birthday|anniversary|adopt(?:s|ed)?|named|called|name is|promoted|retired?|retires|joined|hired|fired|laid off|resigned|signed|bought|sold|inherited|rent(?:s|ed)?|lease|opened|opening|founded|started|starts?|begun|began|trains?|training|volunteers?|met|visits?|graduated|passed|failed|gave|won|finished|booked|uses?|using|drinks?|eats?|decided|chose|switched|changed|became|turned|named|broke|broken|apprentice|nurse|notary|engineer|lawyer|student|member|sings?|writes?|runs|rides?|bikes?|sleeps|keeps|stands for|comes from|grows?|collects?|knits?|paints?|cooks|bakes|commut\\w+|lend|lent|borrowed|owes?|owed",
    ),
    0.6,
  ],
  // Agreements and arrangements.
  [
    words(
      "agreed|approved|confirmed|cancell?ed|postponed|put off|dropped|frozen|merged|included|decision|decided|promised|deadline|due|takes over|took over|responsible|in charge|handles?|will|shall|\\w+'ll|appointment|meeting|session|course|contract|invoices?|payment|pays?|paid|costs?|price|fee|budget|password|pin|code|number|keys?|stored|spare|folder|deployed|ships?|shipped|release|version|backup|address|gate|closes?|opens?|served|rebuilt|rule|convention|ref|tickets?|minutes|redraws|brings|fetch(?:es)?|picks? up|goes|go through",
    ),
    0.5,
  ],
  // A statement: something is, has or does something.
  [
    words(
      "is|are|was|were|am|\\w+'s|i'?m|has|have|had|\\w+'ve|will|can|can't|don't|doesn't|needs?|goes|go|gets?|got|comes?|runs?|keeps?|stays?|says?|\\w{3,}ed",
    ),
    0.4,
  ],
  // A note that wants something left out, or always so.
  [start("no|not|never|always|only|nothing"), 0.9],
];

const NEGATIVE: readonly Cue[] = [
  // Greetings, thanks, reactions, closings.
  [
    start(
      "hi|hey|hello|dear|thanks|thank you|thank u|thx|wow|cool|great|awesome|sounds|yeah|yes|yep|no (?:way|worries|problem|idea|thanks?|thank you|decision|result|answer|luck|rush|need)|nope|ok|okay|sure|bye|see you|see u|cu|gn|np|rip|take care|good (?:luck|night|morning|idea|point)|congrat\\w*|nice|amazing|lovely|oh|ah|ugh|hmm?|lol|haha\\w*|omg|absolutely|definitely|of course|you're welcome|glad|hope|i hope|i am so|i'm so|let me|let's|good to|talk|catch|i agree|i understand|me (?:too|neither)|same|got it|noted|perfect|best|best wishes|kind regards|regards|cheers|love,|hugs|sincerely|yours|sorry|deal|never ?mind|you are|fair|done|we wish|forget it|who knows|sadly|i see|just testing",
    ),
    -1.3,
  ],
  [start("please|pls|just|present|attendees|apologies|absent|aob|good|bad"), -0.6],
  // Talk about the moment, the one addressed, and what is not real.
  [words("you|your|you're|you've|u|ur"), -0.6],
  [
    words(
      "maybe|perhaps|might|could be|would|i wish|imagine|or not|who knows|not sure|some ?day|think about|somehow|i guess|i thought|no reason|brainstorm\\w*|suggestions?|debate|discuss\\w+|(?:long|much|some) talk",
    ),
    -0.8,
  ],
  [
    words(
      "today|tonight|right now|at the moment|this (?:morning|afternoon|evening)|the whole (?:time|evening|day)|running late|afterwards|all day",
    ),
    -0.5,
  ],
  [
    words(
      "annoying|fine|nice|terrible|wonderful|happy|sad|relieved|tired|bored|smug|honest|anyway|believe|typical|felt|odd|funny|laughing|friendly|important|late|delayed|crowded",
    ),
    -0.5,
  ],
  [words(ORDINARY), -0.9],
  // Requests: a verb comes first.
  [
    start(
      "(?:please |pls )?(?:check|bring|buy|wash|remember|download|send|call|tell|ask|write|read|look|see|think|try|let|start|fill|need|do|come|wait|stop|make|get|take|give|rename|suggest|explain|translate|summari[sz]e|help|show|draft|fix|find)|i need an?|i want an?|i'm looking for|i am looking for",
    ),
    -0.6,
  ],
];

/** The rules' knowledge of English. */
export const ENGLISH: Language = {
  smallWords: wordSet(
    "the a an and or but of to in on at for with from by is are was were be been am has have had " +
      "do does did will would can could not no i you he she it we they my your his her our their " +
      "this that these those as if so than then there when what who which because about into " +
      "any only too just after before until till since some more never how now u ur im dont pls " +
      "thx til tho its out up over again all both next each every per",
  ),
  contracted: /'(?:s|m|re|ve|ll|d|t)$/,
  base: 0,
  cues: [...COMMON_CUES, ...POSITIVE, ...NEGATIVE],
  lasting: words(
    "allerg\\w+|intoleran\\w+|diabet\\w+|asthma\\w*|epilep\\w+|coeliac|celiac|blood type|diagnos\\w+|medicat\\w+|prescri\\w+|heart|vegetarian|vegan|kosher|halal|never|always|must not|mustn't|(?:do|does) ?(?:n't|not) (?:eat|drink|smoke|want)|don'?t (?:eat|drink|smoke)|hates?|despises?|can'?t stand|birthday|born|died|married|divorced|pregnan\\w+|expecting|my name|(?:is|are|was) (?:named|called)|(?:his|her|its|their) name|emergency|grew up|my (?:wife|husband|partner|son|daughter|children|kids|mother|father|parents|sister|brother|grand\\w+)|prefers?|favou?rite|deadline",
  ),
  passing: words(
    "today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|week)|right now|at the moment|on the way|currently reading",
  ),
  firstPerson: words("i|i'?m|i'?ve|i'd|i'll|me|my|mine|we|we're|we'?ve|we'll|our|ours|us"),
  referring: start(
    "he|she|it|they|him|her|his|its|their|this|that|these|those|there|both|one of them|the (?:other|others|second|first|same|latter)(?: one)?|he's|she's|it's|they're|they've|he'll|she'll|it'll|they'll|with that|because of (?:that|it)|since then|so|and|but|also|or|which|getting|moving|leaving|starting|kept|ask|ring|knock|give|return|leave",
  ),
  pronoun: words("he|she|they|it|him|her|them|his|their|there|that|those"),
  pointing: words("it|them|him|one|ones|there"),
  verb: words(
    "is|are|was|were|am|i'?m|\\w+'(?:s|re|ve|ll|d|m)|has|have|had|do|does|did|don'?t|doesn'?t|didn'?t|will|won'?t|would|can|can'?t|cannot|could|shall|should|must|(?<!\\d )may(?! \\d)|might|goes|went|gets?|got|takes?|took|comes?|came|makes?|made|keeps?|kept|lives?|likes?|loves?|hates?|wants?|needs?|works?|runs?|stays?|moves?|starts?|stops?|opens?|closes?|pays?|costs?|eats?|drinks?|sleeps?|says?|said|told|knows?|knew|thinks?|thought|gave|gives?|found|finds?|broke|lost|bought|sold|met|saw|sees?|left|leaves?|began|sent|wrote|writes?|plays?|brings?|teach(?:es)?|speaks?|drives?|sings?|builds?|use[sd]?|\\w{3,}ed|put|set|let|split|quit|cut|(?:i|we|you|they|he|she|nobody|no one|everybody|everyone|who|whoever) \\w+|(?:my|our|his|her) \\w+ \\w+s|\\w+s (?:the|an?|my|our|his|her|their)",
  ),
  opening: start(
    "(?:(?:hi|hello|hey|dear|good (?:morning|evening|afternoon))(?: (?!i\\b|it|we|the|my)[\\p{L}.-]{1,20}){0,3} ?[,:!]|team,|ok(?:ay)?,? so|okay|right|hm+|uh|um|er|well,|so,|yeah,?|yes,(?: please,)?|yep,?|no,|nah,?|oh and|oh,?|and before i forget|before i forget|btw|by the way,?|fyi:?|just so you know[:,]?|please note(?: that)?|note to self:?|reminder:?|hey,?|listen,?|yo|quick (?:update|note|reminder)[:,]?|remind me(?: that)?|remember(?: that)?:?|hi it's me|anyway,?|um,|fine\\.|p\\.?s\\.?:?)(?= )",
  ),
  hesitation: sounds("uh+m?|um+|erm?"),
  question: start(
    "since when|where to|how come|what for|with who|(?:what|where|when|who|how|why|which) (?:is|are|was|were|do|does|did|will|would|can|could|should|about|many|much|long|old|far|to|u|r|one|time|come)|what'?s|where'?s|who'?s|how'?s|(?:do|does|did|are|can|could|would|will|have|has|had|did) (?:you|u|ya|we|they|i|he|she|it)|(?:u|you) (?:still|ok|awake|coming|there)|any (?:news|idea|plans)|wanna",
  ),
  offer: words(
    "would you like|do you want|shall i|should i|may i|can i|could i|want me to|need help|anything else|help you|how can i|would you prefer me|want (?:a|some|to)",
  ),
  yesOrNo: start(
    "yes|yeah|yep|no|nope|nah|i do|i don'?t|i do not|i am|i'?m not|not (?:really|any ?more|at all)|never|always|sometimes|both|neither",
  ),
  closing: start(
    "(?:with )?(?:(?:best|kind|warm|many|kindest|warmest) (?:wishes|regards|thanks)|regards|best|love|hugs|cheers|(?:yours )?sincerely|yours(?: faithfully| truly)?|thanks|thank you|see you(?: soon)?|take care|kisses|xx?|greetings|warmly)",
  ),
  seam:
    /\s(?:and then|and also|oh and|and|but|so|also)\s(?=(?:i|we|he|she|they|it|my|our|his|her|their|the|there)(?:['’]\p{L}+)?\s)/giu,
};
