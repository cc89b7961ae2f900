import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { verifies } from "../requirements.ts";
import { startOAuth } from "./fixture.ts";

Deno.test("an app that was let in may ask for the tools of research alone", async () => {
  verifies("12-34", "11.1-1");
  await using test = await startOAuth();
  const address = new URL(`${test.resource}?tools=search`);
  const refused = await fetch(address, { method: "POST", body: "{}" });
  await refused.body?.cancel();
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get("www-authenticate") ?? "";
  const metadata = `${test.base}/.well-known/oauth-protected-resource/api/mcp/connect`;
  assert.ok(challenge.includes(`resource_metadata="${metadata}"`), challenge);

  const { access_token } = await test.connect();
  const headers = { authorization: `Bearer ${access_token}` };
  // Without the stream of a session, which might still be opened when the client is closed.
  const withoutStream: typeof fetch = (input, init) =>
    init?.method === "GET"
      ? Promise.resolve(new Response(null, { status: 405 }))
      : fetch(input, init);
  for (const mode of ["legacy", { pin: "2026-07-28" }] as const) {
    const client = new Client({ name: "research", version: "1" }, { versionNegotiation: { mode } });
    const options = { requestInit: { headers }, fetch: withoutStream };
    await client.connect(new StreamableHTTPClientTransport(address, options));
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ["search", "fetch"]);
    const found = await client.callTool({ name: "search", arguments: { query: "tea" } });
    assert.deepEqual(found.structuredContent, { results: [] });
    await client.close();
  }
});
