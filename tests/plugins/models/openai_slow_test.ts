import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import plugin, { openaiEmbedder, openaiLanguageModel } from "../../../plugins/openai/mod.ts";
import { readFields, Secret } from "../../../src/interfaces/fields.ts";
import { conform, embedderSuite, languageModelSuite } from "../../../testing/mod.ts";
import { verifies } from "../../requirements.ts";
import { type Behaviour, HostileServer, json, refusal } from "./hostile_server.ts";
import { live } from "./live.ts";
import { MockServer } from "./mock_server.ts";

const MODEL = "text-embedding-3-small";
const QUESTION = [{ role: "user", content: "And the grass?" }] as const;
/** The suites make a backend a case; one server answers them all, until the process ends. */
let mock: Promise<MockServer> | undefined;
let chatMock: Promise<MockServer> | undefined;
const embeddings = async () => (await (mock ??= MockServer.start("openai_api_mock"))).base;
const chats = async () => (await (chatMock ??= MockServer.start("mock_llm"))).base;
Deno.test.afterAll(async () => {
  await (await mock)?.[Symbol.asyncDispose]();
  await (await chatMock)?.[Symbol.asyncDispose]();
});
// The first case that needs a server would be blamed for starting it.
Deno.test.beforeAll(async () => {
  await Promise.all([embeddings(), chats()]);
});

conform(
  embedderSuite,
  "openai at openai-api-mock",
  async () => await openaiEmbedder({ base: await embeddings(), model: MODEL }),
  {
    skip: {
      "puts related texts closer than unrelated ones": "its vectors are hashes of the texts",
    },
  },
);
conform(
  languageModelSuite,
  "openai at openai-api-mock",
  async () => await openaiLanguageModel({ base: await embeddings(), model: "gpt-4o-mini" }),
);
conform(
  languageModelSuite,
  "openai at mock-llm",
  async () => await openaiLanguageModel({ base: await chats(), model: "gpt-5.2" }),
);
live("SVC_LIVE_OPENAI_API_KEY", (key) => {
  const base = Deno.env.get("SVC_LIVE_OPENAI_API_BASE") ?? "https://api.openai.com/v1";
  const model = Deno.env.get("SVC_LIVE_EMBEDDING_MODEL") ?? MODEL;
  const chat = Deno.env.get("SVC_LIVE_CHAT_MODEL") ?? "gpt-4o-mini";
  const apiKey = new Secret(key);
  conform(embedderSuite, "real openai", () => openaiEmbedder({ base, model, apiKey }));
  conform(
    languageModelSuite,
    "real openai",
    () => openaiLanguageModel({ base, model: chat, apiKey }),
  );
});

Deno.test("mock-llm: the answer is the model's, and its failures are llm_unavailable", async () => {
  await using server = await MockServer.start("mock_llm");
  await using model = await openaiLanguageModel({ base: server.base, model: "gpt-5.2" });
  strictEqual(await model.chat(QUESTION), "And the grass?");
  for (const status of [401, 429, 500, 503]) {
    await server.answer("/v1/chat/completions", status, `{"error": {"message": "hidden"}}`);
    await rejects(() => model.chat(QUESTION), { code: "llm_unavailable" });
  }
  await server.answer("/v1/chat/completions", 200, `{"choices": []}`);
  strictEqual(await model.chat(QUESTION), "");
});

Deno.test("openai-api-mock: dimensions that are set shorten the vectors, or stop the start", async () => {
  verifies("15-42");
  const base = await embeddings();
  await using full = await openaiEmbedder({ base, model: MODEL });
  deepStrictEqual([full.model, full.dimensions], [`openai:${MODEL}`, 1536]);
  await using short = await openaiEmbedder({ base, model: MODEL, dimensions: 64 });
  strictEqual(short.dimensions, 64);
  strictEqual((await short.embed(["tea"], { purpose: "query" }))[0]?.[0]?.length, 64);
  // A model that cannot shorten its vectors refuses to.
  const fixed = { base, model: "text-embedding-ada-002", dimensions: 64 };
  await rejects(() => openaiEmbedder(fixed), {
    code: "invalid_parameter",
    message: /SVC_EMBEDDING_DIMENSIONS is 64, but the vectors of \S+ have 1536/,
  });
});

/** Notes what was sent, and answers what both roles understand. */
function recorder(answer: Behaviour = json({ data: [{ embedding: [3, 4], index: 0 }] })) {
  const sent: { headers: Headers; body: Record<string, unknown> }[] = [];
  const server = new HostileServer(async (request) => {
    const text = await request.text();
    sent.push({ headers: request.headers, body: text === "" ? {} : JSON.parse(text) });
    return await answer(request);
  });
  return { sent, server };
}

Deno.test("the plugin reads its settings and asks for its host alone", async () => {
  verifies("15-27");
  const { sent, server } = recorder();
  await using _server = server;
  const settings = readFields(plugin.fields, {
    SVC_OPENAI_API_BASE: `${server.url}/v1/`,
    SVC_OPENAI_API_KEY: "sk-1",
    SVC_EMBEDDING_MODEL: "mine",
  });
  const { host } = new URL(server.url);
  deepStrictEqual(plugin.permissions?.("embedder", settings, ""), { net: [host] });
  const defaults = readFields(plugin.fields, {});
  deepStrictEqual(plugin.permissions?.("embedder", defaults, ""), { net: ["api.openai.com:443"] });
  strictEqual(defaults.chatModel, "gpt-4o-mini");
  const context = { dataDir: "", log() {} } as unknown as Parameters<
    NonNullable<typeof plugin.roles.embedder>
  >[1];
  await using embedder = await plugin.roles.embedder!(settings, context);
  deepStrictEqual([embedder.model, embedder.dimensions], ["openai:mine", 2]);
  const [{ headers, body } = { headers: new Headers(), body: {} }] = sent;
  deepStrictEqual(body, { model: "mine", input: ["dimensions"], encoding_format: "float" });
  strictEqual(headers.get("authorization"), "Bearer sk-1");
  // Nothing about this machine.
  deepStrictEqual([...headers.keys()].filter((name) => name.startsWith("x-")), []);
  strictEqual(headers.get("user-agent"), "svc");
});

Deno.test("without a key none is sent, and a refused one is a start error", async () => {
  const { sent, server } = recorder();
  await using _server = server;
  await using _embedder = await openaiEmbedder({ base: server.url, model: "mine" });
  strictEqual(sent[0]?.headers.has("authorization"), false);
  for (const status of [401, 403]) {
    server.behaviour = refusal(status);
    const options = { base: server.url, model: "mine", apiKey: new Secret("sk-hidden") };
    for (const open of [openaiEmbedder, openaiLanguageModel]) {
      await rejects(() => open(options), {
        code: "invalid_parameter",
        message: /^openai: The model server refuses the API key/,
      });
    }
  }
});

Deno.test("a key that would go out unencrypted is worth a warning", async () => {
  const notes: string[] = [];
  const context = { dataDir: "", log: (_level: string, text: string) => void notes.push(text) };
  const options = { model: "m", apiKey: new Secret("k"), dimensions: 2, context };
  const bounds = { timeoutMs: 1 };
  await using _plain = await openaiEmbedder({ base: "http://192.0.2.1/v1", ...options, bounds });
  match(notes[0]!, /the API key is sent unencrypted/);
  notes.length = 0;
  await using _local = await openaiEmbedder({ base: "http://127.0.0.1:1/v1", ...options, bounds });
  strictEqual(notes.filter((text) => text.includes("unencrypted")).length, 0);
});

Deno.test("vectors are put in the order of their index", async () => {
  await using server = new HostileServer(json({ data: [{ embedding: [3, 4], index: 0 }] }));
  await using embedder = await openaiEmbedder({ base: server.url, model: "mine" });
  server.behaviour = json({
    data: [{ embedding: [0, 1], index: 1 }, { embedding: [1, 0], index: 0 }],
  });
  const answers = await embedder.embed(["a", "b"], { purpose: "document" });
  deepStrictEqual(answers, [[Float32Array.of(1, 0)], [Float32Array.of(0, 1)]]);
});

Deno.test("a server that knows fewer ways to ask for JSON is asked in the one it knows", async () => {
  const asked: unknown[] = [];
  let knows = "json_object";
  const answer: Behaviour = async (request) => {
    const { response_format: format } = await request.json();
    asked.push(format?.type);
    const refused = format !== undefined && format.type !== knows;
    return refused
      ? new Response("", { status: 400 })
      : Response.json({ choices: [{ message: { content: "{}" } }] });
  };
  await using server = new HostileServer(json({ data: [] }));
  const options = { json: true, schema: { type: "object" } };
  const opened = async () => {
    server.behaviour = json({ data: [] });
    const model = await openaiLanguageModel({ base: server.url, model: "mine" });
    server.behaviour = answer;
    asked.length = 0;
    return model;
  };
  {
    await using model = await opened();
    strictEqual(await model.chat(QUESTION, options), "{}");
    strictEqual(await model.chat(QUESTION, options), "{}");
    deepStrictEqual(asked, ["json_schema", "json_object", "json_object"]);
  }
  {
    knows = "json_schema";
    await using model = await opened();
    await model.chat(QUESTION, options);
    await model.chat(QUESTION, { json: true });
    deepStrictEqual(asked, ["json_schema", "json_object", undefined]);
  }
  {
    knows = "nothing";
    await using model = await opened();
    await model.chat(QUESTION, options);
    await model.chat(QUESTION, options);
    deepStrictEqual(asked, ["json_schema", "json_object", undefined, undefined]);
  }
});

Deno.test("a model that takes no temperature is asked without one", async () => {
  const asked: unknown[] = [];
  let refusesAll = false;
  await using server = new HostileServer(json({ data: [] }));
  await using model = await openaiLanguageModel({ base: server.url, model: "mine" });
  server.behaviour = async (request) => {
    const { temperature } = await request.json();
    asked.push(temperature);
    return refusesAll || temperature !== undefined
      ? new Response("", { status: 400 })
      : Response.json({ choices: [{ message: { content: "yes" } }] });
  };
  strictEqual(await model.chat(QUESTION, { temperature: 0 }), "yes");
  strictEqual(await model.chat(QUESTION, { temperature: 0, json: true }), "yes");
  deepStrictEqual(asked, [0, undefined, undefined]);

  const { behaviour } = server;
  server.behaviour = json({ data: [] });
  await using other = await openaiLanguageModel({ base: server.url, model: "mine" });
  server.behaviour = behaviour;
  asked.length = 0;
  refusesAll = true;
  await rejects(other.chat(QUESTION, { temperature: 0 }), { code: "llm_unavailable" });
  server.behaviour = async (request) => {
    asked.push((await request.json()).temperature);
    return Response.json({ choices: [{ message: { content: "yes" } }] });
  };
  await other.chat(QUESTION, { temperature: 0 });
  deepStrictEqual(asked, [0, undefined, 0]);
});
