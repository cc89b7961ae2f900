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

const FAMILY =
  "femme|mari|conjointe?|compagn(?:e|on)|copine?|copain|mère|maman|père|papa|parents|fils|fille|enfants?|bébé|jumeaux|jumelles|sœurs?|soeurs?|frères?|grand-(?:mère|père|parents)|mamie|papi|papy|tante|oncle|cousine?s?|nièce|neveu|amie?s?|voisine?s?|chef|patronne?|collègues?|colocataire|coloc|chiens?|chienne|chats?|chatte|cheval|médecin|dentiste|vétérinaire|propriétaire|sage-femme";

const POSITIVE: readonly Cue[] = [
  [words("je|j'\\w+|moi|mon|ma|mes|nous|notre|nos|on"), 0.5],
  [words(FAMILY), 0.8],
  NAME,
  [
    words(
      "lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|printemps|été|automne|hiver|noël|pâques|le (?:matin|soir)|midi",
    ),
    0.6,
  ],
  [
    words(
      "toujours|jamais|ne \\w+ plus|n'\\w+ plus|chaque|tous les|toutes les|depuis|jusqu'\\w*|à partir d\\w*|seulement|uniquement|sans|par (?:jour|semaine|mois|an)|une fois|deux fois|prochaine?|demain|désormais",
    ),
    0.6,
  ],
  // Preferences, health, rules.
  [
    words(
      "aime|aimons|j'aime|n'aime|adore|j'adore|déteste|préfère|préférée?s?|favorie?s?|horreur de|j'ai horreur|peur (?:de|des|du)|veux|veut|voudrais|supporte",
    ),
    0.9,
  ],
  [
    words(
      "allergi\\w+|intoléran\\w+|végane?s?|vegane?s?|végétarie\\w+|diab[èé]t\\w+|asthm\\w+|cœliaque|coeliaque|gluten|lactose|enceinte|comprimés?|médicaments?|groupe sanguin|opér[ée]\\w*|opération|malade|douleurs?|migraines?|gauch(?:er|ère)|insuline|ne (?:mange|bois|boit|fume|peux|peut) (?:pas|plus|jamais)",
    ),
    1.2,
  ],
  [words("dois|doit|doivent|il faut|faut|interdit|pas|besoin"), 0.4],
  // Life, work, home, agreements.
  [
    words(
      "habit\\w+|vi[ts]|vivons|vivent|travaill\\w+|étudi\\w+|appren\\w+|déménag\\w+|née?s?|mort(?:e|s)?|décédé\\w*|mari(?:é|ée|és)|divorcé\\w*|séparé\\w*|retraite|acheté\\w*|vendu\\w*|lou(?:e|é|ée|ons)|hérité\\w*|m'appelle|s'appelle|nom|anniversaire|joue|parle|conduis|conduit|commenc\\w+|arrêté|quitté|signé|loge|adopté\\w*|infirmi\\w+|professeure?|ingénieure?|apprentie?|suis|papa d\\w*",
    ),
    0.6,
  ],
  [
    words(
      "rendez-vous|rdv|contrat|loyer|coûte|prix|euros?|clés?|clefs?|mot de passe|code|numéro|adresse|délai|convenu|décidé\\w*|décision|s'occupe|responsable|ouvre|ferme|arrive|confirme|révision|salon|réunion|livraison|antivol",
    ),
    0.5,
  ],
  [words("est|sont|était|a|ont|sera|seront|serai|va|vont|c'est"), 0.4],
  [start("pas de|pas d'\\w+|jamais|toujours|sans|ne"), 0.5],
];

const NEGATIVE: readonly Cue[] = [
  [
    start(
      "salut|bonjour|bonsoir|coucou|ch[eè]re?s?|merci|ok|d'accord|super|génial|parfait|bien sûr|trop bien|de rien|au revoir|à (?:bientôt|demain|plus|tout)|bises|bisous|cordialement|amicalement|amitiés|haha\\w*|mdr|oui|non|ouf|bof|ah|oh|désolée?|pardon|félicitations|bravo|peu importe|moi (?:aussi|non plus)|aucune idée|rien d'autre|on se voit",
    ),
    -1.3,
  ],
  [words("tu|te|toi|t'\\w+|ton|ta|tes|vous|votre|vos"), -0.5],
  [words("peut-être|pourrait|serait|qui sait|ou pas|je crois|si seulement|débat|discussion"), -0.8],
  [
    words(
      "aujourd'hui|maintenant|ce (?:matin|soir)|cet après-midi|fatigu\\w+|content\\w*|heureu\\w+|triste|drôle|toute la (?:journée|soirée)|ensuite|après ça",
    ),
    -0.5,
  ],
  [
    words(
      "pleut|plu|pluie|neigé|(?:suis|sommes) allée?s? (?:au|à la|aux|faire)|est allée?s? (?:au|à la|aux|faire)|courses|promen\\w+|mangé|dîné|déjeuné|dormi|cuisiné|regardé|assise?s?|marché dans",
    ),
    -1,
  ],
];

/** The rules' knowledge of French. */
export const FRENCH: Language = {
  smallWords: wordSet(
    "le la les un une des du de et ou mais au aux à en dans avec pour par sans sur sous chez que " +
      "qui ne pas plus se sa son ses mon ma mes notre nos je tu il elle on nous vous ils elles est " +
      "sont suis était ai as a ont ce cet cette ces c'est j'ai n'est d'un d'une qu'il quand où si " +
      "très aussi oui non jamais toujours depuis tous toutes s'appelle être fait",
  ),
  contracted: /^(?:j|l|d|n|c|s|m|t|qu)'/,
  base: 0.25,
  cues: [...COMMON_CUES, ...POSITIVE, ...NEGATIVE],
  lasting: words(
    "allergi\\w+|intoléran\\w+|végane?|végétarie\\w+|diab[èé]t\\w+|asthm\\w+|cœliaque|enceinte|groupe sanguin|médicaments?|jamais|toujours|déteste|anniversaire|née?|morte?s?|décédé\\w*|mariée?s?|divorcé\\w*|m'appelle|s'appelle|préférée?|(?:ma|mon|mes) (?:femme|mari|mère|père|fille|fils|sœur|soeur|frère|enfants|parents|grand-\\w+)",
  ),
  passing: words("aujourd'hui|demain|hier|en ce moment|ce (?:matin|soir)|cette semaine"),
  firstPerson: words("je|j'\\w+|moi|me|m'\\w+|mon|ma|mes|nous|notre|nos"),
  referring: start(
    "il|elle|ils|elles|c'est|c'était|ça|cela|ce|cette|ces|son|sa|ses|leurs?|là-bas|l'autre|les deux|et|mais|aussi|donc|alors|avec ça",
  ),
  pronoun: words("il|elle|ils|elles|lui|leur|ça|cela|là-bas"),
  pointing: words("ça|cela|là-bas"),
  verb: words(
    "est|sont|suis|sommes|c'est|ai|j'ai|a|as|ont|avons|avait|était|sera|serai|va|vais|vont|peux|peut|doit|dois|faut|veux|veut|fait|habit\\p{L}+|travaill\\p{L}+|aim\\p{L}+|j'aime|mang\\p{L}+|bois|boit|joue|vient|pren\\p{L}+|ouvre|ferme|m'appelle|s'appelle|déteste|adore|loge|(?:je|on|nous|il|elle|ils|elles|tu|vous|personne|tout le monde) \\p{L}+",
  ),
  opening: start(
    "(?:(?:salut|bonjour|bonsoir|coucou|chère?s?|chers)(?: (?:madame|monsieur))?(?: [\\p{L}.-]{1,20}){0,3} ?[,:!]|oui,?(?: merci,?)?|non,|bon,?|alors,?|euh|ben,?|bah,?|d'accord,?|au fait,?|ok,?|note:?|p\\.?s\\.?:?)(?= )",
  ),
  hesitation: sounds("euh+|heu+|hum+"),
  question: start(
    "(?:est-ce|qu'est-ce|quand|où|qui|comment|pourquoi|combien|quel(?:le)?s?) (?:que?|qu'\\w+|tu|vous|est|sont|es|vas|heure|âge|de)|t'as|tu (?:as|es|vas|viens|veux|manges|bois|peux) .{1,60}\\?$|et toi",
  ),
  offer: words(
    "veux-tu|voulez-vous|tu veux que|souhaitez-vous|souhaites-tu|puis-je|je peux t'aider|besoin d'aide|autre chose",
  ),
  yesOrNo: start("oui|ouais|non|nan|jamais|toujours|parfois|plus maintenant|les deux|aucun"),
  closing: start(
    "bises|bisous|(?:bien )?cordialement|amicalement|amitiés|à bientôt|merci|sincères salutations|salutations|affectueusement|je t'embrasse",
  ),
  seam:
    /\s(?:et puis|et aussi|et|mais|aussi|puis|donc)\s(?=(?:je|j['’]\p{L}+|nous|on|il|elle|ils|elles|mon|ma|mes|le|la|les|son|sa|ses)\s)/giu,
};
