import assert from "node:assert/strict";
import { TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { startSidecarTest, type TestSidecar } from "./fixture.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function ask(
  test: TestSidecar,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string | null> = {},
): Promise<Response> {
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } };
  const name = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {};
  return test.send("POST", "/api/mcp", body, {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...name,
    ...headers,
  });
}

const recall = { name: "svc_recall", arguments: { query: "tea" } };

Deno.test("discover, list and call without a session", async () => {
  verifies("11-35", "11-37");
  await using test = await startSidecarTest();
  const discovered = await (await ask(test, "server/discover")).json();
  assert.deepEqual(discovered.result.supportedVersions, ["2026-07-28"]);
  const listed = await (await ask(test, "tools/list")).json();
  assert.equal(listed.result.tools.length, 5);
  for (const name of ["svc_recall", "memwal_recall"]) {
    const response = await ask(test, "tools/call", { ...recall, name });
    assert.equal(response.status, 200, name);
    assert.equal(response.headers.get("mcp-session-id"), null);
    const { result } = await response.json();
    assert.equal(result.content[0].text, "No matching memories found.");
  }
  assert.equal(test.sidecar.stats().sessions, 0);
});

Deno.test("a request that names its revision itself has no session, whatever its headers", async () => {
  verifies("11-37");
  await using test = await startSidecarTest();
  const id = { "mcp-session-id": await test.open() };
  const listed = await ask(test, "tools/list", {}, id);
  assert.equal(listed.status, 200);
  assert.equal((await listed.json()).result.tools.length, 5);
  const mismatch = await ask(test, "tools/list", {}, { ...id, "mcp-protocol-version": "x" });
  assert.equal((await mismatch.json()).error.code, -32020);
});

Deno.test("headers must say what the body says, and refusals have a code", async () => {
  verifies("11-35");
  await using test = await startSidecarTest();
  for (
    const headers of [{ "mcp-method": "ping" }, { "mcp-name": "svc_restore" }, {
      "mcp-method": null,
    }]
  ) {
    const response = await ask(test, "tools/call", recall, { ...headers, "x-request-id": "r-2" });
    const { error } = await response.json();
    assert.equal(response.status, 400, JSON.stringify(headers));
    assert.equal(error.data.code, "invalid_request");
    assert.equal(error.data.request_id, "r-2");
  }
  const unknown = await ask(test, "no/such");
  assert.equal((await unknown.json()).error.code, -32601);
});

Deno.test("each request is checked", async () => {
  verifies("11-35");
  const clock = new TestClock();
  await using test = await startSidecarTest({ now: clock.now }, { clock });
  const key = await test.svc.addKey();
  const headers = test.headers(key);
  assert.equal((await ask(test, "tools/list", {}, { ...headers })).status, 200);
  await test.svc.backends.accounts.admin!.removeKey(test.svc.account.accountId, key.publicKey);
  clock.advance(2000);
  assert.equal((await ask(test, "tools/list", {}, { ...headers })).status, 401);
  assert.equal((await ask(test, "tools/list", {}, { authorization: null })).status, 401);
});

Deno.test("credentials count as one start a minute, refused ones each time", async () => {
  verifies("11-36");
  const clock = new TestClock();
  clock.freeze();
  await using test = await startSidecarTest(
    { now: clock.now, limits: { newSessionsPerIpPerMinute: 3 } },
    { clock },
  );
  for (let i = 0; i < 10; i++) assert.equal((await ask(test, "tools/list")).status, 200);
  const authorization = `Bearer ${"ab".repeat(32)}`;
  const statuses = [];
  for (let i = 0; i < 4; i++) {
    statuses.push((await ask(test, "tools/list", {}, { authorization })).status);
  }
  assert.deepEqual(statuses, [401, 401, 429, 429]);
  assert.equal((await ask(test, "tools/list")).status, 200);
  clock.advance(60_000);
  assert.equal((await ask(test, "tools/list")).status, 200);
});
