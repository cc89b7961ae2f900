import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { startSidecarTest, type TestSidecar } from "./fixture.ts";
import { result } from "./tool_calls.ts";

const CALLS = [
  ["svc_remember", { text: "I like tea." }],
  ["svc_remember", { text: "I like tea.", namespace: "secret" }],
  ["svc_recall", { query: "tea" }],
  ["svc_recall", { query: "tea", namespace: "secret" }],
  ["svc_recall", { query: "tea", namespace: "secrets" }],
  ["svc_recall", { query: "tea", namespace: "wrk" }],
  ["svc_list", {}],
  ["svc_list", { namespace: "secret" }],
  ["svc_list", { namespace: "secrets" }],
  ["svc_analyze", { text: "My sister lives in Brno.", namespace: "secret" }],
  ["svc_restore", { namespace: "secret" }],
  ["svc_restore", { namespace: "work" }],
] as const;

/** Results of the calls with a key of one namespace, without what is drawn by chance. */
async function results(test: TestSidecar): Promise<string[]> {
  const key = await test.svc.addKey(["read", "write", "manage"], { namespaces: ["a/", "work"] });
  const headers = test.headers(key);
  const texts = [];
  for (const [name, args] of CALLS) {
    const text = JSON.stringify(await result(test, name, args, { headers }));
    await test.svc.relayer.idle();
    texts.push(
      text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id")
        .replace(/· [0-9a-f]{8}\]/g, "· id]")
        .replaceAll(key.publicKey.slice(-8), "key")
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time"),
    );
  }
  return texts;
}

Deno.test("a tool of a bound key knows no other namespace, not even to suggest it", async () => {
  verifies("10.17-1", "10.17-2", "10.17-7");
  await using empty = await startSidecarTest();
  await using full = await startSidecarTest();
  for (const namespace of ["secret", "secrets", "default", "works"]) {
    await full.svc.remember("I like tea with honey.", { namespace });
  }
  const told = await results(full);
  assert.deepEqual(told, await results(empty));
  assert.doesNotMatch(told.join(), /honey/);
  assert.match(told[2]!, /I like tea\./, "calls that name none are of its own namespace");
  assert.match(told[1]!, /permission_denied/);
});
