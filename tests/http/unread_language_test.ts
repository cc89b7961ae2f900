import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { type SendOptions, startRelayer, type TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

Deno.test("a language that the embedder does not read is named once to an owner", async () => {
  verifies("10.1-18");
  const embedder = Object.assign(memoryEmbedder(), { languages: ["en"] });
  await using svc = await startRelayer({ backends: { embedder } });
  const told = async (text: string) => {
    const { status, body } = await svc.post("/api/remember", { text });
    assert.equal(status, 202);
    return body.unread_language;
  };
  assert.equal(await told("I live in Berlin"), undefined);
  assert.equal(await told("Ich wohne in Berlin"), "de");
  assert.equal(await told("Meine Schwester wohnt nicht in Berlin"), undefined);
  assert.equal(await told("ვცხოვრობ ბერლინში"), "und");
  assert.equal(await told("Berlin"), undefined);
});

Deno.test("a key that may not read everything is not told what others were", async () => {
  verifies("10.1-18", "10-14");
  const embedder = Object.assign(memoryEmbedder(), { languages: ["en"] });
  await using svc = await startRelayer({ backends: { embedder } });
  const told = async (text: string, key?: TestKey) =>
    (await svc.post("/api/remember", { text, namespace: "work" }, key && { key })).body
      .unread_language;
  assert.equal(await told("Ich wohne in Berlin"), "de");
  assert.equal(await told("Ich arbeite in Hamburg"), undefined);
  const blind = await svc.addKey(["write"]);
  const bound = await svc.addKey(["read", "write"], { namespaces: ["work"] });
  for (const key of [blind, bound]) {
    assert.equal(await told("Ich trinke gern Tee", key), "de");
    assert.equal(await told("Ich trinke gern Kaffee", key), undefined);
  }
});

Deno.test("the account has the languages that the embedder does not read", async () => {
  verifies("10.10-14");
  const embedder = Object.assign(memoryEmbedder(), { languages: ["en"] });
  await using svc = await startRelayer({ backends: { embedder } });
  const seen = async (options: SendOptions = {}) =>
    (await svc.get("/api/account", options)).body.unread_languages;
  await svc.post("/api/remember", { text: "I live in Berlin" });
  assert.equal(await seen(), undefined);
  const items = [{ text: "I drink tea" }, { text: "Vivo en Madrid con mi hermana" }];
  await svc.post("/api/remember/bulk", { items });
  await svc.post("/api/remember", { text: "Ich wohne in Berlin" });
  assert.deepEqual(await seen(), ["de", "es"]);
  const blind = await svc.addKey(["write"]);
  assert.equal(await seen({ key: blind }), undefined);
  const bound = await svc.addKey(["read", "write"], { namespaces: ["work"] });
  assert.equal(await seen({ key: bound }), undefined);
});

Deno.test("nothing is said where the embedder names no languages", async () => {
  await using svc = await startRelayer();
  const { body } = await svc.post("/api/remember", { text: "Ich wohne in Berlin" });
  assert.equal(body.unread_language, undefined);
});
