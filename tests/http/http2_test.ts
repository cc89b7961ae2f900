import assert from "node:assert/strict";
import { read, startRelayer } from "../relayer_fixture.ts";

Deno.test("over HTTP/2 the relayer knows how it was addressed", async () => {
  await using svc = await startRelayer();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request, info) => svc.relayer.fetch(request, info),
  );
  const base = `http://127.0.0.1:${server.addr.port}`;
  svc.relayer.listensAt(base);
  using client = Deno.createHttpClient({ http1: false, http2: true });
  const { body } = await read(await fetch(`${base}/config`, { client }));
  assert.equal(body.suiRpcUrl, `${base}/compat/sui`);
  assert.equal(body.mcpUrl, `${base}/api/mcp`);
  const ask = async () =>
    await read(
      await fetch(`${base}/accounts/challenge`, {
        client,
        method: "POST",
        headers: { "content-type": "application/json", origin: "http://localhost:5173" },
        body: JSON.stringify({ address: `0x${"1".repeat(64)}`, action: "open", params: {} }),
      }),
    );
  const challenge = await ask();
  assert.equal(challenge.status, 200);
  assert.match(challenge.body.challenge, new RegExp(`relayer: ${base}\n`));
  // The name is in the address here, not in a header.
  svc.relayer.listensAt("http://127.0.0.1:1");
  const { status, body: refused } = await ask();
  assert.deepEqual([status, refused.code], [403, "host_not_allowed"]);
});
