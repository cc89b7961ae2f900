/**
 * What `deno task stemmers` bundles: stemmers by ISO 639 code.
 *
 * @module
 */
export { stemmer as da } from "@orama/stemmers/danish";
export { stemmer as de } from "@orama/stemmers/german";
export { stemmer as el } from "@orama/stemmers/greek";
export { stemmer as es } from "@orama/stemmers/spanish";
export { stemmer as fi } from "@orama/stemmers/finnish";
export { stemmer as fr } from "@orama/stemmers/french";
export { stemmer as hi } from "@orama/stemmers/indian";
export { stemmer as hu } from "@orama/stemmers/hungarian";
export { stemmer as it } from "@orama/stemmers/italian";
export { stemmer as nl } from "@orama/stemmers/dutch";
export { stemmer as no } from "@orama/stemmers/norwegian";
export { stemmer as pt } from "@orama/stemmers/portuguese";
export { stemmer as ro } from "@orama/stemmers/romanian";
export { stemmer as ru } from "@orama/stemmers/russian";
export { stemmer as sv } from "@orama/stemmers/swedish";
export { stemmer as tr } from "@orama/stemmers/turkish";
export { stemmer as uk } from "@orama/stemmers/ukrainian";
