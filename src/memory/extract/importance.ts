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
