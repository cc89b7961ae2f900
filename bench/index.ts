import { Arena } from "../src/index/vectors/arena.ts";
import { ResidentScope } from "../src/index/resident_scope.ts";
import type { Figure, Part } from "./figures.ts";
import { median, quantile, uniform, unitVector } from "./statistics.ts";

const DIMENSIONS = 512;
const SIZES = [1000, 10_000, 100_000];
const GOALS = new Map([[10_000, 2], [100_000, 20]]);
const QUERIES = 100;
/** Hits that a recall of ten asks for. */
const ANSWERED = 20;
/** Memories are turns of conversations: so many a session, of which one in three asks. */
const TURNS = 10;
const ASKING = 3;
const VOCABULARY = 5000;
const SYLLABLES = "ba ke lo mi nu ra se ti vo za char den fol gar hin jor len mer pol tur".split(
  " ",
);

/** A made-up word, another one for every number. */
function word(number: number): string {
  let text = "";
  for (let rest = number + 17; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) {
    text += SYLLABLES[rest % SYLLABLES.length];
  }
  return text;
}

/** Words as often as in a language: the n-th one 1/n times as often as the first (Zipf). */
function text(words: number, random: () => number): string {
  const any = (): number => Math.floor(VOCABULARY ** random());
  return `I ${Array.from({ length: words }, () => word(any())).join(" ")}`;
}

function measure(size: number, note: (text: string) => void): Figure[] {
  note(`${size} memories`);
  const random = uniform(size);
  const arena = new Arena(DIMENSIONS);
  const scope = new ResidentScope({ owner: "0x01", namespace: "bench" }, arena);
  let indexing = 0;
  for (let i = 0; i < size; i++) {
    const id = String(i);
    scope.put({
      ...scope.scope,
      id,
      version: 1,
      vectors: [unitVector(DIMENSIONS, random)],
      payload: new Uint8Array(),
      keyId: "",
      createdAt: i,
      updatedAt: i,
      importance: 0.5,
      source: "remember",
      bytes: 300,
      standing: { sessionDigest: `session ${Math.floor(i / TURNS)}`, position: i % TURNS },
    });
    const own = text(9, random) + (i % ASKING === 0 ? "?" : "");
    const start = performance.now();
    scope.setText(id, 1, own);
    indexing += performance.now() - start;
  }
  const ask = (mode: "hybrid" | "semantic" | "keyword", isInContext = false): number[] =>
    Array.from({ length: QUERIES }, () => {
      const vector = unitVector(DIMENSIONS, random);
      const query = text(5, random);
      const start = performance.now();
      scope.match({
        ...(mode === "keyword" ? {} : { vector }),
        ...(mode === "semantic" ? {} : { text: query }),
      }, { limit: ANSWERED, inContext: isInContext });
      return performance.now() - start;
    });
  ask("hybrid", true);
  const hybrid = ask("hybrid", true);
  const goal = GOALS.get(size);
  const figures: Figure[] = [
    {
      name: `${size}: hybrid, p50`,
      value: median(hybrid),
      unit: "ms",
      ...(goal === undefined ? {} : { goal: { atMost: goal } }),
    },
    { name: `${size}: hybrid, p95`, value: quantile(hybrid, 0.95), unit: "ms" },
    { name: `${size}: hybrid, out of context, p50`, value: median(ask("hybrid")), unit: "ms" },
    { name: `${size}: semantic, p50`, value: median(ask("semantic")), unit: "ms" },
    { name: `${size}: keyword, p50`, value: median(ask("keyword")), unit: "ms" },
    { name: `${size}: indexing of one text`, value: indexing / size * 1000, unit: "µs" },
    { name: `${size}: memory a memory`, value: scope.residentBytes / size / 1024, unit: "KiB" },
  ];
  scope.release();
  return figures;
}

/** A loaded scope, asked another question every time. */
export const indexPart: Part = {
  name: "index",
  title: "index: a loaded scope by meaning and words, new queries, embedding not counted",
  run: (note) => Promise.resolve(SIZES.flatMap((size) => measure(size, note))),
};
