import assert from "node:assert/strict";
import { routeNames } from "../../src/wire/routes.ts";
import type { Permission } from "../../src/interfaces/mod.ts";
import { startRelayer, type TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

interface Expectation {
  readonly route: string;
  readonly needs: readonly Permission[];
  readonly body?: Readonly<Record<string, unknown>> | string;
  /** Media type of the body, where it is not JSON. */
  readonly type?: string;
  /** Status for a key with every permission. */
  readonly success: number;
  /** Status for one that may only write, where that differs. */
  readonly writing?: number;
}

const ID = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";

function expectations(vector: number[]): readonly Expectation[] {
  return [
    { route: "POST /api/remember", needs: ["write"], body: { text: "tea" }, success: 202 },
    {
      route: "POST /api/remember/bulk",
      needs: ["write"],
      body: { items: [{ text: "tea" }] },
      success: 202,
    },
    {
      route: "POST /api/remember/manual",
      needs: ["write"],
      body: { encrypted_data: "AAAA", vector },
      success: 200,
    },
    { route: "POST /api/remember/:id/retry", needs: ["write"], success: 404 },
    { route: "POST /api/forget", needs: ["write"], body: { namespace: "a" }, success: 200 },
    {
      route: "POST /api/receipts",
      needs: ["read"],
      body: { memory_ids: [ID] },
      success: 404,
    },
    { route: "POST /api/export", needs: ["read"], body: {}, success: 200 },
    {
      route: "POST /api/import",
      needs: ["read", "write"],
      body: '{"type":"memory","text":"tea"}',
      type: "application/x-ndjson",
      success: 202,
    },
    {
      route: "PUT /api/memories/:id",
      needs: ["read", "write"],
      body: { text: "tea" },
      success: 404,
    },
    { route: "DELETE /api/memories/:id", needs: ["write"], success: 404, writing: 200 },
    { route: "POST /api/recall", needs: ["read"], body: { query: "tea" }, success: 200 },
    { route: "POST /api/recall/manual", needs: ["read"], body: { vector }, success: 200 },
    { route: "POST /api/stats", needs: ["read"], body: {}, success: 200 },
    { route: "GET /api/memories", needs: ["read"], success: 200 },
    { route: "GET /api/memories/:id", needs: ["read"], success: 404 },
    { route: "GET /api/namespaces", needs: ["read"], success: 200 },
    {
      route: "PUT /api/namespaces",
      needs: ["write"],
      body: { namespace: "a", conflicts: "auto" },
      success: 200,
    },
    { route: "GET /api/review", needs: ["read"], success: 200 },
    {
      route: "POST /api/review",
      needs: ["read", "write"],
      body: { memory_id: ID, decision: "accept" },
      success: 404,
    },
    {
      route: "POST /api/restore",
      needs: ["read", "write"],
      body: { namespace: "a" },
      success: 200,
    },
    { route: "GET /api/remember/:id", needs: [], success: 404 },
    {
      route: "POST /api/session-token",
      needs: [],
      body: { audience: "http://localhost:8000" },
      success: 200,
    },
    { route: "GET /api/account", needs: [], success: 200 },
    { route: "GET /api/account/keys", needs: ["read"], success: 200 },
    { route: "GET /api/account/activity", needs: ["read"], success: 200 },
    {
      route: "POST /api/remember/bulk/status",
      needs: [],
      body: { job_ids: ["a"] },
      success: 200,
    },
    { route: "POST /api/analyze", needs: ["write"], body: { text: "I like tea." }, success: 202 },
    { route: "POST /api/ask", needs: ["read"], body: { question: "tea?" }, success: 200 },
    { route: "POST /api/embed", needs: [], body: { text: "tea" }, success: 200 },
  ];
}

Deno.test("every signed route takes the keys the table names", async () => {
  verifies("10-1", "10-2", "10-3", "10-4", "10-5", "10-6", "10-7", "10-8", "10-11", "4.3-19");
  verifies("17.1-7", "10-9", "10-10", "10-12");
  await using svc = await startRelayer();
  const { body: { vector } } = await svc.post("/api/embed", { text: "tea" });
  const table = expectations(vector);
  assert.deepEqual(
    table.map(({ route }) => route).sort(),
    routeNames("signed").sort(),
  );
  const keys: readonly (readonly [permissions: readonly Permission[], key: TestKey])[] = [
    [["read"], await svc.addKey(["read"])],
    [["write"], await svc.addKey(["write"])],
    [["read", "write"], await svc.addKey(["read", "write"])],
  ];
  for (const { route, needs, body, success, writing = success, type } of table) {
    const headers = type === undefined ? {} : { headers: { "content-type": type } };
    const [method = "", path = ""] = route.split(" ");
    for (const [permissions, key] of keys) {
      const answer = await svc.send(method, path.replace(":id", ID), body, { key, ...headers });
      const name = `${route} with ${permissions.join(" and ")}`;
      if (needs.every((permission) => permissions.includes(permission))) {
        assert.equal(answer.status, permissions.includes("read") ? success : writing, name);
      } else assertError(answer, [403, "permission_denied"], {}, name);
    }
  }
});

Deno.test("every signed route refuses a request without a signature", async () => {
  verifies("4-1", "4.3-4");
  await using svc = await startRelayer();
  for (const name of routeNames("signed")) {
    const [method = "", path = ""] = name.split(" ");
    const answer = await svc.plain(method, path.replace(":id", ID));
    assertError(answer, [401, "auth_headers_missing"], {}, name);
  }
});

Deno.test("only two routes take a query, in the 6-field form", async () => {
  verifies("10-13", "4.3-8");
  await using svc = await startRelayer();
  for (const path of ["/api/memories", "/api/namespaces"]) {
    assert.equal((await svc.get(`${path}?limit=1`)).status, 200);
    assert.equal((await svc.get(path, { form: 4 })).status, 200);
    const answer = await svc.get(`${path}?limit=1`, { form: 4 });
    assertError(answer, [400, "unsigned_query"]);
  }
});
