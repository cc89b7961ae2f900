import assert from "node:assert/strict";
import { startSidecarTest, type TestSidecar } from "./fixture.ts";
import { result } from "./tool_calls.ts";

const NOTE = "I'm allergic to peanuts. My sister lives in Brno.";
const CALLS = [
  ["svc_remember", { text: "I'm allergic to peanuts." }],
  ["svc_analyze", { text: NOTE }],
  ["svc_analyze", { text: NOTE }],
  ["svc_analyze", { text: "Hi!" }],
  ["svc_recall", { query: "peanuts" }],
  ["svc_restore", { namespace: "default" }],
] as const;

/** Results of the calls with a key that may only write, without what is drawn by chance. */
async function results(test: TestSidecar): Promise<string[]> {
  const headers = test.headers(await test.svc.addKey(["write"]));
  const texts = [];
  for (const [name, args] of CALLS) {
    const text = JSON.stringify(await result(test, name, args, { headers }));
    await test.svc.relayer.idle();
    texts.push(
      text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id")
        .replace(/· [0-9a-f]{8}\]/g, "· id]"),
    );
  }
  return texts;
}

Deno.test("without read a tool says nothing of what is stored", async () => {
  await using empty = await startSidecarTest();
  await using full = await startSidecarTest();
  await full.svc.post("/api/analyze", { text: NOTE });
  await full.svc.relayer.idle();
  const told = await results(full);
  assert.deepEqual(told, await results(empty));
  assert.match(told[2]!, /"extracted":2,"succeeded":2,"failed":0/);
  for (const refused of told.slice(4)) assert.match(refused, /permission_denied/);
});
