import { memoryEmbedder } from "../../plugins/memory/mod.ts";
import type { Embedder } from "../../src/interfaces/mod.ts";
import { conform, embedderSuite } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

conform(embedderSuite, "memory", () => memoryEmbedder());

function onVectors(change: (vector: Float32Array) => Float32Array) {
  return (embedder: Embedder): Partial<Embedder> => ({
    embed: async (texts, options) =>
      (await embedder.embed(texts, options)).map((windows) => windows.map(change)),
  });
}

function rotated(vector: Float32Array, by: number): Float32Array {
  return Float32Array.of(...vector.subarray(by), ...vector.subarray(0, by));
}

mutants(embedderSuite, () => memoryEmbedder(), [
  {
    name: "answers vectors of any length",
    fails: ["answers finite vectors of the right length and of unit length"],
    change: onVectors((vector) => vector.map((value) => value * 2)),
  },
  {
    name: "answers something else to embedQuery",
    fails: ["answers the same to embedQuery, and how well it knows the words"],
    change: (embedder) => ({
      async embedQuery(text) {
        const [[vector]] = await embedder.embed([`${text} x`], { purpose: "query" }) as [
          Float32Array[],
        ];
        return { vector: vector!, known: 1 };
      },
    }),
  },
  {
    name: "knows more than every word",
    fails: ["answers the same to embedQuery, and how well it knows the words"],
    change: (embedder) => ({
      async embedQuery(text) {
        const [[vector]] = await embedder.embed([text], { purpose: "query" }) as [Float32Array[]];
        return { vector: vector!, known: 2 };
      },
    }),
  },
  {
    name: "answers fewer dimensions than it says",
    fails: ["answers finite vectors of the right length and of unit length"],
    change: () => ({ dimensions: 384 }),
  },
  {
    name: "answers NaN for texts without words",
    fails: ["answers finite vectors of the right length and of unit length"],
    change: (embedder) => ({
      embed: async (texts, options) =>
        (await embedder.embed(texts, options)).map((windows, index) =>
          /\p{L}/u.test(texts[index]!) ? windows : windows.map((window) => window.fill(NaN))
        ),
    }),
  },
  {
    name: "answers in another order",
    fails: ["answers in the order of the texts"],
    change: (embedder) => ({
      embed: async (texts, options) => (await embedder.embed(texts, options)).reverse(),
    }),
  },
  {
    name: "answers something else each time",
    fails: ["answers the same for the same text"],
    change(embedder) {
      let calls = 0;
      return {
        async embed(texts, options) {
          const by = ++calls % 7;
          const answers = await embedder.embed(texts, options);
          return answers.map((windows) => windows.map((window) => rotated(window, by)));
        },
      };
    },
  },
  {
    name: "answers one vector for all texts",
    fails: ["tells texts apart", "puts related texts closer than unrelated ones"],
    change: onVectors((vector) => new Float32Array(vector.length).fill(1 / 16)),
  },
  {
    name: "clips long texts",
    fails: ["reads a long text to its end"],
    change: (embedder) => ({
      embed: async (texts, options) =>
        (await embedder.embed(texts, options)).map((windows) => windows.slice(0, 1)),
    }),
  },
  {
    name: "answers every window of a long text",
    fails: ["embeds a long text in 1 to 16 windows, each of unit length"],
    change: (embedder) => ({
      embed: async (texts, options) =>
        (await embedder.embed(texts, options)).map((windows) =>
          windows.length === 16 ? [...windows, ...windows] : windows
        ),
    }),
  },
  {
    name: "answers several windows for a query",
    fails: ["embeds a query in one window, however long"],
    change: (embedder) => ({
      embed: (texts, options) => embedder.embed(texts, { ...options, purpose: "document" }),
    }),
  },
  {
    name: "embeds documents and queries into different spaces",
    fails: ["puts related texts closer than unrelated ones"],
    change: (embedder) => ({
      async embed(texts, options) {
        const answers = await embedder.embed(texts, options);
        if (options.purpose === "document") return answers;
        return answers.map((windows) => windows.map((window) => window.map((value) => -value)));
      },
    }),
  },
  {
    name: "mixes up concurrent calls",
    fails: ["keeps concurrent calls apart"],
    change(embedder) {
      let batch: Promise<Float32Array[][]> | undefined;
      return {
        async embed(texts, options) {
          batch ??= embedder.embed(texts, options);
          const answers = await batch;
          batch = undefined;
          return answers;
        },
      };
    },
  },
  {
    name: "fails on an empty list",
    fails: ["embeds no texts"],
    change: (embedder) => ({
      embed: (texts, options) => embedder.embed(texts.length === 0 ? [""] : texts, options),
    }),
  },
  {
    name: "ignores the signal",
    fails: ["rejects with the reason of an aborted signal"],
    change: (embedder) => ({
      embed: (texts, { purpose }) => embedder.embed(texts, { purpose }),
    }),
  },
]);
