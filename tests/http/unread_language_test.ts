import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { startRelayer } from "../relayer_fixture.ts";
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

Deno.test("nothing is said where the embedder names no languages", async () => {
  await using svc = await startRelayer();
  const { body } = await svc.post("/api/remember", { text: "Ich wohne in Berlin" });
  assert.equal(body.unread_language, undefined);
});
