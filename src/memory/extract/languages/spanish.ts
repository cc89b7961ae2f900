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
  "(?:mi|mis|su|sus|nuestr[oa]s?) (?:madre|padre|mamá|papá|hij[oa]s?|herman[oa]s?|abuel[oa]s?|t[ií][oa]s?|prim[oa]s?|sobrin[oa]s?|niet[oa]s?|mujer|marido|espos[oa]|pareja|novi[oa]|amig[oa]s?|vecin[oa]s?|jef[ea]|compañer[oa]s?|perr[oa]s?|gat[oa]s?|suegr[oa]s?)|mamá|papá|abuel[oa]|perr[oa]|gat[oa]|médic[oa]|dentista|veterinari[oa]|caser[oa]";

const POSITIVE: readonly Cue[] = [
  [
    words(
      "yo|mi|mis|mí|me|nos|nuestr[oa]s?|soy|somos|tengo|tenemos|estoy|vivo|vivimos|trabajo|trabajamos|uso|prefiero|odio|detesto|como|bebo|tomo|necesitamos|voy",
    ),
    0.5,
  ],
  [words(FAMILY), 0.8],
  NAME,
  [
    words(
      "lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre|primavera|verano|otoño|invierno|navidad|por la (?:mañana|tarde|noche)",
    ),
    0.6,
  ],
  [
    words(
      "siempre|nunca|jamás|ya no|cada|todos los|todas las|desde|hasta|a partir de|solo|sólo|sin|al (?:día|mes|año)|una vez|dos veces|por semana|a diario|el próximo|la próxima|mañana",
    ),
    0.6,
  ],
  // Preferences, health, rules.
  [
    words(
      "gustan?|encantan?|prefier\\w+|favorit[oa]s?|odi[oa]|detest[oa]|no soport[oa]|amo|quier[oe]|adoro|miedo a",
    ),
    0.9,
  ],
  [
    words(
      "al[eé]rgic[oa]s?|alergia|intoleran\\w+|vegan[oa]s?|vegetarian[oa]s?|diab[eé]t\\w+|asma|asmátic[oa]|celíac[oa]s?|gluten|lactosa|embarazada|pastillas?|medicin\\w+|medicamentos?|grupo sanguíneo|operaron|operación|enferm[oa]|dolor(?:es)?|migrañas?|zurd[oa]|no (?:como|come|bebo|bebe|fumo|fuma|puedo|puede)|insulina|vomita",
    ),
    1.2,
  ],
  [words("hay que|tiene que|tengo que|debe|deben|necesit\\w+|no se|no"), 0.4],
  // Life, work, home, agreements.
  [
    words(
      "viv[eo]n?|vivimos|trabaj\\w+|estudi\\w+|aprend\\w+|mud\\w+|nac\\w+|muri[óo]|murieron|fallec\\w+|cas(?:é|ó|ada|ado|amos|aron)|divorci\\w+|separ\\w+|jubil\\w+|compr(?:é|ó|amos)|vend(?:í|ió|imos)|alquil\\w+|hered\\w+|llam[ao]n?|se llama|nombre|cumpl\\w+|cumpleaños|toc[ao]|habl[ao]n?|conduc\\w+|empec\\w+|empez\\w+|dej(?:é|ó|amos)|firm(?:é|ó|amos)|tien[ei]n?|aprendiz|adopt\\w+|enfermer[oa]|profesor[a]?|ingenier[oa]",
    ),
    0.6,
  ],
  [
    words(
      "cita|contrato|alquiler|cuesta|precio|euros?|llaves?|contraseña|clave|número|código|dirección|plazo|acord\\w+|acuerdo|decid\\w+|encarg\\w+|responsable|abren?|cierran?|llegar[áa]n?|confirmo|queda|reunión|entrega",
    ),
    0.5,
  ],
  [words("es|son|está|están|era|fue|ha|han|hay|será|van?|tiene"), 0.4],
  [start("nunca|siempre|nada de|sin|no"), 0.4],
];

const NEGATIVE: readonly Cue[] = [
  [
    start(
      "hola|buen(?:as|os)(?: \\w+)?|querid[oa]s?|estimad[oa]s?|gracias|muchas gracias|vale|ok|okey|genial|perfecto|claro|de nada|adiós|hasta (?:luego|mañana|pronto|el)|un (?:saludo|abrazo|beso)|saludos|besos|abrazos|atentamente|jaja\\w*|sí|si,|no,? gracias|uf|ay|bueno|lo siento|perdona|felicidades|enhorabuena|da igual|yo (?:también|tampoco)|ni idea|nada más",
    ),
    -1.3,
  ],
  [words("tú|te|ti|tu|tus|usted|ustedes|vosotros|os|podrías|puedes"), -0.5],
  [
    words(
      "quizás?|tal vez|a lo mejor|podría|sería|quién sabe|o no|creo que|ojalá|mucho ruido|debate|discusión",
    ),
    -0.8,
  ],
  [
    words(
      "hoy|ahora mismo|esta (?:mañana|tarde|noche)|cansad[oa]|feliz|contentos?|aburrid[oa]|triste|todo el día|duelen?|después",
    ),
    -0.5,
  ],
  [
    words(
      "llueve|llovió|lluvia|nevó|fuimos a(?:l| la| los)? (?:tienda|supermercado|mercado|parque|cine|playa|compras?)|fui a(?:l| la)? (?:tienda|supermercado|mercado|parque|cine|playa)|de compras|paseamos|paseé|comimos|cené|cenamos|desayun\\w+|dormí|dormimos|cociné|vimos|vi una|me senté|quiero cambiar",
    ),
    -1,
  ],
];

/** The rules' knowledge of Spanish. */
export const SPANISH: Language = {
  smallWords: wordSet(
    "el la los las un una unos unas y o pero de del a al en con por para sin que se su sus mi mis " +
      "me te nos le lo les es son está están era fue soy eres hay ha he no sí ya muy más como " +
      "cuando donde porque si este esta eso ese hasta desde también todo todos cada nunca siempre " +
      "qué cómo yo él ella estoy tengo tiene",
  ),
  base: 0.25,
  cues: [...COMMON_CUES, ...POSITIVE, ...NEGATIVE],
  lasting: words(
    "al[eé]rgic[oa]s?|alergia|intoleran\\w+|vegan[oa]|vegetarian[oa]|diab[eé]t\\w+|asma|celíac[oa]|embarazada|grupo sanguíneo|medicamentos?|nunca|jamás|siempre|odio|cumpleaños|nac\\w+|murió|murieron|falleció|casad[oa]|divorciad[oa]|me llamo|se llama|favorit[oa]|mi (?:madre|padre|hij[oa]|herman[oa]|mujer|marido|espos[oa]|abuel[oa])",
  ),
  passing: words("hoy|mañana|ayer|ahora mismo|esta (?:mañana|tarde|noche|semana)"),
  firstPerson: words(
    "yo|mi|mis|mí|me|nos|nuestr[oa]s?|soy|somos|estoy|tengo|vivo|trabajo|prefiero|odio|uso|voy|confirmo|necesitamos",
  ),
  referring: start(
    "él|ella|ellos|ellas|eso|esto|ese|esa|este|esta|su|sus|allí|ahí|la mía|el mío|el otro|la otra|ambos|y|pero|también|además|por eso|con eso|se llama|tiene|es",
  ),
  pronoun: words("él|ella|ellos|ellas|lo|le|les|eso|allí|ahí"),
  pointing: words("lo|eso|allí|ello"),
  verb: words(
    "es|son|está|están|soy|somos|estoy|era|fue|ha|han|he|hay|tengo|tiene|tienen|tenemos|va|van|voy|vive|vivo|viven|trabaj[aoe]n?|gusta|gustan|quier[oe]|pued[oe]|deb[eo]n?|llam[ao]n?|abre|cierra|com[eo]|beb[eo]|tom[ao]|odi[oa]|prefier[oe]|us[ao]|\\p{L}{2,}(?:ó|é|í|aron|ieron|amos|imos|aba|ía|ará|erá)",
  ),
  opening: start(
    "(?:(?:hola|querid[oa]s?|estimad[oa]s?|buen(?:as|os)(?: (?:días|tardes|noches))?)(?: (?:señora?|sr\\.|sra\\.))?(?: [\\p{L}.-]{1,20}){0,3} ?[,:!]|sí,?(?: por favor,?)?|no,|bueno,?|a ver,?|pues,?|eh|oye,?|mira,?|vale,?|claro,?|por cierto,?|nota:?|p\\.?d\\.?:?)(?= )",
  ),
  hesitation: sounds("eh+|ehm|este,"),
  question: start(
    "(?:qué|que tal|cómo|cuándo|dónde|quién|cuánt[oa]s?|por qué|cuál) (?:es|son|está|tal|hora|haces?|hacemos|vas|vives|tienes|quieres|te|se|años)|(?:tienes|quieres|puedes|sabes|vas|vienes|comes|bebes|te gusta|has|hay) .{1,60}(?:tú|alg\\w+)?$|y tú",
  ),
  offer: words(
    "quieres que|te gustaría|puedo ayud\\w+|necesitas ayuda|te ayudo|algo más|en qué puedo|desea",
  ),
  yesOrNo: start("sí|si|no|nunca|siempre|a veces|ya no|ambos|ninguno"),
  closing: start(
    "(?:un |muchos )?(?:saludos?|abrazos?|besos?)(?: cordial(?:es)?)?|atentamente|cordialmente|gracias|hasta pronto|con cariño|tuy[oa]",
  ),
  seam:
    /\s(?:y luego|y además|y|pero|también|luego|además)\s(?=(?:yo|mi|mis|él|ella|ellos|su|sus|el|la|los|las|nos|me|se)\s)/giu,
};
