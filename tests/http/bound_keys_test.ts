import assert from "node:assert/strict";
import fc from "fast-check";
import { routeNames } from "../../src/wire/routes.ts";
import { type Answer, type Json, read, startRelayer, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import {
  answerOf,
  drawn,
  fill,
  forgetWork,
  MANUAL,
  ONLY,
  type Side,
  sideOf,
} from "./bound_keys.ts";
import { assertError } from "./case.ts";

const DENIED = [403, "permission_denied"] as const;

async function side(): Promise<Side> {
  const clock = new TestClock();
  clock.freeze(Date.parse("2026-03-01T09:00:00Z"));
  const svc = await startRelayer({ clock });
  const key = await svc.addKey(["read", "write", "manage"], { namespaces: ONLY });
  return await sideOf(svc, key);
}

Deno.test("for a bound key there are no other namespaces, whatever it asks", async () => {
  verifies("10.17-1", "10.17-2", "10.17-3", "10.17-4", "10.17-5");
  await using empty = await side();
  await using full = await side();
  const nothing = await fill(full).then(async (others) => {
    // The open namespace that was forgotten there.
    await forgetWork(empty);
    return others;
  });
  const called = new Set<string>();
  await fc.assert(
    fc.asyncProperty(drawn, async (given) => {
      called.add(given.route);
      const [one, other] = [
        await answerOf(empty, nothing, given),
        await answerOf(full, nothing, given),
      ];
      assert.equal(other, one, JSON.stringify(given));
    }),
    { numRuns: 800, endOnFailure: true },
  );
  assert.deepEqual([...called].sort(), routeNames("signed").sort(), "no route is forgotten");
  // Whoever is not bound still has everything.
  const { body } = await full.svc.get("/api/namespaces");
  assert.ok(body.namespaces.some((item: Json) => item.namespace === "secret"));
});

Deno.test("a bound key reads, writes and deletes where it may, and nowhere else", async () => {
  verifies("10.17-1", "10.17-2");
  await using svc = await startRelayer();
  const key = await svc.addKey(["read", "write"], { namespaces: ["work", "notes/"] });
  const other = await svc.remember("a secret", { namespace: "secret" });
  const own = await svc.remember("tea", { namespace: "notes/2026" }, { key });
  assert.deepEqual(await svc.recall("tea", { namespace: "notes/2026" }, { key }), ["tea"]);
  assert.deepEqual(await svc.recall("a secret", { namespace: "secret" }, { key }), []);
  for (const namespace of ["secret", "default", "notes", "work/"]) {
    const at = { namespace };
    assertError(await svc.post("/api/remember", { text: "x", ...at }, { key }), DENIED);
    assertError(await svc.post("/api/analyze", { text: "I am x.", ...at }, { key }), DENIED);
    assertError(await svc.post("/api/forget", at, { key }), DENIED);
    assertError(await svc.post("/api/restore", at, { key }), DENIED);
    assertError(await svc.post("/api/remember/manual", { ...MANUAL, ...at }, { key }), DENIED);
  }
  const gone = [404, "memory_not_found"] as const;
  assertError(await svc.get(`/api/memories/${other}`, { key }), gone);
  assertError(await svc.send("DELETE", `/api/memories/${other}`, undefined, { key }), gone);
  assertError(await svc.send("PUT", `/api/memories/${other}`, { text: "x" }, { key }), gone);
  assert.equal((await svc.get(`/api/memories/${other}`)).body.text, "a secret");
  assert.equal((await svc.send("DELETE", `/api/memories/${own}`, undefined, { key })).status, 200);
});

Deno.test("a bound key is told of itself alone", async () => {
  verifies("10.17-3", "10.17-4");
  await using svc = await startRelayer();
  const key = await svc.addKey(["read", "write"], { namespaces: ["work"] });
  const options = { key };
  await svc.remember("a long text that counts", { namespace: "secret" });
  await svc.remember("tea", { namespace: "work" }, options);
  const { body: account } = await svc.get("/api/account", options);
  assert.deepEqual(account.key.namespaces, ["work"]);
  const { body: stats } = await svc.post("/api/stats", { namespace: "work" }, options);
  assert.equal(account.quota.used_bytes, stats.storage_bytes);
  const { body: keys } = await svc.get("/api/account/keys", options);
  assert.deepEqual(keys.keys.map((item: Json) => item.public_key), [key.publicKey]);
  const { body: all } = await svc.get("/api/account/keys");
  assert.equal(all.keys.length, 2);
  const { body: activity } = await svc.get("/api/account/activity", options);
  assert.ok(activity.entries.every((entry: Json) => entry.key === key.publicKey));
  const of = `/api/account/activity?key=${svc.key.publicKey}`;
  assert.deepEqual((await svc.get(of, options)).body.entries, []);
  assert.ok((await svc.get(of)).body.entries.length > 0);
});

Deno.test("what another key sent under an idempotency key is nothing to a bound one", async () => {
  verifies("10.17-5");
  await using svc = await startRelayer();
  const key = await svc.addKey(["read", "write"], { namespaces: ["work"] });
  const headers = { "idempotency-key": "k" };
  const first = await svc.post("/api/remember", { text: "tea", namespace: "work" }, { headers });
  const bound = await svc.post("/api/remember", { text: "tea", namespace: "work" }, {
    headers,
    key,
  });
  assert.deepEqual([first.status, bound.status], [202, 202]);
  assert.notEqual(bound.body.job_id, first.body.job_id);
});

Deno.test("a token of a bound key is bound, too", async () => {
  verifies("10.17-1");
  await using svc = await startRelayer();
  await svc.remember("a secret", { namespace: "secret" });
  const key = await svc.addKey(["read"], { namespaces: ["work"] });
  const { body } = await svc.post("/api/session-token", { audience: "http://localhost:8000" }, {
    key,
  });
  const request = new Request("http://127.0.0.1:9/api/recall", {
    method: "POST",
    headers: { "x-svc-session-token": body.token, "content-type": "application/json" },
    body: JSON.stringify({ query: "a secret", namespace: "secret" }),
  });
  const answer: Answer = await read(
    await svc.relayer.fetchInternal(request, { isProven: true }),
  );
  assert.deepEqual(answer.body.results, []);
});
