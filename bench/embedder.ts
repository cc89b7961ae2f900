import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import type { EmbedOptions } from "../src/interfaces/mod.ts";
import type { Part } from "./figures.ts";
import { sentence } from "./fill.ts";
import { median, quantile } from "./statistics.ts";

const ROUNDS = 5;
const CALLS = 40;
const BATCH = 256;

/** The built-in embedder by itself, in this process and its worker thread. */
export const embedderPart: Part = {
  name: "embedder",
  title: "embedder: use-lite, one worker thread",
  async run(note) {
    const begin = performance.now();
    await using embedder = useLiteEmbedder();
    const time = async (texts: readonly string[], purpose: EmbedOptions["purpose"]) => {
      const start = performance.now();
      await embedder.embed(texts, { purpose });
      return performance.now() - start;
    };
    await time(["ready"], "query");
    const loading = performance.now() - begin;
    note("warming up");
    for (let i = 0; i < CALLS; i++) await time([sentence(i)], "query");

    const short: number[] = [];
    const document: number[] = [];
    const long: number[] = [];
    const perSecond: number[] = [];
    let next = 1000;
    for (let round = 0; round < ROUNDS; round++) {
      note(`round ${round + 1} of ${ROUNDS}`);
      for (let i = 0; i < CALLS; i++) {
        short.push(await time([sentence(next++)], "query"));
        document.push(await time([sentence(next++)], "document"));
        long.push(await time([longText(next++)], "query"));
      }
      const batch = Array.from({ length: BATCH }, () => sentence(next++));
      perSecond.push(BATCH / await time(batch, "document") * 1000);
    }
    return [
      { name: "from nothing to the first vector", value: loading, unit: "ms" },
      { name: "short query, p50", value: median(short), unit: "ms" },
      { name: "short query, p95", value: quantile(short, 0.95), unit: "ms" },
      { name: "short document, p50", value: median(document), unit: "ms" },
      { name: "text of 128 tokens, p50", value: median(long), unit: "ms" },
      { name: "text of 128 tokens, p95", value: quantile(long, 0.95), unit: "ms" },
      { name: "short documents, 256 at once", value: median(perSecond), unit: "/s" },
    ];
  },
};

/** More words than a window has tokens: it is cut there. */
function longText(i: number): string {
  return Array.from({ length: 14 }, (_, n) => sentence(i * 100 + n)).join(". ");
}
