import { deepStrictEqual, match, notStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { memoryEmbedder } from "../../../plugins/memory/mod.ts";
import { ollamaEmbedder } from "../../../plugins/ollama/mod.ts";
import type { SvcError } from "../../../src/errors.ts";
import { verifies } from "../../requirements.ts";
import { OllamaServer } from "./ollama_server.ts";

const MODEL = "nomic-embed-text";
const query = { purpose: "query" } as const;

/** A refusal that says what to do. */
function replaced({ code, retryable, message }: SvcError): true {
  deepStrictEqual([code, retryable], ["embedding_unavailable", true]);
  match(message, /has another nomic-embed-text now: restart the relayer/);
  return true;
}

Deno.test("vectors of a model that was pulled anew are not taken for those of the former", async () => {
  verifies("15-42", "15-44");
  let now = 0;
  await using words = memoryEmbedder();
  await using server = new OllamaServer({ embedders: { [`${MODEL}:latest`]: words } });
  const options = { url: server.url, model: MODEL, bounds: { now: () => now } };
  await using embedder = await ollamaEmbedder(options);
  server.pulls++;
  now += 10_000;
  await rejects(embedder.embed(["tea"], query), replaced);
  await rejects(embedder.embed(["tea"], { purpose: "document" }), replaced);
  strictEqual(embedder.health?.()?.status, "degraded");
  await using anew = await ollamaEmbedder(options);
  notStrictEqual(anew.model, embedder.model);
  strictEqual((await anew.embed(["tea"], query)).length, 1);
  // Once the former content is back, so are its vectors.
  server.pulls--;
  strictEqual((await embedder.embed(["tea"], query)).length, 1);
});

Deno.test("a model that was pulled anew while nothing ran is noticed before the first vector", async () => {
  verifies("15-42", "15-44");
  const dataDir = await Deno.makeTempDir({ prefix: "svc_" });
  await using words = memoryEmbedder();
  const embedders = { [`${MODEL}:latest`]: words };
  const first = new OllamaServer({ embedders });
  const options = { url: first.url, model: MODEL, context: { dataDir, log() {} } };
  await (await ollamaEmbedder(options))[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await using embedder = await ollamaEmbedder(options);
  await using again = new OllamaServer({ embedders }, first.port);
  again.pulls++;
  await rejects(embedder.embed(["tea"], query), replaced);
  strictEqual(again.requests.some(({ path }) => path === "/api/embed"), false);
  await Deno.remove(dataDir, { recursive: true });
});
