import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { call, idle } from "../crash/wire.ts";
import { poll } from "../within.ts";

for (const store of ["local", "lancedb"]) {
  Deno.test(`with the program's permissions alone everything is erased: ${store}`, async () => {
    const env = { SVC_EMBEDDER: "memory", SVC_VECTOR_STORE: store };
    await using installation = await Installation.create(env);
    const identity = await installation.account();
    await using relayer = await installation.start();
    const body = { text: "I am allergic to peanuts" };
    const remembered = await call(relayer.url, identity, { route: "POST /api/remember", body });
    const id = remembered.body.memory_id;
    await idle(relayer.url);
    await call(relayer.url, identity, { route: `DELETE /api/memories/${id}` });
    const asking = { route: "POST /api/receipts", body: { memory_ids: [id] } };
    const receipt = await poll(
      async () => (await call(relayer.url, identity, asking)).body.receipt,
      ({ statement }) => JSON.parse(statement).erased,
    );
    assert.deepEqual(JSON.parse(receipt.statement).survives, []);
  });
}
