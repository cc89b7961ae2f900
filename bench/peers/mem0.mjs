/**
 * Searches of npm `mem0ai` over its SQLite store, without a language model and without inference:
 * `node mem0.mjs <folder> <memories>`, in a folder where `mem0ai` and `better-sqlite3` are installed.
 * Prints `ready`, then for each line of input, a number of searches, their times in milliseconds as
 * a line of JSON. Vectors come from a generator instead of a model, so that no embedding is part of
 * the time.
 */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, count] = process.argv.slice(2);
process.env.MEM0_TELEMETRY = "false";
const require = createRequire(pathToFileURL(`${folder}/`));
const { Memory } = await import(pathToFileURL(require.resolve("mem0ai/oss")));
const DIMENSIONS = 512;
let seed = 1;

function vector() {
  const numbers = Array.from({ length: DIMENSIONS }, () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648 - 0.5;
  });
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}

const memory = new Memory({
  version: "v1.1",
  embedder: {
    provider: "langchain",
    config: {
      model: {
        embedQuery: () => Promise.resolve(vector()),
        embedDocuments: (texts) => Promise.resolve(texts.map(vector)),
      },
    },
  },
  vectorStore: {
    provider: "memory",
    config: { collectionName: "b", dimension: DIMENSIONS, dbPath: `${folder}/vectors.db` },
  },
  llm: { provider: "openai", config: { apiKey: "none" } },
  disableHistory: true,
});
for (let i = 0; i < Number(count); i++) {
  const text = `Note ${i}: tea coffee Lisbon train piano garden winter notes`;
  await memory.add(text, { userId: "u", infer: false });
}
process.stdout.write("\nready\n");
for await (const searches of createInterface({ input: process.stdin })) {
  const times = [];
  for (let i = 0; i < Number(searches); i++) {
    const began = performance.now();
    const { results } = await memory.search("tea in Lisbon", {
      filters: { user_id: "u" },
      topK: 10,
    });
    times.push(performance.now() - began);
    if (results.length === 0) throw new Error("mem0 found nothing");
  }
  process.stdout.write(`\n${JSON.stringify(times)}\n`);
}
process.exit(0);
