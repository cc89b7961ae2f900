import assert from "node:assert/strict";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as StreamableV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createSidecar, type Sidecar } from "../../src/mcp/mcp.ts";
import { listening } from "../listening.ts";
import { verifies } from "../requirements.ts";
import { INITIALIZE, startSidecarTest, type TestSidecar, TOKEN } from "./fixture.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const NAMES = ["relayer-1", "relayer-2"] as const;

/** Two sidecars, and a balancer on a port that sends everything to one of them. */
async function startTwo() {
  const stack = new AsyncDisposableStack();
  const relayers: Sidecar[] = [];
  const chosen = { now: 0 };
  const listen = { hostname: "127.0.0.1", port: 0, onListen() {} };
  // Ends last: it waits for streams, which a client may leave open and the sidecars end.
  const front = stack.use(
    Deno.serve(listen, (request) => relayers[chosen.now]!.fetch(request)),
  );
  const first = stack.use(await startSidecarTest({ name: NAMES[0] }));
  const relayer = stack.use(listening(first.svc.relayer.fetch));
  const second = stack.use(
    createSidecar({ relayerUrl: relayer.url, token: TOKEN, name: NAMES[1] }),
  );
  relayers.push(first.sidecar, second);
  return {
    first,
    relayers,
    chosen,
    url: new URL(`http://127.0.0.1:${front.addr.port}/api/mcp`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const opened = (url: URL, test: TestSidecar) =>
  new StreamableV1(url, { requestInit: { headers: test.headers() } });

Deno.test("the ids of both transports begin with the relayer's name", async () => {
  verifies("11-45");
  await using test = await startSidecarTest({ name: "relayer-1" });
  const id = await test.open();
  assert.match(id, /^relayer-1\.[0-9a-f]{32}$/);
  const listed = await test.send("POST", "/api/mcp", LIST, { "mcp-session-id": id });
  assert.equal(listed.status, 200);
  await listed.body?.cancel();

  const stream = await test.send("GET", "/api/mcp/sse");
  const reader = stream.body!.getReader();
  const event = new TextDecoder().decode((await reader.read()).value);
  const path = /\/api\/mcp\/messages\?sessionId=relayer-1\.[0-9a-f]{32}/.exec(event)![0];
  assert.equal((await test.send("POST", path, INITIALIZE)).status, 202);
  await reader.cancel();
});

Deno.test("a session of another relayer, or of one that is lost, is unknown: 404", async () => {
  verifies("11-45", "11-19", "11-21");
  await using test = await startSidecarTest({ name: "relayer-2" });
  const id = `relayer-1.${"0f".repeat(16)}`;
  const headers = { "mcp-session-id": id };
  const answers = [
    await test.send("POST", "/api/mcp", LIST, headers),
    await test.send("POST", "/api/mcp", { jsonrpc: "2.0", method: "notifications/x" }, headers),
    await test.send("GET", "/api/mcp", undefined, headers),
    await test.send("DELETE", "/api/mcp", undefined, headers),
    await test.send("POST", `/api/mcp/messages?sessionId=${id}`, LIST),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 404);
    const { error } = await answer.json();
    assert.deepEqual([error.code, error.data.code], [-32000, "session_not_found"]);
  }
});

Deno.test("client v1 learns that its session went with its relayer, and starts anew", async () => {
  verifies("11-45");
  await using two = await startTwo();
  const client = new ClientV1({ name: "v1", version: "1" });
  const transport = opened(two.url, two.first);
  await client.connect(transport);
  assert.match(transport.sessionId!, /^relayer-1\./);
  assert.ok((await client.listTools()).tools.length > 0);
  two.chosen.now = 1;
  await assert.rejects(client.listTools(), { code: 404 });
  await client.close();

  const again = new ClientV1({ name: "v1", version: "1" });
  const anew = opened(two.url, two.first);
  await again.connect(anew);
  assert.match(anew.sessionId!, /^relayer-2\./);
  assert.ok((await again.listTools()).tools.length > 0);
  await again.close();
});

Deno.test("client v2 asks either relayer, since 2026-07-28 has no sessions", async () => {
  verifies("11-35");
  await using two = await startTwo();
  const client = new Client({ name: "v2", version: "1" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  await client.connect(
    new StreamableHTTPClientTransport(two.url, {
      requestInit: { headers: two.first.headers() },
    }),
  );
  for (const text of ["I am allergic to peanuts", "My cat is called Ada"]) {
    const saved = await client.callTool({ name: "svc_remember", arguments: { text } });
    assert.match(JSON.stringify(saved), /Remembered in default/);
    two.chosen.now = 1 - two.chosen.now;
    const found = await client.callTool({ name: "svc_recall", arguments: { query: text } });
    assert.ok(JSON.stringify(found).includes(text));
  }
  assert.ok(two.relayers.every((relayer) => relayer.stats().sessions === 0));
  await client.close();
});
