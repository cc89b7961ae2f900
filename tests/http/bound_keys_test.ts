import assert from "node:assert/strict";
import fc from "fast-check";
import { routeNames } from "../../src/wire/routes.ts";
import type { SignedName } from "../../src/wire/route_types.ts";
import {
  type Answer,
  type Json,
  read,
  startRelayer,
  TestClock,
  type TestKey,
  type TestRelayer,
} from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { plain } from "./plain_answer.ts";

const ONLY = ["work", "notes/"];
const OPEN = ["work", "notes/a", "notes/"];
const FOREIGN = ["default", "secret", "work2", "Work", "notes", "other/x", ""];
const UNKNOWN = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";
const VECTOR = Array.from({ length: 256 }, (_, i) => i === 0 ? 1 : 0);
const MANUAL = { encrypted_data: btoa("sealed by the client"), vector: VECTOR };
const DENIED = [403, "permission_denied"] as const;

/** A relayer with a key that is bound, and ids of what the key wrote. */
interface Side extends AsyncDisposable {
  readonly svc: TestRelayer;
  readonly key: TestKey;
  readonly own: readonly string[];
}

async function side(): Promise<Side> {
  const clock = new TestClock();
  clock.freeze(Date.parse("2026-03-01T09:00:00Z"));
  const svc = await startRelayer({ clock });
  const key = await svc.addKey(["read", "write", "manage"], { namespaces: ONLY });
  const own = [];
  for (const [i, namespace] of OPEN.entries()) {
    clock.advance(1000);
    own.push(await svc.remember(`I like tea number ${i}`, { namespace }, { key }));
  }
  return { svc, key, own, [Symbol.asyncDispose]: () => svc[Symbol.asyncDispose]() };
}

/** Ids of memories that the key has nothing to do with. */
interface Others {
  readonly ids: readonly string[];
  readonly blobId: string;
}

/** Fills the other namespaces by another key, with what fits every request. */
async function fill({ svc }: Side): Promise<Others> {
  const ids = [];
  for (const namespace of FOREIGN) {
    for (const text of ["I like tea", "I like coffee", "My sister lives in Brno."]) {
      ids.push(await svc.remember(text, { namespace, metadata: { a: 1 } }));
    }
  }
  const changed = ids[0]!;
  await svc.send("PUT", `/api/memories/${changed}`, { text: "I like tea with milk" });
  await svc.send("DELETE", `/api/memories/${ids[1]}`);
  const headers = { "idempotency-key": "same" };
  for (const namespace of ["secret", "work"]) {
    const kept = { text: "kept", namespace };
    await svc.post("/api/remember", kept, {
      headers: { "idempotency-key": `same ${namespace}`.replace(" ", "-") },
    });
  }
  const { body } = await svc.post("/api/remember/manual", { ...MANUAL, namespace: "secret" }, {
    headers,
  });
  await svc.relayer.idle();
  // What that key wrote into an open namespace is there for everybody.
  await svc.post("/api/forget", { namespace: "work" });
  await svc.relayer.idle();
  return { ids: [changed, ids[1]!, ids[4]!, body.job_id], blobId: body.blob_id };
}

/** What a request is made of; `id` is an index into own ids, others' ids and an unknown one. */
interface Drawn {
  readonly route: SignedName;
  readonly namespace: string;
  readonly second: string;
  readonly id: number;
  readonly text: string;
  readonly flag: boolean;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  route: fc.constantFrom(...routeNames("signed")),
  namespace: fc.constantFrom(...OPEN, ...FOREIGN),
  second: fc.constantFrom(...OPEN, ...FOREIGN),
  id: fc.nat(),
  text: fc.constantFrom("I like tea", "I like coffee", "My sister lives in Brno."),
  flag: fc.boolean(),
});

type Sent = readonly [path: string, body?: unknown, idempotencyKey?: string | undefined];

/** Path and body of a request of a side. */
function sent({ own }: Side, others: Others, given: Drawn): Sent {
  const { route, namespace, second, text, flag } = given;
  const ids = [...own, ...others.ids, UNKNOWN];
  const id = ids[given.id % ids.length]!;
  const path = route.slice(route.indexOf(" ") + 1).replace(":id", id);
  const query = `namespace=${encodeURIComponent(namespace)}`;
  const key = flag ? "same" : undefined;
  const supersedes = given.id % 3 === 0 ? { supersedes: [id] } : {};
  const line = (more: object) => JSON.stringify({ type: "memory", text, ...more });
  switch (route) {
    case "POST /api/remember":
      return [path, { text, namespace, ...supersedes }, key];
    case "POST /api/remember/bulk":
      return [path, { items: [{ text, namespace }, { text, namespace: second }] }, key];
    case "POST /api/remember/bulk/status":
      return [path, { job_ids: ids }];
    case "POST /api/remember/manual":
      return [
        path,
        flag ? { ...MANUAL, namespace } : { vector: VECTOR, blob_id: others.blobId, namespace },
      ];
    case "POST /api/recall":
      return [path, { query: text, namespace, ...flag ? { include: "history" } : {} }];
    case "POST /api/recall/manual":
      return [path, { vector: VECTOR, namespace }];
    case "POST /api/ask":
      return [path, { question: `What about it: ${text}?`, namespace }];
    case "POST /api/analyze":
      return [path, { text, namespace }, key];
    case "POST /api/embed":
      return [path, { text }];
    case "POST /api/session-token":
      return [path, { audience: "http://localhost:8000", namespace }];
    case "POST /api/restore":
    case "POST /api/stats":
      return [path, { namespace: namespace || "secret" }];
    case "POST /api/forget":
      return [path, { namespace: given.id % 5 === 0 ? namespace || "secret" : "secret" }];
    case "POST /api/receipts":
      return [path, { namespace: namespace || "default", memory_ids: [id] }];
    case "POST /api/export":
      return [path, flag ? {} : { namespace, history: given.id % 2 === 0 }];
    case "POST /api/import": {
      // Of another time for each text: memories of one time are in the order of their ids.
      const times = { created_at: `2026-01-01T00:00:${text.length}Z` };
      return [path, `${line({ namespace, ...times })}\n${line({ namespace: second, ...times })}\n`];
    }
    case "GET /api/memories":
      return [`${path}?${query}&limit=${flag ? 2 : 200}`];
    case "PUT /api/memories/:id":
      return [path, { text: `${text} indeed`, ...supersedes }];
    case "GET /api/review":
      return [`${path}?${query}`];
    case "POST /api/review":
      return [path, { memory_id: id, decision: flag ? "accept" : "undo" }];
    case "PUT /api/namespaces":
      return [path, { namespace: namespace || "default", conflicts: flag ? "off" : null }];
    case "GET /api/account/activity":
      return [`${path}?limit=5`];
    case "GET /api/namespaces":
      return [`${path}?limit=${flag ? 1 : 1000}`];
    default:
      return route.startsWith("GET") ? [path] : [path, {}];
  }
}

/** An answer without what of a receipt depends on how far the overwriting of files is. */
function untimed({ text, body }: Answer): string {
  if (body?.receipt === undefined) return text;
  const { erased: _erased, survives: _survives, ...statement } = JSON.parse(body.receipt.statement);
  return JSON.stringify({ ...body, erased: undefined, receipt: statement });
}

async function answerOf(one: Side, others: Others, given: Drawn): Promise<string> {
  const { svc, key } = one;
  svc.clock.advance(1000);
  const [path, body, idempotencyKey] = sent(one, others, given);
  const [method = ""] = given.route.split(" ");
  const type = typeof body === "string" ? { "content-type": "application/x-ndjson" } : {};
  const idempotency = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
  const answer = await svc.send(method, path, body, { key, headers: { ...type, ...idempotency } });
  await svc.relayer.idle();
  // Lines are in the order of ids, of which an import makes some out of the owner's address.
  const text = untimed(answer);
  const lines = given.route === "POST /api/export" ? text.split("\n") : [text];
  return lines.map((text) => plain({ ...answer, text })).sort().join("\n");
}

Deno.test("for a bound key there are no other namespaces, whatever it asks", async () => {
  verifies("10.17-1", "10.17-2", "10.17-3", "10.17-4", "10.17-5");
  await using empty = await side();
  await using full = await side();
  const nothing = await fill(full).then(async (others) => {
    // The open namespace that was forgotten above.
    await empty.svc.post("/api/forget", { namespace: "work" });
    await empty.svc.relayer.idle();
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
