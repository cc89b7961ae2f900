import { CONFIDENCE_FLOOR } from "../../../../src/close_enough.ts";

/** From this probability on a hit is said to fit well. */
const WELL = 0.5;

/** How sure it is that a hit answers, in words; `confidence` is 0 to 1. */
export function fitWords(confidence: number): string {
  if (confidence >= WELL) return "fits well";
  return confidence >= CONFIDENCE_FLOOR ? "may fit" : "hardly fits";
}
