import assert from "node:assert/strict";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as StreamableV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { verifies } from "../requirements.ts";
import { startSidecarTest, type TestSidecar } from "./fixture.ts";

const NAMES = ["svc_analyze", "svc_list", "svc_recall", "svc_remember", "svc_restore"];
const FACT = "I am allergic to peanuts";

interface AnyClient {
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function throughTools(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), NAMES);
  const saved = await client.callTool({ name: "svc_remember", arguments: { text: FACT } });
  assert.match(JSON.stringify(saved), /Remembered in default\. memory_id=.*"recallable":true/);
  const found = await client.callTool({ name: "svc_recall", arguments: { query: "peanuts" } });
  assert.match(
    JSON.stringify(found),
    /1\. \[\d{4}-\d\d-\d\d · [0-9a-f]{8}\] I am allergic to peanuts/,
  );
  await client.close();
}

const streamable = ({ base, headers }: { base: string; headers: Record<string, string> }) =>
  [new URL(`${base}/api/mcp`), { requestInit: { headers } }] as const;

const at = (test: TestSidecar) => ({ base: test.base, headers: test.headers() });

Deno.test("client v1 over HTTP with SSE", async () => {
  verifies("17.4-2");
  await using test = await startSidecarTest();
  const client = new ClientV1({ name: "v1", version: "1" });
  const { base, headers } = at(test);
  const transport = new SSEClientTransport(new URL(`${base}/api/mcp/sse`), {
    requestInit: { headers },
    eventSourceInit: {
      fetch: (url: string | URL, init?: RequestInit) =>
        fetch(url, { ...init, headers: { ...headers, accept: "text/event-stream" } }),
    },
  });
  await client.connect(transport);
  assert.equal(test.sidecar.stats().sse, 1);
  await throughTools(client);
});

Deno.test("client v1 over Streamable HTTP", async () => {
  await using test = await startSidecarTest();
  const client = new ClientV1({ name: "v1", version: "1" });
  const transport = new StreamableV1(...streamable(at(test)));
  await client.connect(transport);
  assert.match(transport.sessionId ?? "", /^[0-9a-f]{32,}$/);
  assert.deepEqual(test.sidecar.stats(), { sse: 0, streamable: 1, sessions: 1 });
  await transport.terminateSession();
  assert.deepEqual(test.sidecar.stats(), { sse: 0, streamable: 0, sessions: 0 });
  await client.close();
  const again = new ClientV1({ name: "v1", version: "1" });
  await again.connect(new StreamableV1(...streamable(at(test))));
  await throughTools(again);
});

for (
  const [mode, era] of [["auto", "modern"], ["legacy", "legacy"], [
    { pin: "2026-07-28" },
    "modern",
  ]] as const
) {
  Deno.test(`client v2, ${JSON.stringify(mode)}`, async () => {
    await using test = await startSidecarTest();
    const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(...streamable(at(test))));
    assert.equal(client.getProtocolEra(), era);
    assert.equal(test.sidecar.stats().sessions, era === "legacy" ? 1 : 0);
    await throughTools(client);
  });
}
