import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { startSidecarTest } from "./fixture.ts";

const APPS = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};
const URI = "ui://svc/review";
const INFO = { name: "host", version: "1" };

/** What a host sees of the card: the tools that name it, a result, and the page. */
type Seen = Pick<Client, "listTools" | "listResources" | "close"> & {
  callTool(call: Json): Promise<Json>;
  readResource(read: Json): Promise<Json>;
};

async function connect(
  base: string,
  headers: Record<string, string>,
  { revision, capabilities = {}, query = "" }: {
    readonly revision: string;
    readonly capabilities?: Json;
    readonly query?: string;
  },
): Promise<Seen> {
  const url = new URL(`${base}/api/mcp${query}`);
  const options = { requestInit: { headers } };
  if (revision === "earlier") {
    const client = new EarlierClient(INFO, { capabilities });
    await client.connect(new EarlierTransport(url, options) as never);
    return client as unknown as Seen;
  }
  const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
  const client = new Client(INFO, { capabilities, versionNegotiation: { mode } as never });
  await client.connect(new StreamableHTTPClientTransport(url, options));
  return client as unknown as Seen;
}

const withPage = async (client: Seen): Promise<string[]> => {
  const { tools } = await client.listTools() as Json;
  return tools.filter(({ _meta }: Json) => _meta?.ui?.resourceUri === URI)
    .map(({ name }: Json) => name);
};

for (const revision of ["2025-11-25", "2026-07-28", "earlier"]) {
  Deno.test(`a host that shows pages is told of the card, others are not: ${revision}`, async () => {
    verifies("12-39", "12-40", "11-23", "11-25");
    await using test = await startSidecarTest();
    await test.svc.remember("I like tea");
    const keys = [test.svc.key, await test.svc.addKey(["read", "write", "manage"])];
    const call = { name: "svc_recall", arguments: { query: "tea" } };
    const results = [];
    for (const [i, key] of keys.entries()) {
      const client = await connect(test.base, test.headers(key), { revision, capabilities: APPS });
      assert.deepEqual(await withPage(client), ["svc_recall", "svc_list"]);
      const { resources } = await client.listResources();
      assert.deepEqual(resources.map(({ uri, mimeType }) => [uri, mimeType]), [
        [URI, "text/html;profile=mcp-app"],
      ]);
      const { contents: [page] } = await client.readResource({ uri: URI });
      assert.match(page.text, /^<!doctype html>/);
      assert.deepEqual(page._meta.ui, { prefersBorder: true }, "no domain is allowed");
      await assert.rejects(client.readResource({ uri: "ui://svc/other" }));
      const result = await client.callTool(call);
      assert.equal(result._meta["svc/may-manage"], i === 1);
      results.push(result);
      await client.close();
    }
    for (const capabilities of [{}, { extensions: { "io.modelcontextprotocol/ui": {} } }]) {
      const client = await connect(test.base, test.headers(), { revision, capabilities });
      assert.deepEqual(await withPage(client), []);
      await assert.rejects(
        client.readResource({ uri: URI }),
        /-32601|Method not found|not support/,
      );
      const { content, structuredContent, _meta } = await client.callTool(call);
      assert.equal(_meta?.["svc/may-manage"], undefined);
      const theirs = { content, structuredContent };
      const [{ content: text, structuredContent: data }] = results as [Json];
      assert.deepEqual(theirs, { content: text, structuredContent: data });
      await client.close();
    }
    const headers = test.headers();
    const query = "?tools=search";
    const research = await connect(test.base, headers, { revision, capabilities: APPS, query });
    assert.deepEqual(await withPage(research), []);
    await research.close();
  });
}
