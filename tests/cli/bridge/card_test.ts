import assert from "node:assert/strict";
import type { Json } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { FakeRelayer } from "./fake_relayer.ts";
import type { HostPeer } from "./host_peer.ts";
import { newCredentials, startBridge } from "./setup.ts";

const CAPABILITIES = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" },
};
const URI = "ui://svc/review";
const RESULT = {
  content: [{ type: "text", text: "" }],
  structuredContent: { results: [], total: 0 },
};

async function started(host: HostPeer, era: string, capabilities: Json) {
  if (era === "session") {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities,
      clientInfo: { name: "host", version: "1" },
    };
    const { result } = await host.request("initialize", params);
    await host.notify("notifications/initialized");
    return {
      offered: result.capabilities,
      ask: (method: string, params: Json = {}) => host.request(method, params),
    };
  }
  const _meta = { ...META, "io.modelcontextprotocol/clientCapabilities": capabilities };
  const ask = (method: string, params: Json = {}) => host.request(method, { ...params, _meta });
  const { result } = await ask("server/discover");
  return { offered: result.capabilities, ask };
}

for (const era of ["session", "sessionless"]) {
  Deno.test(`a host that shows pages gets the card of the package: ${era}`, async () => {
    verifies("12-39", "12-40");
    await using relayer = new FakeRelayer({ onRequest: () => RESULT });
    const credentials = await newCredentials(relayer.url);
    for (const capabilities of [CAPABILITIES, {}]) {
      const hasCard = capabilities === CAPABILITIES;
      await using bridge = await startBridge({ credentials });
      const { offered, ask } = await started(bridge.host, era, capabilities);
      assert.equal("resources" in offered, hasCard);
      const { result: { tools } } = await ask("tools/list");
      const named = tools.filter(({ _meta }: Json) => _meta?.ui?.resourceUri === URI);
      assert.deepEqual(
        named.map(({ name }: Json) => name),
        hasCard ? ["svc_recall", "svc_list"] : [],
      );
      const call = { name: "svc_recall", arguments: { query: "tea" } };
      const { result } = await ask("tools/call", call);
      assert.equal(result._meta?.["svc/may-manage"], hasCard ? false : undefined);
      const read = await ask("resources/read", { uri: URI });
      if (!hasCard) continue;
      assert.equal(read.result.contents[0].mimeType, "text/html;profile=mcp-app");
      const { result: { resources } } = await ask("resources/list");
      assert.deepEqual(resources.map(({ uri }: Json) => uri), [URI]);
      assert.equal((await ask("resources/read", { uri: "ui://x/y" })).error.code, -32602);
    }
  });
}
