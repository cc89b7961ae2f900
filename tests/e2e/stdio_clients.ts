// Lets official clients list, remember and recall through the package, each in a namespace of its
// own. A program of its own, because the clients leave timers behind when they close. Argument: how
// the package is started, as JSON.
import assert from "node:assert/strict";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { TOOLS } from "../cli/bridge/host_peer.ts";
import type { PackageStart } from "./stdio.ts";

const FACT = "I am allergic to peanuts";

interface AnyClient {
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function rememberAndRecall(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), TOOLS.managing);
  const saved = await client.callTool({ name: "svc_remember", arguments: { text: FACT } });
  assert.match(JSON.stringify(saved), /Remembered in .*"recallable":true/);
  const found = await client.callTool({ name: "svc_recall", arguments: { query: "peanuts" } });
  assert.match(JSON.stringify(found), /1\. \[[\d-]{10} · \w+\] I am allergic to peanuts/);
  await client.close();
}

const start: PackageStart = JSON.parse(Deno.args[0] ?? "");
const inNamespace = (name: string) => ({
  ...start,
  args: [...start.args, "--ns", name],
  stderr: "ignore" as const,
});

const v1 = new ClientV1({ name: "v1", version: "1" });
await v1.connect(new StdioV1(inNamespace("v1")));
await rememberAndRecall(v1);
for (
  const [mode, era] of [
    ["auto", "modern"],
    ["legacy", "legacy"],
    [{ pin: "2026-07-28" }, "modern"],
  ] as const
) {
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(inNamespace(`v2 ${JSON.stringify(mode)}`)));
  assert.equal(client.getProtocolEra(), era);
  await rememberAndRecall(client);
}
Deno.exit(0);
