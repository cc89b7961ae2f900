import { deepStrictEqual, ok } from "node:assert/strict";
import type { Embedder } from "../src/interfaces/mod.ts";
import { abortLaw, law, lawOf } from "./law.ts";
import type { Suite } from "./suite.ts";

const TEXTS: readonly string[] = [
  "The user has a peanut allergy and carries an injector.",
  "The quarterly report is due on Friday.",
  "Die Katze schläft auf dem Sofa.",
  "사용자는 서울에 산다.",
  "🎉",
  "?!",
  "x",
];

/** How far texts may move between two runs of one model, as cosine distance. */
const SAME = 1e-3;

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? NaN), 0);
}

function same(a: Float32Array | undefined, b: Float32Array | undefined, what: string): void {
  ok(a !== undefined && b !== undefined, `${what}: a vector is missing`);
  ok(1 - cosine(a, b) <= SAME, what);
}

/** Many different words, as many as the number says. */
function words(count: number): string {
  const list = ["river", "stone", "lamp", "green", "paper", "cloud", "train", "bread", "glass"];
  return Array.from({ length: count }, (_, index) => list[index * 7 % list.length]).join(" ");
}

/** What every {@linkcode Embedder} promises. */
export const embedderSuite: Suite<Embedder> = {
  name: "Embedder",
  cases: [
    law("says what it is", (embedder) => {
      ok(embedder.model.length > 0, "the model has no name");
      ok(Number.isInteger(embedder.dimensions) && embedder.dimensions > 0, "dimensions");
      ok(Number.isInteger(embedder.maxTokens) && embedder.maxTokens > 0, "maxTokens");
      return Promise.resolve();
    }),
    law("answers finite vectors of the right length and of unit length", async (embedder) => {
      for (const purpose of ["document", "query"] as const) {
        const answers = await embedder.embed(TEXTS, { purpose });
        deepStrictEqual(answers.length, TEXTS.length);
        for (const vector of answers.flat()) {
          deepStrictEqual(vector.length, embedder.dimensions);
          ok(vector.every(Number.isFinite), "a number is not finite");
          const length = Math.hypot(...vector);
          ok(Math.abs(length - 1) < 1e-3, `the length is ${length}`);
        }
      }
    }),
    law("embeds a short text in one window", async (embedder) => {
      const answers = await embedder.embed(TEXTS, { purpose: "document" });
      deepStrictEqual(answers.map((windows) => windows.length), TEXTS.map(() => 1));
    }),
    law("embeds no texts", async (embedder) => {
      deepStrictEqual(await embedder.embed([], { purpose: "document" }), []);
    }),
    law("answers the same for the same text", async (embedder) => {
      const first = await embedder.embed(TEXTS, { purpose: "document" });
      const again = await embedder.embed(TEXTS, { purpose: "document" });
      for (const [index, text] of TEXTS.entries()) {
        same(first[index]?.[0], again[index]?.[0], `another vector for ${text}`);
      }
    }),
    law("answers in the order of the texts", async (embedder) => {
      const together = await embedder.embed(TEXTS, { purpose: "document" });
      for (const [index, text] of TEXTS.entries()) {
        const [alone] = await embedder.embed([text], { purpose: "document" });
        same(together[index]?.[0], alone?.[0], `another vector in company for ${text}`);
      }
    }),
    law("keeps concurrent calls apart", async (embedder) => {
      const together = await Promise.all(
        TEXTS.map((text, index) =>
          embedder.embed([text], { purpose: index % 2 === 0 ? "document" : "query" })
        ),
      );
      for (const [index, text] of TEXTS.entries()) {
        const purpose = index % 2 === 0 ? "document" : "query";
        const [alone] = await embedder.embed([text], { purpose });
        same(together[index]?.[0]?.[0], alone?.[0], `another vector for ${text}`);
      }
    }),
    law("tells texts apart", async (embedder) => {
      const [[first], [second]] = await embedder.embed(TEXTS.slice(0, 2), {
        purpose: "document",
      }) as [Float32Array[], Float32Array[]];
      ok(cosine(first!, second!) < 0.9, "different texts have the same vector");
    }),
    law("embeds a long text in 1 to 16 windows, each of unit length", async (embedder) => {
      for (const times of [3, 40]) {
        const text = words(embedder.maxTokens * times);
        const [windows = []] = await embedder.embed([text], { purpose: "document" });
        ok(windows.length >= 1 && windows.length <= 16, `${windows.length} windows`);
        for (const window of windows) {
          deepStrictEqual(window.length, embedder.dimensions);
          ok(Math.abs(Math.hypot(...window) - 1) < 1e-3, "no unit length");
        }
      }
    }),
    law("reads a long text to its end", async (embedder) => {
      const filler = words(embedder.maxTokens * 3);
      const [plain = [], ended = []] = await embedder.embed(
        [filler, `${filler} ${TEXTS[0]}`],
        { purpose: "document" },
      );
      const gap = Math.max(
        ...ended.map((window) => Math.min(...plain.map((other) => 1 - cosine(window, other)))),
      );
      ok(gap > SAME, "the end of a long text changes nothing");
    }),
    law("embeds a query in one window, however long", async (embedder) => {
      const queries = ["x", words(embedder.maxTokens * 3)];
      const answers = await embedder.embed(queries, { purpose: "query" });
      deepStrictEqual(answers.map((windows) => windows.length), [1, 1]);
    }),
    lawOf(
      "answers the same to embedQuery, and how well it knows the words",
      "embedQuery",
      (embedder: Embedder) => embedder.embedQuery?.bind(embedder),
      async (embedQuery, embedder) => {
        for (const text of TEXTS) {
          const { vector, known } = await embedQuery(text);
          const [windows] = await embedder.embed([text], { purpose: "query" });
          same(vector, windows?.[0], `another vector for ${text}`);
          ok(known >= 0 && known <= 1, `it knows ${known} of ${text}`);
        }
      },
    ),
    law("puts related texts closer than unrelated ones", async (embedder) => {
      const [[query]] = await embedder.embed(["Which peanut allergy does the user have?"], {
        purpose: "query",
      }) as [Float32Array[]];
      const [[related], [unrelated]] = await embedder.embed(TEXTS.slice(0, 2), {
        purpose: "document",
      }) as [Float32Array[], Float32Array[]];
      ok(cosine(query!, related!) > cosine(query!, unrelated!), "the unrelated text is closer");
    }),
    abortLaw<Embedder>((embedder, signal) => ({
      "embed of documents": () => embedder.embed(["x"], { purpose: "document", signal }),
      "embed of a query": () => embedder.embed(["x"], { purpose: "query", signal }),
      ...(embedder.embedQuery === undefined
        ? {}
        : { embedQuery: () => embedder.embedQuery!("x", { signal }) }),
    })),
  ],
};
