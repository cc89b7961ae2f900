import assert from "node:assert/strict";
import { startRelayer } from "./relayer_fixture.ts";

Deno.test("a relayer in process remembers and recalls", async () => {
  await using svc = await startRelayer();
  await svc.remember("I like green tea");
  assert.deepEqual(await svc.recall("green tea"), ["I like green tea"]);
  const { status } = await svc.get("/api/account", { form: 4 });
  assert.equal(status, 200);
});

Deno.test("a server is handed what answers requests, as it is", async () => {
  await using svc = await startRelayer();
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const { relayer } = svc;
  for (const [handler, status] of [[relayer.fetch, 200], [relayer.fetchInternal, 404]] as const) {
    await using server = Deno.serve(options, handler);
    const response = await fetch(`http://127.0.0.1:${server.addr.port}/version`);
    assert.equal(response.status, status);
    await response.body?.cancel();
  }
});
