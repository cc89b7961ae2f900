import assert from "node:assert/strict";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as StreamableV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { verifies } from "../requirements.ts";
import { started } from "./mcp_program.ts";

const FACT = "I am allergic to peanuts";

interface AnyClient {
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function rememberAndRecall(client: AnyClient, topic: string): Promise<void> {
  const { tools } = await client.listTools();
  assert.ok(JSON.stringify(tools).length < 8000);
  const namespace = `notes-${topic}`;
  const saved = await client.callTool({
    name: "svc_remember",
    arguments: { text: FACT, namespace },
  });
  assert.match(JSON.stringify(saved), /Remembered in /);
  const found = await client.callTool({
    name: "svc_recall",
    arguments: { query: "peanuts", namespace },
  });
  assert.match(JSON.stringify(found), /1\. \[[\d-]{10} · \w+\] I am allergic to peanuts/);
  await client.close();
}

Deno.test("official clients remember and recall through the started program", async () => {
  verifies("11-22");
  await started(async ({ base, headers }) => {
    const url = new URL(`${base}/api/mcp`);
    const requestInit = { headers };
    const streamable = new ClientV1({ name: "v1", version: "1" });
    await streamable.connect(new StreamableV1(url, { requestInit }));
    await rememberAndRecall(streamable, "v1");

    const sse = new ClientV1({ name: "v1-sse", version: "1" });
    const transport = new SSEClientTransport(new URL(`${url}/sse`), {
      requestInit,
      eventSourceInit: {
        fetch: (address: string | URL, init?: RequestInit) =>
          fetch(address, { ...init, headers: { ...headers, accept: "text/event-stream" } }),
      },
    });
    await sse.connect(transport);
    await rememberAndRecall(sse, "sse");

    for (const mode of ["auto", "legacy", { pin: "2026-07-28" }] as const) {
      const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      await rememberAndRecall(client, typeof mode === "string" ? mode : mode.pin);
    }
  }, { secrets: [FACT] });
});

Deno.test("a session's limits count the client's address, which only the relayer knows", async () => {
  verifies("15-29");
  const initialize = JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  });
  await started(async ({ base, headers }) => {
    const open = async (forwarded: string, forged: string) => {
      const response = await fetch(`${base}/api/mcp`, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "x-forwarded-for": forwarded,
          "x-svc-client-ip": forged,
          "x-svc-sidecar-token": "forged",
        },
        body: initialize,
      });
      return { status: response.status, body: await response.text() };
    };
    assert.equal((await open("203.0.113.1", "198.51.100.1")).status, 200);
    const second = await open("203.0.113.1", "198.51.100.2");
    assert.equal(second.status, 429);
    assert.match(second.body, /ip_active_cap/);
    assert.equal((await open("203.0.113.2", "198.51.100.1")).status, 200);
  }, { env: { MCP_MAX_SESSIONS_PER_IP: "1", SVC_BEHIND_PROXY: "127.0.0.1" } });
});
