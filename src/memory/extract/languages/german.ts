import { COMMON_CUES, type Cue, type Language, sounds, start, words, wordSet } from "./language.ts";

const FAMILY =
  "(?:ehe)?(?:frau|mann)|partner(?:in)?|freund(?:in)?|mutter|mama|mutti|vater|papa|eltern|(?:enkel)?s[oö]hne?|t[oö]chter|(?:enkel)?kind(?:er)?|baby|zwillinge|schwester|bruder|geschwister|gro(?:ß|ss)(?:mutter|vater|eltern)|omas?|opas?|tante|onkel|cousine?|nichte|neffe|nachbar(?:in|n)?|chef(?:in)?|kolleg(?:e|in)|mitbewohner(?:in)?|hund|katze|kater|pferd|haustier|arzt|ärztin|zahnarzt|zahnärztin|tierarzt|tierärztin|vermieter(?:in)?|hebamme|lehrer(?:in)?";

const POSITIVE: readonly Cue[] = [
  [words("ich|mein\\w*|wir|uns(?:er\\w*)?|mir|mich"), 0.5],
  [words(FAMILY), 0.8],
  [
    words(
      "(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)s?|mo|di|mi|do|fr|sa|so|januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|frühling|frühjahr|sommer|herbst|winter|weihnachten|ostern|(?:morgen|mittag|abend|nacht)s",
    ),
    0.6,
  ],
  [
    words(
      "jede[nrsm]?|täglich|wöchentlich|monatlich|jährlich|immer|nie(?:mals)?|nicht mehr|kein\\w* mehr|nur|ohne|seit|bis|ab|erst|zweimal|einmal|meistens|regelmäßig|im (?:monat|jahr)|pro (?:tag|woche|monat|jahr)|jetzt",
    ),
    0.6,
  ],
  // Preferences, health, rules.
  [
    words(
      "mag|mögen|möchte|liebe?|lieber|am liebsten|lieblings\\w+|hasse?|gern|ungern|verabscheue|bevorzug\\w+|nicht ausstehen|angst vor|will|bin (?:ein )?\\w+(?:in|er)",
    ),
    0.9,
  ],
  [
    words(
      "allerg\\w+|\\w*allergie|vertrag\\w*|verträgt|unverträglich\\w*|intoleran\\w+|vegan\\w*|vegetari\\w+|diabet\\w+|asthma\\w*|zöliakie|gluten\\w*|laktose\\w*|schwanger\\w*|tablette\\w*|medikament\\w*|blutgruppe|operiert|operation|krank\\w*|schmerz\\w*|migräne|bein|knie|linkshänder\\w*|trinke? kein\\w*|esse? kein\\w*|isst kein\\w*|trinkt kein\\w*|raucht?e?",
    ),
    1.2,
  ],
  [words("muss|müssen|darf|dürfen|soll(?:en)?|nicht|kein\\w*"), 0.4],
  // Life, work, home, agreements.
  [
    words(
      "wohn\\w*|arbeit\\w*|leb(?:e|t|en)|studier\\w*|lern(?:e|t|en)|spiel(?:e|t|en)|sprech\\w*|spricht|geboren|gestorben|tot|heirat\\w*|verheiratet|geschieden|getrennt|verlobt|umzieh\\w*|umgezogen|zieh(?:e|t|en)|eingetreten|gekündigt|angefangen|gekauft|verkauft|gemietet|geerbt|heißt|heiße|heißen|name|geburtstag|beruf|lehrling|fährt|fahre|geprobt|probt|besitz\\w*|hab(?:e|t)?|hat|haben|gibt",
    ),
    0.5,
  ],
  [
    words(
      "termin\\w*|vertrag|miete|kostet|kosten|euro|preis|schlüssel|passwort|kennwort|nummer|code|adresse|frist|vereinbart|beschlossen|entschieden|übernimmt|zuständig|verantwortlich|durch firma|öffnet|schließt|geöffnet|treffpunkt|gleis|bahncard",
    ),
    0.5,
  ],
  [words("ist|sind|war|waren|wird|werden|wurde|kann|können"), 0.3],
  [start("kein\\w*|nie|immer|nur|nicht"), 0.5],
];

const NEGATIVE: readonly Cue[] = [
  [
    start(
      "hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend)|liebe[rs]?|sehr geehrte\\w*|danke\\w*|vielen dank|ok(?:ay)?|alles klar|super|toll|schön|prima|genau|gern geschehen|kein (?:problem|ergebnis)|tschüss?|bis (?:bald|dann|morgen|später)|viele grüße|liebe grüße|lg|mfg|mit freundlichen grüßen|schöne grüße|gute (?:nacht|besserung)|haha\\w*|uff|ach|naja|na ja|ja|nein|nee|bitte|sorry|entschuldig\\w*|glückwunsch|herzlich\\w*|sonst nichts|ich auch|egal|keine ahnung",
    ),
    -1.3,
  ],
  [words("du|dich|dir|dein\\w*|ihr|euch|euer|ihnen"), -0.5],
  [
    words(
      "vielleicht|eventuell|könnte|wäre|würde|mal sehen|oder auch nicht|irgendwie|wohl|gerede|diskussion|diskutiert",
    ),
    -0.8,
  ],
  [
    words(
      "heute|gerade|im moment|danach|müde|glücklich|froh|lustig|langweilig|gelacht|den ganzen (?:tag|abend)",
    ),
    -0.5,
  ],
  [
    words(
      "wetter|regen|geregnet|regnet|geschneit|(?:ein)?gekauft haben|einkaufen|einkauf|spazier\\w*|geschlafen|gegessen|gekocht|getrunken|ferngesehen|im (?:kino|park|laden|supermarkt)|(?:in den|zum) (?:laden|supermarkt|park|see)|schmalzbrot|gab es|geputzt|gesessen|gegangen",
    ),
    -1,
  ],
];

/** The rules' knowledge of German. */
export const GERMAN: Language = {
  smallWords: wordSet(
    "der die das den dem des ein eine einen einem einer und oder aber nicht kein keine keinen ich " +
      "du er sie es wir ihr mein meine meinen meinem meiner dein sein seine ist sind war hat habe " +
      "haben hab mit von zu zum zur im am auf für bei nach aus um an in als auch nur noch schon mehr " +
      "dass wenn weil wie was wann wo bin bis seit ab nie immer jetzt wird sich mir mich uns dann",
  ),
  base: 0.25,
  cues: [...COMMON_CUES, ...POSITIVE, ...NEGATIVE],
  lasting: words(
    "allerg\\w+|\\w*allergie|vertrage?|verträgt|vegan\\w*|vegetari\\w+|diabet\\w+|asthma\\w*|zöliakie|schwanger|blutgruppe|medikament\\w*|nie|niemals|immer|hasse|geburtstag|geboren|gestorben|verheiratet|geschieden|heißt|heiße|mein\\w* (?:frau|mann|mutter|vater|schwester|bruder|tochter|sohn|kinder|eltern|oma|opa)|lieblings\\w+",
  ),
  passing: words("heute|morgen|gestern|gerade|im moment|diese woche|heute abend"),
  firstPerson: words("ich|mein\\w*|mir|mich|wir|uns(?:er\\w*)?"),
  referring: start(
    "er|sie|es|sein\\w*|ihr\\w*|ihm|ihn|dies\\w*|das|dort|da|dabei|damit|davon|dafür|deshalb|außerdem|und|aber|auch|beide",
  ),
  pronoun: words("er|sie|es|ihn|ihm|ihr|dort|da|das|damit|davon"),
  pointing: words("es|ihn|ihm|dort|damit|davon|dafür"),
  verb: words(
    "ist|sind|bin|war|waren|hat|hab|habe|haben|hatte|wird|werden|wurde|kann|können|muss|müssen|soll|sollen|darf|will|mag|möchte|kommt?|geht?|gibt|nimmt|macht|wohn\\w+|arbeit\\w+|heißt|heiße|fährt|spielt|steht|liegt|läuft|bekommt|braucht|probt|zieht|hilft|weiß|wusste|mochte|brachte|kostet|öffnet|schließt|übernimmt|trifft|findet|ge\\p{L}{3,}t|lern\\w+|leb\\w+|ess\\w*|isst|trink\\w*|(?:ich|wir|er|sie|du|man|niemand|alle) \\p{L}+",
  ),
  opening: start(
    "(?:(?:hallo|hi|hey|liebe[rs]?|guten (?:morgen|tag|abend)|sehr geehrte[rs]?(?: frau| herr)?)(?: [\\p{L}.-]{1,20}){0,3} ?[,:!]|ja,?(?: bitte,?)?(?: und| aber)?|nein,|nee,?|also,?|ähm?|hm+|okay,?|ok,?|übrigens,?|naja,?|ach,?|so,|notiz an mich:?|p\\.?s\\.?:?)(?= )",
  ),
  hesitation: sounds("ähm?|öhm?|hm+"),
  question: start(
    "(?:wann|wo|wer|wie|was|warum|wieso|weshalb|welche[rsn]?|woher|wohin) (?:ist|sind|hast|habt|bist|seid|kommst|kommt|fährst|fahrt|gehst|geht|machst|macht|willst|wohnst|heißt du|viel|lange|oft|alt|spät)|(?:hast|bist|kannst|willst|magst|isst|trinkst|weißt|kommst|soll|seid|habt|könnt) (?:du|ihr|ich|wir)|und (?:du|ihr)",
  ),
  offer: words(
    "soll ich|möchtest du|willst du|darf ich|kann ich|brauchst du hilfe|wie kann ich|noch etwas",
  ),
  yesOrNo: start("ja|jo|nein|nee|nö|nie|immer|manchmal|nicht mehr|beide|keins"),
  closing: start(
    "(?:mit )?(?:viele|liebe|herzliche|schöne|beste|freundlichen?) grü(?:ß|ss)en?|gru(?:ß|ss)|lg|vg|mfg|dein|deine|ihr|ihre|bis bald|alles liebe|danke",
  ),
  seam:
    /\s(?:und dann|und|aber|also|dann|außerdem)\s(?=(?:ich|wir|er|sie|es|mein\p{L}*|unser\p{L}*|der|die|das|da)\s)/giu,
};
