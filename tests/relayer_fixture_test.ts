import assert from "node:assert/strict";
import { startRelayer } from "./relayer_fixture.ts";

Deno.test("a relayer in process remembers and recalls", async () => {
  await using svc = await startRelayer();
  await svc.remember("I like green tea");
  assert.deepEqual(await svc.recall("green tea"), ["I like green tea"]);
  const { status } = await svc.get("/api/account", { form: 4 });
  assert.equal(status, 200);
});
