import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { INITIALIZE, messagesOf, startSidecarTest, type TestSidecar } from "./fixture.ts";
import { TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

type Headers = Record<string, string | null>;

interface Row {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Headers;
  /** Sends the id of an open session. */
  readonly session?: true;
  readonly status: number;
  readonly rpc?: number;
  readonly code?: string;
}

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const OTHER_KEY = "ab".repeat(32);
const MESSAGES = "/api/mcp/messages";
const HEX = "0".repeat(32);

const ROWS: readonly Row[] = [
  { name: "no token", headers: { "x-svc-sidecar-token": null }, body: LIST, status: 403 },
  { name: "wrong token", headers: { "x-svc-sidecar-token": "x" }, body: LIST, status: 403 },
  {
    name: "unknown path",
    path: "/api/mcp/x",
    body: LIST,
    status: 404,
    rpc: -32000,
    code: "not_found",
  },
  { name: "PUT", method: "PUT", body: LIST, status: 405, rpc: -32000, code: "method_not_allowed" },
  {
    name: "POST to the stream",
    path: "/api/mcp/sse",
    body: LIST,
    status: 405,
    rpc: -32000,
    code: "method_not_allowed",
  },
  {
    name: "no bearer",
    headers: { authorization: null },
    body: INITIALIZE,
    status: 401,
    rpc: -32001,
    code: "auth_headers_missing",
  },
  {
    name: "no account",
    headers: { "x-svc-account-id": null },
    body: INITIALIZE,
    status: 401,
    rpc: -32001,
    code: "auth_headers_missing",
  },
  {
    name: "basic",
    headers: { authorization: "Basic eA==" },
    body: INITIALIZE,
    status: 401,
    rpc: -32001,
    code: "auth_header_invalid",
  },
  {
    name: "short bearer",
    headers: { authorization: "Bearer 00" },
    body: INITIALIZE,
    status: 401,
    rpc: -32001,
    code: "auth_header_invalid",
  },
  {
    name: "bad account",
    headers: { "x-svc-account-id": "0x1" },
    body: INITIALIZE,
    status: 401,
    rpc: -32001,
    code: "auth_header_invalid",
  },
  {
    name: "random key",
    headers: { authorization: `Bearer ${OTHER_KEY}` },
    body: INITIALIZE,
    status: 401,
    rpc: -32001,
    code: "account_not_authorized",
  },
  {
    name: "random account",
    headers: { "x-svc-account-id": `0x${OTHER_KEY}` },
    body: INITIALIZE,
    status: 401,
    rpc: -32001,
    code: "account_not_authorized",
  },
  {
    name: "random key, SSE",
    method: "GET",
    path: "/api/mcp/sse",
    headers: { authorization: `Bearer ${OTHER_KEY}` },
    status: 401,
    rpc: -32001,
    code: "account_not_authorized",
  },
  {
    name: "bad namespace",
    headers: { "x-svc-namespace": "x".repeat(257) },
    body: INITIALIZE,
    status: 400,
    rpc: -32000,
    code: "invalid_namespace",
  },
  {
    name: "request without session",
    body: LIST,
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "notification without session",
    body: { jsonrpc: "2.0", method: "notifications/initialized" },
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "initialize without an id",
    body: { ...INITIALIZE, id: undefined },
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "batch with initialize",
    body: [INITIALIZE],
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "unknown session",
    headers: { "mcp-session-id": HEX },
    body: LIST,
    status: 404,
    rpc: -32000,
    code: "session_not_found",
  },
  {
    name: "malformed session",
    headers: { "mcp-session-id": "x y" },
    body: LIST,
    status: 404,
    rpc: -32000,
    code: "session_not_found",
  },
  {
    name: "unknown session, initialize",
    headers: { "mcp-session-id": HEX },
    body: INITIALIZE,
    status: 404,
    rpc: -32000,
    code: "session_not_found",
  },
  {
    name: "GET unknown session",
    method: "GET",
    headers: { "mcp-session-id": HEX },
    status: 404,
    rpc: -32000,
    code: "session_not_found",
  },
  {
    name: "DELETE unknown session",
    method: "DELETE",
    headers: { "mcp-session-id": HEX },
    status: 404,
    rpc: -32000,
    code: "session_not_found",
  },
  {
    name: "GET without session",
    method: "GET",
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "DELETE without session",
    method: "DELETE",
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "second initialize",
    session: true,
    body: INITIALIZE,
    status: 400,
    rpc: -32600,
    code: "already_initialized",
  },
  {
    name: "second initialize, without an id",
    session: true,
    body: { ...INITIALIZE, id: undefined },
    status: 400,
    rpc: -32600,
    code: "already_initialized",
  },
  {
    name: "other credentials",
    session: true,
    headers: { authorization: `Bearer ${OTHER_KEY}` },
    body: LIST,
    status: 403,
    rpc: -32603,
    code: "session_mismatch",
  },
  {
    name: "DELETE by others",
    method: "DELETE",
    session: true,
    headers: { authorization: `Bearer ${OTHER_KEY}` },
    status: 403,
    rpc: -32603,
    code: "session_mismatch",
  },
  {
    name: "Accept json only",
    session: true,
    headers: { accept: "application/json" },
    body: LIST,
    status: 406,
    rpc: -32000,
    code: "not_acceptable",
  },
  {
    name: "Accept events only",
    headers: { accept: "text/event-stream" },
    body: INITIALIZE,
    status: 406,
    rpc: -32000,
    code: "not_acceptable",
  },
  {
    name: "no Accept",
    headers: { accept: null },
    body: INITIALIZE,
    status: 406,
    rpc: -32000,
    code: "not_acceptable",
  },
  {
    name: "GET Accept json",
    method: "GET",
    session: true,
    headers: { accept: "application/json" },
    status: 406,
    rpc: -32000,
    code: "not_acceptable",
  },
  {
    name: "SSE Accept json",
    method: "GET",
    path: "/api/mcp/sse",
    headers: { accept: "application/json" },
    status: 406,
    rpc: -32000,
    code: "not_acceptable",
  },
  {
    name: "malformed JSON",
    session: true,
    body: "{",
    status: 400,
    rpc: -32700,
    code: "malformed_json",
  },
  {
    name: "malformed JSON, no session",
    body: "{",
    status: 400,
    rpc: -32700,
    code: "malformed_json",
  },
  {
    name: "nested too deeply, a key of nobody",
    headers: { authorization: `Bearer ${OTHER_KEY}` },
    body: { ...INITIALIZE, id: JSON.parse("[".repeat(64) + "]".repeat(64)) },
    status: 400,
    rpc: -32700,
    code: "malformed_json",
  },
  { name: "empty body", body: "", status: 400, rpc: -32700, code: "malformed_json" },
  {
    name: "no JSON-RPC",
    session: true,
    body: { hello: 1 },
    status: 400,
    rpc: -32600,
    code: "invalid_request",
  },
  { name: "a number", session: true, body: 5, status: 400, rpc: -32600, code: "invalid_request" },
  {
    name: "empty batch",
    session: true,
    body: [],
    status: 400,
    rpc: -32600,
    code: "invalid_request",
  },
  {
    name: "unknown revision",
    session: true,
    headers: { "mcp-protocol-version": "1999-01-01" },
    body: LIST,
    status: 400,
    rpc: -32000,
    code: "unsupported_protocol_version",
  },
  {
    name: "unknown revision, GET",
    method: "GET",
    session: true,
    headers: { "mcp-protocol-version": "1999-01-01" },
    status: 400,
    rpc: -32000,
    code: "unsupported_protocol_version",
  },
  ...["2026-07-28", "2026-07-29", "2027-01-01", "DRAFT", "x"].flatMap((revision) =>
    [
      { name: "request", body: LIST },
      { name: "notification", body: { jsonrpc: "2.0", method: "notifications/initialized" } },
    ].map(({ name, body }): Row => ({
      name: `revision ${revision}, ${name} of a session`,
      session: true,
      headers: { "mcp-protocol-version": revision },
      body,
      status: 400,
      rpc: -32000,
      code: "unsupported_protocol_version",
    }))
  ),
  {
    name: "second initialize, revision without sessions",
    session: true,
    headers: { "mcp-protocol-version": "2026-07-28" },
    body: INITIALIZE,
    status: 400,
    rpc: -32600,
    code: "already_initialized",
  },
  {
    name: "text",
    session: true,
    headers: { "content-type": "text/plain" },
    body: LIST,
    status: 415,
    rpc: -32000,
    code: "unsupported_media_type",
  },
  {
    name: "gzip",
    session: true,
    headers: { "content-encoding": "gzip" },
    body: LIST,
    status: 415,
    rpc: -32000,
    code: "unsupported_media_type",
  },
  {
    name: "over 2 MiB",
    session: true,
    body: JSON.stringify("x".repeat(2_097_152)),
    status: 413,
    rpc: -32000,
    code: "body_too_large",
  },
  {
    name: "over 2 MiB, and says less",
    session: true,
    headers: { "content-length": "5" },
    body: JSON.stringify("x".repeat(2_097_152)),
    status: 413,
    rpc: -32000,
    code: "body_too_large",
  },
  {
    name: "messages without id",
    path: MESSAGES,
    body: LIST,
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "messages, malformed id",
    path: `${MESSAGES}?sessionId=a%20b`,
    body: LIST,
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "messages, empty id",
    path: `${MESSAGES}?sessionId=`,
    body: LIST,
    status: 400,
    rpc: -32000,
    code: "session_required",
  },
  {
    name: "messages, unknown id",
    path: `${MESSAGES}?sessionId=${HEX}`,
    body: LIST,
    status: 404,
    rpc: -32000,
    code: "session_not_found",
  },
];

async function check(test: TestSidecar, row: Row): Promise<void> {
  const { method = "POST", path = "/api/mcp", body, session } = row;
  const headers = {
    "x-request-id": "r-1",
    ...(session ? { "mcp-session-id": await test.open() } : {}),
    ...row.headers,
  };
  const response = await test.send(method, path, body, headers);
  const text = await response.text();
  assert.equal(response.status, row.status, text);
  assert.equal(response.headers.get("x-request-id"), "r-1");
  if (row.rpc === undefined) return;
  const answer = JSON.parse(text);
  assert.equal(answer.jsonrpc, "2.0");
  assert.equal(answer.id, null);
  assert.equal(answer.error.code, row.rpc);
  assert.deepEqual(answer.error.data, { code: row.code, request_id: "r-1" });
  const challenge = response.headers.get("www-authenticate");
  assert.equal(
    challenge,
    row.status === 401 ? 'Bearer realm="svc", error="invalid_token"' : null,
  );
  if (row.status === 405) assert.ok(response.headers.get("allow"));
}

Deno.test("refusals", async (t) => {
  verifies("5-22", "11-3", "11-5", "11-19", "11-21");
  for (const row of ROWS) {
    await t.step(row.name, async () => {
      await using test = await startSidecarTest();
      await check(test, row);
      assert.equal(test.sidecar.stats().sessions, row.session ? 1 : 0);
    });
  }
});

Deno.test("a chain that cannot be reached is 503, and no session", async () => {
  verifies("11-4");
  await using test = await startSidecarTest();
  const unavailable = () => Promise.reject(new SvcError("chain_unavailable"));
  test.svc.backends.accounts.resolve = unavailable;
  test.svc.backends.accounts.get = unavailable;
  const key = new TestKey();
  const response = await test.send("POST", "/api/mcp", INITIALIZE, test.headers(key));
  assert.equal(response.status, 503);
  assert.equal(response.headers.get("retry-after"), "5");
  const { error } = await response.json();
  assert.equal(error.data.code, "chain_unavailable");
  assert.equal(error.data.retry_after_seconds, 5);
  assert.equal(test.sidecar.stats().sessions, 0);
});

Deno.test("a relayer that does not answer is 502, without its address", async () => {
  await using test = await startSidecarTest({ relayerUrl: "http://127.0.0.1:9" });
  const response = await test.send("POST", "/api/mcp", INITIALIZE);
  assert.equal(response.status, 502);
  const text = await response.text();
  assert.doesNotMatch(text, /127\.0\.0\.1/);
  assert.match(text, /sidecar_unavailable/);
});

Deno.test("what is answered", async (t) => {
  verifies("11-7", "11-21", "11-24", "11-25", "11-34", "11-39");
  await using test = await startSidecarTest();
  const session = async () => ({ "mcp-session-id": await test.open() });

  await t.step("initialize: 200, one message, a session id", async () => {
    for (
      const wanted of [
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
        "2024-10-07",
        "2030-01-01",
      ]
    ) {
      const known = wanted.startsWith("2024-10") || wanted.startsWith("2030")
        ? "2025-11-25"
        : wanted;
      const params = { ...INITIALIZE.params, protocolVersion: wanted };
      const response = await test.send("POST", "/api/mcp", { ...INITIALIZE, params });
      assert.equal(response.status, 200);
      assert.match(response.headers.get("mcp-session-id") ?? "", /^[0-9a-f]{32}$/);
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
      const [message, ...rest] = await messagesOf(response);
      assert.deepEqual(rest, []);
      const result = message?.["result"] as Record<string, unknown>;
      assert.equal(result["protocolVersion"], known);
      assert.deepEqual(result["capabilities"], { tools: { listChanged: true } });
      const info = result["serverInfo"] as Record<string, unknown>;
      assert.equal(info["name"], "svc");
      assert.deepEqual(Object.keys(info).sort(), ["name", "title", "version"]);
      assert.equal(typeof result["instructions"], "string");
    }
  });

  await t.step("request: 200 and a stream that ends with the response", async () => {
    const response = await test.send("POST", "/api/mcp", LIST, await session());
    assert.equal(response.status, 200);
    const text = await response.text();
    assert.match(text, /^event: message\ndata: [^\n]+\n\n$/);
    assert.doesNotMatch(text, /\r/);
  });

  await t.step("notification and response: 202, empty", async () => {
    const headers = await session();
    for (
      const body of [
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: 9, result: {} },
      ]
    ) {
      const response = await test.send("POST", "/api/mcp", body, headers);
      assert.equal(response.status, 202);
      assert.equal(await response.text(), "");
    }
  });

  await t.step("batch: one stream", async () => {
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const response = await test.send("POST", "/api/mcp", [LIST, ping], await session());
    assert.equal(response.status, 200);
    const ids = (await messagesOf(response)).map(({ id }) => id);
    assert.deepEqual(ids.sort(), [1, 2]);
  });

  await t.step("ping, and methods of resources and prompts", async () => {
    const headers = await session();
    const ask = async (method: string) => {
      const body = { jsonrpc: "2.0", id: 3, method };
      return (await messagesOf(await test.send("POST", "/api/mcp", body, headers)))[0];
    };
    assert.deepEqual((await ask("ping"))?.["result"], {});
    for (const method of ["resources/list", "prompts/list", "resources/read", "prompts/get"]) {
      assert.equal((await ask(method) as { error: { code: number } }).error.code, -32601);
    }
  });

  await t.step("GET: a stream; the newest one counts; Last-Event-ID is ignored", async () => {
    const headers = { ...await session(), "last-event-id": "7" };
    const first = await test.send("GET", "/api/mcp", undefined, headers);
    const second = await test.send("GET", "/api/mcp", undefined, headers);
    assert.equal(first.status, 200);
    assert.equal(second.status, 200);
    await first.text();
    const reader = second.body!.getReader();
    const { value } = await reader.read();
    assert.equal(new TextDecoder().decode(value), ":keepalive\n\n");
    await reader.cancel();
  });

  await t.step("DELETE: 200, then 404", async () => {
    const headers = await session();
    const stream = await test.send("GET", "/api/mcp", undefined, headers);
    const response = await test.send("DELETE", "/api/mcp", undefined, headers);
    assert.equal(response.status, 200);
    await stream.text();
    assert.equal((await test.send("POST", "/api/mcp", LIST, headers)).status, 404);
    assert.equal((await test.send("DELETE", "/api/mcp", undefined, headers)).status, 404);
  });
});
