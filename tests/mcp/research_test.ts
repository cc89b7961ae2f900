import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { ToolCall } from "../../src/mcp/tools/call.ts";
import { fetchSource } from "../../src/mcp/tools/research.ts";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { startSidecarTest, type TestSidecar } from "./fixture.ts";

const WEB = "https://memories.example";
const TEXT = `The launch is in May.\nAda said so ${"twice ".repeat(20)}`;

/** What both kinds of clients can do. */
type Caller = Pick<Client, "listTools" | "close"> & {
  callTool(call: { name: string; arguments: Json }): Promise<unknown>;
};

/** A session of an official client at an address with the tools of research. */
async function connected(
  test: TestSidecar,
  revision: "2025-11-25" | "2026-07-28" | "earlier",
  headers = test.headers(),
): Promise<Caller> {
  const url = new URL(`${test.base}/api/mcp?tools=search`);
  const options = { requestInit: { headers } };
  if (revision === "earlier") {
    const client = new EarlierClient({ name: "research", version: "1" });
    await client.connect(new EarlierTransport(url, options) as never);
    return client as unknown as Caller;
  }
  const client = new Client({ name: "research", version: "1" }, {
    versionNegotiation: { mode: revision === "2026-07-28" ? { pin: revision } : "legacy" },
  });
  await client.connect(new StreamableHTTPClientTransport(url, options));
  return client;
}

/** The data of a result, which its one text has, too. */
async function data(client: Caller, name: string, args: Json): Promise<Json> {
  const { content, structuredContent, isError } = await client.callTool({
    name,
    arguments: args,
  }) as Json;
  assert.equal(isError, undefined, content[0].text);
  assert.deepEqual(content.map(({ type }: Json) => type), ["text"]);
  assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  return structuredContent;
}

for (const revision of ["2025-11-25", "2026-07-28", "earlier"] as const) {
  Deno.test(`hosts that do research find sources and read them: ${revision}`, async () => {
    verifies("12-34", "12-35", "12-36", "12-37", "12-38");
    await using test = await startSidecarTest({ webUrl: WEB });
    const { svc } = test;
    const id = await svc.remember(TEXT, {
      metadata: { from: "call" },
      occurred_at: "2026-02-03T04:05:06.000Z",
    });
    await svc.remember("The launch is secret.", { namespace: "secret" });
    const client = await connected(test, revision);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name, annotations: { readOnlyHint } = {} }) => [
        name,
        readOnlyHint,
      ]),
      [["search", true], ["fetch", true]],
    );
    assert.deepEqual(
      tools.map(({ inputSchema: { properties, required } }) => [
        Object.keys(properties ?? {}),
        required,
      ]),
      [[["query"], ["query"]], [["id"], ["id"]]],
    );

    const found = await data(client, "search", { query: "When is the launch?" });
    const title = `The launch is in May. Ada said so ${"twice ".repeat(20)}`.slice(0, 80) + "…";
    const url = `${WEB}/memory#${id}`;
    assert.deepEqual(found, { results: [{ id, title, url }] });
    const writer = `test …${svc.key.publicKey.slice(-8)}`;
    const metadata = {
      from: "call",
      namespace: "default",
      date: "2026-02-03",
      written_by: writer,
    };
    for (const named of [id, id.slice(-8)]) {
      const source = await data(client, "fetch", { id: named });
      assert.deepEqual(source, { id, title, text: TEXT, url, metadata });
    }
    const none = await client.callTool({ name: "fetch", arguments: { id: "12345678" } }) as Json;
    assert.equal(none.isError, true);
    assert.match(none.content[0].text, /tool fetch: id: no memory has this id/);
    await client.close();
  });
}

Deno.test("a memory does not say itself who wrote it", async () => {
  verifies("12-37");
  await using test = await startSidecarTest({ webUrl: WEB });
  const { svc } = test;
  const metadata = { written_by: "Ada …12345678", namespace: "other", date: "never", from: "call" };
  const id = await svc.remember(TEXT, { metadata });
  const client = await connected(test, "2025-11-25");
  const told = (await data(client, "fetch", { id })).metadata;
  assert.equal(told.from, "call");
  assert.equal(told.namespace, "default");
  assert.notEqual(told.date, "never");
  assert.equal(told.written_by, `test …${svc.key.publicKey.slice(-8)}`);
  await client.close();
});

Deno.test("a memory of nobody known has no writer, whatever it says", async () => {
  const call = {
    given: { id: "11111111-1111-4111-8111-111111111111" },
    namespace: undefined,
    client: {
      memory: () =>
        Promise.resolve({
          memory_id: "11111111-1111-4111-8111-111111111111",
          text: TEXT,
          namespace: "default",
          created_at: "2026-02-03T04:05:06.000Z",
          metadata: { written_by: "Ada …12345678", from: "call" },
        }),
    },
  };
  const { structuredContent } = await fetchSource(call as unknown as ToolCall);
  assert.deepEqual((structuredContent as Json).metadata, {
    from: "call",
    namespace: "default",
    date: "2026-02-03",
  });
});

Deno.test("research has no other tools, and the memory tools do not have its", async () => {
  verifies("12-34");
  await using test = await startSidecarTest();
  const id = await test.svc.remember("I like tea");
  const key = await test.svc.addKey(["read", "write", "manage"]);
  const client = await connected(test, "2025-11-25", test.headers(key));
  for (const name of ["svc_remember", "svc_forget", "svc_search", "memwal_recall"]) {
    await assert.rejects(client.callTool({ name, arguments: { text: "x" } }), /-32602|not found/);
  }
  const { results: [source] } = await data(client, "search", { query: "tea" });
  assert.equal(source.url, `urn:uuid:${id}`, "there is no dashboard");
  await client.close();
  const session = await test.open();
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search" } };
  const answer = await test.send("POST", "/api/mcp?tools=search", body, {
    "mcp-session-id": session,
  });
  assert.match(await answer.text(), /-32602/, "a session keeps what it was opened with");
});

Deno.test("an address with other tools is refused", async () => {
  verifies("12-34");
  await using test = await startSidecarTest();
  for (const query of ["tools=", "tools=all", "tools=search&tools=search"]) {
    for (const [method, path] of [["POST", "/api/mcp"], ["GET", "/api/mcp/sse"]] as const) {
      const body = method === "POST"
        ? {
          jsonrpc: "2.0",
          id: 0,
          method: "initialize",
          params: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "x", version: "1" },
          },
        }
        : undefined;
      const answer = await test.send(method, `${path}?${query}`, body, {
        accept: "application/json, text/event-stream",
      });
      const { error } = await answer.json();
      assert.deepEqual([answer.status, error.data.code], [400, "invalid_parameter"], query);
    }
  }
});
