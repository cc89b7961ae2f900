import assert from "node:assert/strict";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { startSidecarTest } from "./fixture.ts";
import { result } from "./tool_calls.ts";

Deno.test("an owner sees what a guest's key wrote, and what it read", async () => {
  verifies("12-33", "10.13-6");
  await using test = await startSidecarTest();
  const { svc } = test;
  const label = "Ada's agent";
  const guest = await svc.addKey(["read", "write"], { label, namespaces: ["team"] });
  const headers = test.headers(guest);
  await svc.remember("The launch is in May.", { namespace: "team" });
  await svc.remember("I am allergic to peanuts.");
  await result(test, "svc_remember", { text: "The venue is in Brno." }, { headers });
  const read = await result(test, "svc_recall", { query: "When is the launch?" }, { headers });
  const mine = `test …${svc.key.publicKey.slice(-8)}`;
  const theirs = `${label} …${guest.publicKey.slice(-8)}`;
  const writers = ({ structuredContent: { results = [], memories = results } }: Json) =>
    Object.fromEntries(memories.map(({ text, written_by }: Json) => [text, written_by]));
  const expected = { "The launch is in May.": mine, "The venue is in Brno.": theirs };
  assert.deepEqual(writers(read), expected);
  const listed = await result(test, "svc_list", { namespace: "team" });
  assert.deepEqual(writers(listed), expected);
  const [line, own] = listed.content[0].text.split("\n");
  assert.match(line, new RegExp(`^1\\. \\[.* · by ${theirs}\\] The venue is in Brno\\.$`));
  assert.match(own, /^2\. \[\d{4}-\d\d-\d\d · [0-9a-f]{8}\] The launch is in May\.$/);
  await result(test, "svc_recall", { query: "peanuts", namespace: "default" }, { headers });

  const { body } = await svc.get(`/api/account/activity?key=${guest.publicKey}`);
  const did = new Set(
    body.entries.map(({ key, action, namespace = "" }: Json) => {
      assert.equal(key, guest.publicKey);
      return `${action} ${namespace}`.trim();
    }),
  );
  for (const one of ["POST /api/remember team", "POST /api/recall team"]) assert.ok(did.has(one));
  assert.ok(did.has("POST /api/recall default"), "what was refused to it, too");
  assert.doesNotMatch(JSON.stringify(body), /launch|Brno|peanuts/);
});
