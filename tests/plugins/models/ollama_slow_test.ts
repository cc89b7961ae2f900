import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import plugin, { ollamaEmbedder, ollamaLanguageModel } from "../../../plugins/ollama/mod.ts";
import { memoryEmbedder } from "../../../plugins/memory/mod.ts";
import { useLiteEmbedder } from "../../../plugins/use_lite/mod.ts";
import type { Embedder } from "../../../src/interfaces/mod.ts";
import type { SvcError } from "../../../src/errors.ts";
import { readFields } from "../../../src/interfaces/fields.ts";
import { conform, embedderSuite, languageModelSuite } from "../../../testing/mod.ts";
import { verifies } from "../../requirements.ts";
import { live } from "./live.ts";
import { OllamaServer, type OllamaServerOptions } from "./ollama_server.ts";

const MODEL = "nomic-embed-text";
const CHAT = "qwen3:4b";
const words = (): Record<string, Embedder> => ({ [`${MODEL}:latest`]: memoryEmbedder() });
const echo = { [CHAT]: () => "Green." };

/** What is opened on a server, and the server, which goes with it. */
async function on<T extends AsyncDisposable>(
  options: OllamaServerOptions,
  open: (url: string) => Promise<T>,
): Promise<T> {
  const server = new OllamaServer(options);
  const opened = await open(server.url);
  const dispose = opened[Symbol.asyncDispose].bind(opened);
  opened[Symbol.asyncDispose] = async () => {
    await dispose();
    await server[Symbol.asyncDispose]();
    for (const embedder of Object.values(options.embedders ?? {})) {
      await embedder[Symbol.asyncDispose]();
    }
  };
  return opened;
}

conform(embedderSuite, "ollama", () =>
  on(
    { embedders: { [`${MODEL}:latest`]: useLiteEmbedder() } },
    (url) => ollamaEmbedder({ url, model: MODEL }),
  ));
conform(
  languageModelSuite,
  "ollama",
  () => on({ chats: echo }, (url) => ollamaLanguageModel({ url, model: CHAT })),
);
live("SVC_LIVE_OLLAMA_URL", (url) => {
  const model = Deno.env.get("SVC_LIVE_OLLAMA_EMBEDDING_MODEL") ?? MODEL;
  const chat = Deno.env.get("SVC_LIVE_OLLAMA_CHAT_MODEL") ?? CHAT;
  conform(embedderSuite, "real ollama", () => ollamaEmbedder({ url, model }));
  conform(languageModelSuite, "real ollama", () => ollamaLanguageModel({ url, model: chat }));
});

Deno.test("the plugin reads its settings and asks for its host alone", async () => {
  verifies("15-27");
  await using server = new OllamaServer({ embedders: words(), chats: echo });
  const settings = readFields(plugin.fields, {
    SVC_OLLAMA_URL: server.url,
    SVC_OLLAMA_EMBEDDING_MODEL: MODEL,
    SVC_OLLAMA_CHAT_MODEL: CHAT,
    SVC_EMBEDDING_DIMENSIONS: "256",
  });
  const permissions = plugin.permissions?.("embedder", settings, "");
  deepStrictEqual(permissions, { net: [`127.0.0.1:${server.port}`] });
  const defaults = readFields(plugin.fields, {});
  deepStrictEqual(plugin.permissions?.("embedder", defaults, ""), { net: ["127.0.0.1:11434"] });
  const context = { dataDir: "", log() {} } as unknown as Parameters<
    NonNullable<typeof plugin.roles.embedder>
  >[1];
  await using embedder = await plugin.roles.embedder!(settings, context);
  match(embedder.model, /^ollama:nomic-embed-text@[0-9a-f]{12}$/);
  strictEqual(embedder.dimensions, 256);
  await using model = await plugin.roles.languageModel!(settings, context);
  strictEqual(model.model, "ollama:qwen3:4b");
  for (const role of ["embedder", "languageModel"] as const) {
    const open = async () => await plugin.roles[role]!(defaults, context);
    await rejects(open, { code: "invalid_parameter", message: /set SVC_OLLAMA_/ });
  }
});

Deno.test("a model that is not there is a start error with the command that pulls it", async () => {
  await using server = new OllamaServer({ embedders: words() });
  const { url } = server;
  const missing = (error: SvcError) => {
    strictEqual(error.code, "invalid_parameter");
    match(error.message, /run "ollama pull absent" where Ollama runs/);
    return true;
  };
  await rejects(() => ollamaEmbedder({ url, model: "absent" }), missing);
  await rejects(() => ollamaLanguageModel({ url, model: "absent" }), missing);
});

Deno.test("vectors of another length than configured are a start error", async () => {
  verifies("15-27");
  await using server = new OllamaServer({ embedders: words() });
  await rejects(() => ollamaEmbedder({ url: server.url, model: MODEL, dimensions: 768 }), {
    code: "invalid_parameter",
    message: "SVC_EMBEDDING_DIMENSIONS is 768, but the vectors of nomic-embed-text have 256",
  });
});

Deno.test("texts get the model's prefixes, and are never cut without a word", async () => {
  await using server = new OllamaServer({ embedders: words() });
  await using embedder = await ollamaEmbedder({ url: server.url, model: MODEL });
  server.requests.length = 0;
  await embedder.embed(["tea"], { purpose: "document" });
  await embedder.embed(["what?"], { purpose: "query" });
  deepStrictEqual(server.requests.map(({ body }) => [body["input"], body["truncate"]]), [
    [["search_document: tea"], false],
    [["search_query: what?"], false],
  ]);
});

Deno.test("texts that wait together are sent together, and queries do not wait for them", async () => {
  await using server = new OllamaServer({ embedders: words() });
  await using embedder = await ollamaEmbedder({ url: server.url, model: MODEL });
  server.requests.length = 0;
  const texts = Array.from({ length: 100 }, (_, i) => `memory ${i}`);
  await Promise.all([
    ...texts.map((text) => embedder.embed([text], { purpose: "document" })),
    embedder.embed(["query"], { purpose: "query" }),
  ]);
  const sizes = server.requests.map(({ body }) => (body["input"] as string[]).length);
  deepStrictEqual(sizes.toSorted((a, b) => a - b), [1, 4, 16, 16, 16, 16, 16, 16]);
  ok(sizes.indexOf(1) < 3, "the query waited for the documents");
});

Deno.test("a text the server finds too long is embedded in parts, its neighbours as they are", async () => {
  await using server = new OllamaServer({ embedders: words(), longest: 400 });
  await using embedder = await ollamaEmbedder({ url: server.url, model: MODEL });
  const long = "river stone lamp green paper cloud train bread glass ".repeat(20).trim();
  const [[whole], [short]] = await embedder.embed([long, "tea"], { purpose: "document" }) as [
    Float32Array[],
    Float32Array[],
  ];
  const [[alone]] = await embedder.embed(["tea"], { purpose: "document" }) as [Float32Array[]];
  deepStrictEqual(short, alone);
  ok(Math.abs(Math.hypot(...whole!) - 1) < 1e-5);
});

Deno.test("a text the server refuses however short is refused for good, alone", async () => {
  await using server = new OllamaServer({ embedders: words(), longest: 30 });
  await using embedder = await ollamaEmbedder({ url: server.url, model: MODEL });
  const settled = await Promise.allSettled(
    ["a".repeat(40), "tea"].map((text) => embedder.embed([text], { purpose: "document" })),
  );
  const [refused, fine] = settled;
  strictEqual(fine?.status, "fulfilled");
  ok(refused?.status === "rejected");
  deepStrictEqual([refused.reason.code, refused.reason.retryable], [
    "embedding_unavailable",
    false,
  ]);
  strictEqual(embedder.health?.().status, "ok");
});

Deno.test("chat asks for the shape, the temperature and enough room", async () => {
  await using server = new OllamaServer({ chats: echo });
  await using model = await ollamaLanguageModel({ url: server.url, model: CHAT });
  server.requests.length = 0;
  const schema = { type: "object" };
  await model.chat([{ role: "user", content: "x".repeat(60_000) }], {
    temperature: 0,
    maxTokens: 100,
    json: true,
    schema,
  });
  await model.chat([{ role: "user", content: "x" }], { json: true });
  const [first, second] = server.requests.map(({ body }) => body);
  deepStrictEqual(first?.["format"], schema);
  deepStrictEqual(first?.["options"], { num_ctx: 32768, temperature: 0, num_predict: 100 });
  deepStrictEqual([second?.["format"], second?.["stream"]], ["json", false]);
});

Deno.test("a relayer starts while the server is down, once it knows the length of the vectors", async () => {
  const dataDir = await Deno.makeTempDir();
  const notes: string[] = [];
  const context = { dataDir, log: (_level: string, message: string) => void notes.push(message) };
  const embedders = words();
  const server = new OllamaServer({ embedders });
  const { url, port } = server;
  const open = () => ollamaEmbedder({ url, model: MODEL, context });
  const first = await open();
  await first[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  try {
    await using second = await open();
    deepStrictEqual([second.model, second.dimensions], [first.model, 256]);
    match(notes[0]!, /ollama: The model server cannot be reached; memories wait/);
    const embed = () => second.embed(["tea"], { purpose: "document" });
    await rejects(embed, { code: "embedding_unavailable", retryable: true });
    strictEqual(second.health?.().status, "degraded");
    await using _again = new OllamaServer({ embedders }, port);
    strictEqual((await embed())[0]?.[0]?.length, 256);
    strictEqual(second.health?.().status, "ok");
    // Nothing is known of this one: the error says what to do.
    const unknown = { url: "http://127.0.0.1:1", model: "other", context };
    await rejects(() => ollamaEmbedder(unknown), {
      code: "embedding_unavailable",
      retryable: true,
      message: /start the model server, or set SVC_EMBEDDING_DIMENSIONS/,
    });
    await using third = await ollamaEmbedder({ ...unknown, dimensions: 9 });
    deepStrictEqual([third.model, third.dimensions], ["ollama:other", 9]);
    await using chat = await ollamaLanguageModel({ ...unknown, model: CHAT });
    await rejects(() => chat.chat([]), { code: "llm_unavailable" });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
