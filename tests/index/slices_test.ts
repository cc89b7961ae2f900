import assert from "node:assert/strict";
import { Slices } from "../../src/index/scope_loading.ts";

Deno.test("work is interrupted once its slice is used up, and requests are served then", async () => {
  let now = 0;
  const slices = new Slices(() => now);
  using server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let served = 0;
  const serving = (async () => {
    using accepted = await server.accept();
    await accepted.read(new Uint8Array(1));
    served = now;
  })();
  using client = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
  await client.write(Uint8Array.of(1));
  for (; served === 0 && now < 10_000; now++) await slices.rest();
  assert.ok(served >= 3 && served < 10_000, `after ${served} ms of work`);
  await serving;
});

Deno.test("work that is short is not interrupted", async () => {
  const slices = new Slices(() => 0);
  let turned = false;
  const timer = setTimeout(() => turned = true);
  for (let i = 0; i < 1000; i++) await slices.rest();
  assert.equal(turned, false);
  clearTimeout(timer);
});
