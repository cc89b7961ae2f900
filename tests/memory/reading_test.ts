import assert from "node:assert/strict";
import type { Embedder } from "../../src/interfaces/mod.ts";
import { unreadLanguage } from "../../src/memory/reading.ts";
import { QueryVectors } from "../../src/memory/recall/query_vectors.ts";

const embedder = (languages?: readonly string[]): Embedder => ({
  model: "test",
  dimensions: 2,
  maxTokens: 10,
  ...(languages === undefined ? {} : { languages }),
  embed: (texts) => Promise.resolve(texts.map(() => [Float32Array.of(1, 0)])),
  embedQuery: () => Promise.resolve({ vector: Float32Array.of(1, 0), known: 0.4 }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

Deno.test("an embedder reads the languages it names, or all where it names none", () => {
  const german = "Wo ist mein Schlüssel?";
  assert.equal(unreadLanguage({ languages: ["en"] }, german), "de");
  assert.equal(unreadLanguage({ languages: ["en", "de"] }, german), undefined);
  assert.equal(unreadLanguage({}, german), undefined);
  assert.equal(unreadLanguage({ languages: ["en"] }, "where is my key?"), undefined);
  assert.equal(unreadLanguage({ languages: ["en"] }, "Schlüssel"), undefined);
  assert.equal(unreadLanguage({ languages: ["en"] }, "ჩემი გასაღები"), "und");
});

Deno.test("nothing is known of a query in a language that the embedder does not read", async () => {
  const known = async (languages: readonly string[] | undefined, query: string) => {
    const { known, unread } = await new QueryVectors(embedder(languages), 0, Date.now).get(query);
    return { known, unread };
  };
  const german = "Wo ist mein Schlüssel?";
  assert.deepEqual(await known(["en"], german), { known: 0, unread: true });
  assert.deepEqual(await known(["en"], "where is it?"), { known: 0.4, unread: undefined });
  assert.deepEqual(await known(undefined, german), { known: 0.4, unread: undefined });
});
