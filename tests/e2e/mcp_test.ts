import assert from "node:assert/strict";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as StreamableV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { inHome, Program } from "../program.ts";
import { verifies } from "../requirements.ts";
import { isSidecar, pingStatus, runCommand, startServing, untilServed } from "./mcp_relayer.ts";

const FACT = "I am allergic to peanuts";

/** The started program, and an account whose key is a bearer. */
interface Started {
  readonly program: Program;
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** The first sidecar's process. */
  readonly sidecar: number;
}

async function started(
  test: (svc: Started) => Promise<void>,
  extra: Readonly<Record<string, string>> = {},
): Promise<void> {
  await inHome(async (home) => {
    const serving = await startServing(home, extra);
    await using program = serving.program;
    const { base, env: client, sidecar } = serving;
    await runCommand(["account", "create", "--save"], client);
    const saved = JSON.parse(await Deno.readTextFile(`${home}/.svc/credentials.json`));
    const headers = {
      authorization: `Bearer ${saved.delegatePrivateKey}`,
      "x-svc-account-id": saved.accountId,
    };
    await untilServed(base, headers);
    await test({ program, base, headers, env: client, sidecar });
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    const log = program.errors.join("\n");
    for (const secret of [saved.delegatePrivateKey, FACT]) assert.ok(!log.includes(secret));
  });
}

interface AnyClient {
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function rememberAndRecall(client: AnyClient, topic: string): Promise<void> {
  const { tools } = await client.listTools();
  assert.ok(JSON.stringify(tools).length < 6000);
  const namespace = `notes-${topic}`;
  const saved = await client.callTool({
    name: "svc_remember",
    arguments: { text: FACT, namespace },
  });
  assert.match(JSON.stringify(saved), /Saved to svc memory/);
  const found = await client.callTool({
    name: "svc_recall",
    arguments: { query: "peanuts", namespace },
  });
  assert.match(JSON.stringify(found), /1\. \[score=\d\.\d{3}\] I am allergic to peanuts/);
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
  });
});

Deno.test("without its sidecar the relayer serves on, MCP answers 502, and it comes back", async () => {
  await started(async ({ program, base, headers, env, sidecar }) => {
    const killed = performance.now();
    Deno.kill(sidecar, "SIGKILL");
    await program.event("child process ended; starting it again", isSidecar);
    const down = await pingStatus(base, headers);
    assert.equal(down.status, 502);
    assert.equal(JSON.parse(down.body).error.data.code, "sidecar_unavailable");
    await using remember = new Program(["remember", FACT], env);
    await untilServed(base, headers);
    assert.ok(performance.now() - killed < 3000, "it took too long to come back");
    assert.equal(await remember.end(), 0, remember.errors.join("\n"));
    const client = new Client({ name: "v2", version: "1" });
    const url = new URL(`${base}/api/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    await rememberAndRecall(client, "again");
  });
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
  }, { MCP_MAX_SESSIONS_PER_IP: "1", SVC_TRUSTED_PROXIES: "127.0.0.1" });
});
