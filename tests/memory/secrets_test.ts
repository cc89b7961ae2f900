import assert from "node:assert/strict";
import { secretTexts } from "../../eval/secrets.ts";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { memoryLanguageModel } from "../../plugins/memory/language_model.ts";
import type { ChatMessage } from "../../src/interfaces/mod.ts";
import { SECRET_KINDS } from "../../src/secrets/kinds.ts";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { RULES, verifies } from "../requirements.ts";
import { intercepted } from "./intercepted.ts";

const PASSWORD = "Sunny42!kite";
const TEXT = `☕ My wifi password is ${PASSWORD}, and I like tea.`;
const KEPT = "☕ My wifi password is [redacted: password], and I like tea.";

const NDJSON = { "content-type": "application/x-ndjson" };

const importLines = (svc: TestRelayer, lines: readonly object[], query = "") => {
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  return svc.send("POST", `/api/import${query}`, body, { headers: NDJSON });
};

/** What is stored of a memory. */
async function stored(svc: TestRelayer, id: string): Promise<Json> {
  await svc.relayer.idle();
  return (await svc.get(`/api/memories/${id}`)).body;
}

Deno.test("a secret is refused: what it is and where is said, and nothing of it", async () => {
  verifies("10.15-1", "10.15-2", "10.15-8");
  await using svc = await startRelayer();
  for (const { kind, secret, text } of secretTexts(3)) {
    const { status, body } = await svc.post("/api/remember", { text });
    assert.equal(status, 400, text);
    assert.equal(body.code, "secret_found");
    assert.equal(body.field, "text");
    assert.ok(Object.hasOwn(SECRET_KINDS, body.kind));
    for (const part of secret.split(/\s+/).filter((part) => part.length > 9)) {
      assert.ok(!JSON.stringify(body).includes(part), kind);
    }
  }
  const { body } = await svc.post("/api/remember", { text: TEXT });
  const { kind, offset, length } = body;
  assert.deepEqual({ kind, offset, length }, { kind: "password", offset: 22, length: 12 });
  assert.match(body.error, /^text holds a password \(12 characters at 22\)\. .*SVC_SECRETS$/);
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 0);
  const rule = RULES.find(({ id }) => id === "10.15-8");
  for (const name of Object.keys(SECRET_KINDS)) assert.ok(rule?.text.includes(`\`${name}\``), name);
});

Deno.test("one secret refuses a bulk, and a replacement keeps the memory as it is", async () => {
  verifies("10.15-1");
  await using svc = await startRelayer();
  const items = [{ text: "I like tea" }, { text: TEXT }];
  const bulk = await svc.post("/api/remember/bulk", { items });
  assert.deepEqual([bulk.body.code, bulk.body.field], ["secret_found", "items[1].text"]);
  const id = await svc.remember("I like tea");
  const put = await svc.send("PUT", `/api/memories/${id}`, { text: TEXT });
  assert.deepEqual([put.status, put.body.code], [400, "secret_found"]);
  assert.equal((await stored(svc, id)).text, "I like tea");
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 1);
});

Deno.test("a request asks to redact: the embedder sees nothing of the secret either", async () => {
  verifies("10.15-4", "10.15-6");
  const embedded: string[] = [];
  const embedder = intercepted(memoryEmbedder(), {
    embed: (next, ...args) => {
      embedded.push(...args[0]);
      return next(...args);
    },
  });
  await using svc = await startRelayer({ backends: { embedder } });
  const secrets = "redact";
  const one = await svc.post("/api/remember", { text: TEXT, secrets });
  assert.deepEqual(one.body.redacted, [{ kind: "password", count: 1 }]);
  assert.equal((await stored(svc, one.body.memory_id)).text, KEPT);
  const items = [{ text: TEXT }, { text: "I like coffee" }, { text: TEXT }];
  const bulk = await svc.post("/api/remember/bulk", { items, secrets });
  assert.deepEqual(bulk.body.redacted, [{ kind: "password", count: 2 }]);
  const put = await svc.send("PUT", `/api/memories/${one.body.memory_id}`, {
    text: `New: ${TEXT}`,
    secrets,
  });
  assert.deepEqual(put.body.redacted, [{ kind: "password", count: 1 }]);
  assert.equal((await stored(svc, one.body.memory_id)).text, `New: ${KEPT}`);
  const plain = await svc.post("/api/remember", { text: "I like tea", secrets });
  assert.equal("redacted" in plain.body, false);
  assert.ok(embedded.length >= 5);
  assert.ok(!embedded.some((text) => text.includes(PASSWORD)));
});

Deno.test("a relayer that redacts may be asked to refuse, and only one that allows to allow", async () => {
  verifies("10.15-4", "10.15-6", "15-34");
  await using redacting = await startRelayer({ config: { secrets: "redact" } });
  const { body } = await redacting.post("/api/remember", { text: TEXT });
  assert.deepEqual(body.redacted, [{ kind: "password", count: 1 }]);
  const refused = await redacting.post("/api/remember", { text: TEXT, secrets: "refuse" });
  assert.equal(refused.body.code, "secret_found");
  const allow = await redacting.post("/api/remember", { text: "tea", secrets: "allow" });
  assert.deepEqual([allow.body.code, allow.body.field], ["invalid_parameter", "secrets"]);
  await using allowing = await startRelayer({ config: { secrets: "allow" } });
  const kept = await allowing.post("/api/remember", { text: TEXT });
  assert.equal((await stored(allowing, kept.body.memory_id)).text, TEXT);
  const asked = await allowing.post("/api/remember", { text: TEXT, secrets: "redact" });
  assert.equal((await stored(allowing, asked.body.memory_id)).text, KEPT);
});

Deno.test("metadata is looked at together with its names, and what clients sealed is not", async () => {
  verifies("10.15-7");
  await using svc = await startRelayer();
  const metadata = { password: PASSWORD, room: "kitchen", floor: 2 };
  const refused = await svc.post("/api/remember", { text: "The router", metadata });
  assert.deepEqual([refused.body.code, refused.body.field], ["secret_found", "metadata"]);
  const { body } = await svc.post("/api/remember", { text: "Router", metadata, secrets: "redact" });
  assert.deepEqual((await stored(svc, body.memory_id)).metadata, {
    ...metadata,
    password: "[redacted: password]",
  });
  const vector = Array.from(
    { length: svc.relayer.backends.embedder.dimensions },
    (_, i) => i === 0 ? 1 : 0,
  );
  const encrypted_data = new TextEncoder().encode(TEXT).toBase64();
  const manual = await svc.post("/api/remember/manual", { encrypted_data, vector });
  assert.ok(manual.status < 300);
});

/** Remembers what it was sent, and answers facts. */
function listening(answer: string) {
  const sent: ChatMessage[] = [];
  const model = memoryLanguageModel((messages) => {
    sent.push(...messages);
    return answer;
  });
  return { sent, model };
}

Deno.test("analyze keeps the rest: neither the rules nor a model see the secret", async () => {
  verifies("10.15-5");
  await using svc = await startRelayer();
  const text = `I am allergic to peanuts. My wifi password is ${PASSWORD}.`;
  const byRules = await svc.post("/api/analyze", { text });
  assert.deepEqual(byRules.body.redacted, [{ kind: "password", count: 1 }]);
  assert.ok(byRules.body.facts.length > 0);
  assert.ok(!JSON.stringify(byRules.body).includes(PASSWORD));
  const { sent, model } = listening(JSON.stringify({ facts: [{ text: `I said: ${TEXT}` }] }));
  await using modelled = await startRelayer({ backends: { languageModel: model } });
  const byModel = await modelled.post("/api/analyze", { text });
  assert.equal(byModel.body.method, "llm");
  assert.ok(sent.length > 0 && !JSON.stringify(sent).includes(PASSWORD));
  assert.equal(byModel.body.facts[0].text, `I said: ${KEPT}`);
  assert.deepEqual(byModel.body.redacted, [{ kind: "password", count: 2 }]);
  const allowed = listening('{"facts": []}');
  const config = { secrets: "allow" } as const;
  await using open = await startRelayer({ backends: { languageModel: allowed.model }, config });
  await open.post("/api/analyze", { text });
  assert.ok(JSON.stringify(allowed.sent).includes(PASSWORD));
});

Deno.test("an import refuses the line, or redacts it and finds it again", async () => {
  verifies("10.15-3", "10.15-6");
  await using svc = await startRelayer();
  const lines = [{ text: "I like tea" }, { text: TEXT }, { text: "" }];
  const refused = await importLines(svc, lines);
  assert.deepEqual(
    [refused.body.accepted, refused.body.failed, refused.body.errors.map((one: Json) => one.code)],
    [1, 2, ["secret_found", "empty_text"]],
  );
  assert.equal(refused.body.errors[0].line, 2);
  assert.ok(!JSON.stringify(refused.body).includes(PASSWORD));
  const redacted = await importLines(svc, lines, "?secrets=redact");
  assert.deepEqual([redacted.body.accepted, redacted.body.skipped], [1, 1]);
  assert.deepEqual(redacted.body.redacted, [{ kind: "password", count: 1 }]);
  await svc.relayer.idle();
  const { body: listed } = await svc.get("/api/memories");
  assert.deepEqual(
    listed.memories.map((one: Json) => one.text).sort(),
    ["I like tea", KEPT].sort(),
  );
  const again = await importLines(svc, lines, "?secrets=redact");
  assert.deepEqual([again.body.accepted, again.body.skipped], [0, 2]);
  const wrong = await importLines(svc, lines, "?secrets=allow");
  assert.deepEqual([wrong.body.code, wrong.body.field], ["invalid_parameter", "secrets"]);
});
