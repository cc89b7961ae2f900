/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { Hit } from "../../../../src/client/results.ts";
import { fitWords } from "./fit_words.ts";

const percent = (part: number) => Math.round(Math.max(0, Math.min(1, part)) * 100);

/** How well a hit fits; where nobody measured how sure that is, its score. */
export function Fit({ hit: { confidence, score } }: { hit: Hit }) {
  return (
    <span class="match">
      <meter aria-label="Match" min={0} max={100} value={percent(confidence ?? score)} />
      <span>{confidence === undefined ? `score ${score.toFixed(2)}` : fitWords(confidence)}</span>
    </span>
  );
}
