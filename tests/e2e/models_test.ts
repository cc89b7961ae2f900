import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/mod.ts";
import { useLiteEmbedder } from "../../plugins/use_lite/mod.ts";
import { type Env, Installation } from "../crash/installation.ts";
import { call, health, type Identity, idle } from "../crash/wire.ts";
import { Gate, turned } from "../memory/other_models.ts";
import { HostileServer, json, refusal } from "../plugins/models/hostile_server.ts";
import { OllamaServer } from "../plugins/models/ollama_server.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

const FACTS = [
  "I am allergic to peanuts",
  "The spare key is under the blue flower pot",
  "Our cat is called Biscuit and she is nine years old",
  "I run ten kilometres every Sunday morning",
];
const QUESTION = "what should I not cook for them?";

/** Texts found by meaning, nearest first. */
async function recall(url: string, identity: Identity, query = QUESTION) {
  const parts = { route: "POST /api/recall", body: { query, limit: 10 } };
  const { status, headers, body } = await call(url, identity, parts);
  return { status, headers, body, texts: body.results?.map(({ text }) => text) };
}

async function remember(url: string, identity: Identity, text: string): Promise<void> {
  const parts = { route: "POST /api/remember", body: { text } };
  assert.equal((await call(url, identity, parts)).status, 202);
}

const ready = (url: string) =>
  poll(() => health(url), ({ dependencies }) => dependencies.embedder.status === "ok");

Deno.test("a model of Ollama finds by meaning, and another one takes over its memories", async () => {
  verifies("15-43", "15-44");
  await using lite = useLiteEmbedder();
  const models = { "first:latest": lite, "second:latest": turned(lite) };
  const ollama = new OllamaServer({ embedders: models });
  const { url: address, port } = ollama;
  const settings: Env = { SVC_EMBEDDER: "ollama", SVC_OLLAMA_URL: address };
  const first = { ...settings, SVC_OLLAMA_EMBEDDING_MODEL: "first" };
  const second = { ...settings, SVC_OLLAMA_EMBEDDING_MODEL: "second" };
  await using installation = await Installation.create();
  const identity = await installation.account();
  {
    await using program = await installation.launch(["start"], first);
    for (const fact of FACTS) await remember(program.url, identity, fact);
    await idle(program.url);
    const { texts } = await recall(program.url, identity);
    assert.equal(texts[0], FACTS[0]);
    assert.equal(texts.length, FACTS.length);
    assert.equal(await program.stop(), 0);
  }
  {
    await using program = await installation.launch(["start"], second);
    const { dependencies } = await ready(program.url);
    assert.deepEqual(dependencies.embedder, {
      status: "ok",
      reembedding: { done: 4, total: 4, failed: 0 },
    });
    const { texts, body } = await recall(program.url, identity);
    assert.equal(texts[0], FACTS[0]);
    assert.deepEqual(texts.toSorted(), FACTS.toSorted());
    assert.equal(body.pending, undefined);
    // The server goes away: what is accepted waits for it, and what needs it says so.
    await ollama[Symbol.asyncDispose]();
    await remember(program.url, identity, "I play the cello");
    const down = await recall(program.url, identity, "which instrument?");
    assert.deepEqual([down.status, down.body.code], [503, "embedding_unavailable"]);
    assert.match(down.headers.get("retry-after") ?? "", /^\d+$/);
    assert.equal(await program.stop(), 0);
  }
  // It is not there at the next start either, which knows the model all the same.
  await using program = await installation.launch(["start"], second);
  assert.notEqual((await health(program.url)).dependencies.embedder.status, "ok");
  await using _again = new OllamaServer({ embedders: models }, port);
  await ready(program.url);
  const found = () => recall(program.url, identity, "which instrument?");
  const { texts } = await poll(found, ({ texts }) => texts?.[0] === "I play the cello");
  assert.equal(texts.length, FACTS.length + 1);
  assert.equal(await program.stop(), 0);
});

Deno.test("the relayer may reach the model server and no other host", async () => {
  await using ollama = new OllamaServer({});
  await using installation = await Installation.create();
  const env = { SVC_EMBEDDER: "ollama", SVC_OLLAMA_URL: ollama.url, SVC_LANGUAGE_MODEL: "openai" };
  const { output } = await installation.run(["--print-permissions"], env);
  const net = /--allow-net=(\S+)/.exec(output)?.[1]?.split(",") ?? [];
  const hosts = net.filter((entry) => !/^127\.0\.0\.1:0$|^localhost:0$/.test(entry));
  assert.deepEqual(hosts, [new URL(ollama.url).host, "api.openai.com:443"]);
  const { code, errors } = await installation.run(["start"], {
    ...env,
    SVC_LANGUAGE_MODEL: "none",
    SVC_EMBEDDING_MODEL: "absent",
  });
  assert.equal(code, 78);
  assert.match(errors, /ollama pull absent/);
});

Deno.test("a key of a model server is in no log, argument or file", async () => {
  const key = "sk-a-key-nobody-may-see";
  await using server = new HostileServer(json({ data: [{ embedding: [3, 4], index: 0 }] }));
  await using installation = await Installation.create({
    SVC_EMBEDDER: "openai",
    SVC_EMBEDDING_MODEL: "mine",
    SVC_OPENAI_API_BASE: `${server.url}/v1`,
    SVC_OPENAI_API_KEY: key,
    SVC_LANGUAGE_MODEL: "openai",
  });
  const identity = await installation.account();
  await using program = await installation.launch();
  await remember(program.url, identity, "tea with honey");
  await idle(program.url);
  server.behaviour = refusal(401);
  const { status, body } = await recall(program.url, identity);
  assert.deepEqual([status, body.code], [503, "embedding_unavailable"]);
  assert.ok(!JSON.stringify(body).includes(key));
  const embedder = async () => (await health(program.url)).dependencies.embedder.status;
  await poll(embedder, (state) => state !== "ok");
  assert.equal(await program.stop(), 0);
  assert.ok(!installation.logs.includes(key));
  const kept = await Deno.readFile(`${installation.dataDir}/embedding_models.json`);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(kept)), {
    "openai:mine": { model: "openai:mine", dimensions: 2, shortened: false },
  });
  const { output } = await installation.run(["--print-config"]);
  assert.match(output, /SVC_OPENAI_API_KEY/);
  assert.ok(!output.includes(key));
});

Deno.test("a crash while memories are embedded anew loses none and doubles none", async () => {
  verifies("15-43");
  const gate = new Gate();
  await using words = memoryEmbedder(64);
  const models = { "first:latest": words, "second:latest": turned(words, gate) };
  await using ollama = new OllamaServer({ embedders: models });
  const settings: Env = { SVC_EMBEDDER: "ollama", SVC_OLLAMA_URL: ollama.url };
  const first = { ...settings, SVC_OLLAMA_EMBEDDING_MODEL: "first" };
  const second = { ...settings, SVC_OLLAMA_EMBEDDING_MODEL: "second" };
  await using installation = await Installation.create();
  const identity = await installation.account();
  const texts = Array.from({ length: 40 }, (_, i) => `fact number ${i}`);
  {
    await using relayer = await installation.start(first);
    for (const text of texts) await remember(relayer.url, identity, text);
    await idle(relayer.url);
    await relayer.stop();
  }
  // One text of the start's question, and one part of the memories.
  gate.left = 33;
  {
    await using relayer = await installation.start(second);
    const state = async () => JSON.stringify((await health(relayer.url)).dependencies.embedder);
    await poll(state, (text) => text.includes('"done":32,"total":40'));
    await relayer.crash();
  }
  gate.open();
  await using relayer = await installation.start(second);
  await ready(relayer.url);
  const parts = { route: "POST /api/recall", body: { query: "fact number", limit: 100 } };
  const { body } = await call(relayer.url, identity, parts);
  assert.deepEqual(body.results.map(({ text }) => text).toSorted(), texts.toSorted());
  // The part that was done is not done again: besides the start's question and the recall's, the 8
  // that are left, and the 8 the server was busy with when the relayer died.
  assert.equal(gate.count, 33 + 1 + 1 + 8 + 8);
});
