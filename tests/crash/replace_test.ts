import assert from "node:assert/strict";
import { Installation } from "./installation.ts";
import { IS_ON_POSTGRES, notOnPostgres } from "../test_store.ts";
import { textOf } from "./texts.ts";
import { call, idle, listAll, type Parts, takenUp } from "./wire.ts";

/** Where a correction is cut off; small records lie in the row, large ones in their blob. */
const CASES: Readonly<Record<string, readonly (readonly [point: string, size: number])[]>> = {
  local: [
    ["stage", 60],
    ["accept", 40_000],
    ["embed", 60],
    ["seal", 40_000],
    ["history", 60],
    ["history", 40_000],
    ["index", 60],
    ["index", 40_000],
    ["blob", 40_000],
    ["done", 60],
  ],
  lancedb: [["history", 40_000], ["index", 60], ["blob", 40_000]],
};
// Each waits for the lease of the relayer that was killed: one of each kind of writing.
const ON_POSTGRES: typeof CASES = {
  postgres: [["accept", 40_000], ["history", 60], ["index", 40_000], ["blob", 40_000]],
  lancedb: [],
};

for (const [store, cases] of Object.entries(IS_ON_POSTGRES ? ON_POSTGRES : CASES)) {
  const name = `a correction that is cut off anywhere is made once: ${store}`;
  const isAlone = store === "lancedb";
  Deno.test(...notOnPostgres(name, "LanceDB is one relayer's alone", isAlone), async () => {
    const env = { SVC_EMBEDDER: "memory", SVC_VECTOR_STORE: store };
    await using installation = await Installation.create(env);
    const identity = await installation.account();
    for (const [point, size] of cases) {
      const namespace = `${point}-${size}`;
      const [first, second] = [textOf(size), textOf(size)];
      let parts: Parts = { route: "POST /api/remember", body: { text: first, namespace } };
      let id = "";
      {
        await using relayer = await installation.start();
        id = String((await call(relayer.url, identity, parts)).body.memory_id);
        await idle(relayer.url);
      }
      parts = {
        route: `PUT /api/memories/${id}`,
        body: { text: second },
        idempotencyKey: `once-${point}-${size}`,
      };
      {
        await using relayer = await installation.start({ SVC_TEST: "1", SVC_FAILPOINT: point });
        await call(relayer.url, identity, parts).catch(() => undefined);
        assert.equal((await relayer.child.ended()).signal, "SIGKILL", namespace);
      }
      await using relayer = await installation.start();
      const get = async (route: string) =>
        (await call(relayer.url, identity, { route: `GET ${route}` })).body;
      await takenUp(relayer.url, identity);
      const wasAccepted = point !== "stage";
      const [before] = await listAll(relayer.url, identity, namespace);
      assert.equal(before?.text, wasAccepted ? second : first, namespace);
      const again = await call(relayer.url, identity, parts);
      assert.equal(again.status, 202);
      assert.equal(again.headers.get("idempotency-replayed") === "true", wasAccepted);
      await idle(relayer.url);
      assert.equal((await listAll(relayer.url, identity, namespace)).length, 1, namespace);
      const { text, versions: known } = await get(`/api/memories/${id}`);
      assert.equal(text, second);
      assert.deepEqual([known.length, known.at(-1)?.version], [2, 1], namespace);
      assert.ok(known.every(({ blob_id }) => blob_id !== ""), JSON.stringify(known));
      assert.equal((await get(`/api/memories/${id}?version=1`)).text, first);
      const restore = { route: "POST /api/restore", body: { namespace } };
      const { body: counts } = await call(relayer.url, identity, restore);
      assert.deepEqual([counts.restored, counts.failed, counts.total], [0, 0, 2], namespace);
    }
  });
}
