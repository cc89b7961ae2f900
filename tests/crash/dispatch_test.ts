import assert from "node:assert/strict";
import { Installation } from "./installation.ts";
import { textOf } from "./texts.ts";
import { notOnPostgres } from "../test_store.ts";
import { call, type Identity, idle, listAll } from "./wire.ts";

async function remember(url: string, identity: Identity, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = { text: textOf(60) };
    const answer = await call(url, identity, { route: "POST /api/remember", body });
    assert.equal(answer.status, 202, answer.body.code);
    ids.push(answer.body.memory_id);
  }
  return ids;
}

for (const dispatch of ["queue", "sweeper"]) {
  const name = `the ${dispatch} alone finishes every job`;
  const isOfKv = dispatch === "queue";
  Deno.test(...notOnPostgres(name, "the queue is Deno KV's", isOfKv), async () => {
    await using installation = await Installation.create({
      SVC_EMBEDDER: "memory",
      SVC_TEST: "1",
      SVC_TEST_DISPATCH: dispatch,
    });
    const identity = await installation.account();
    const ids: string[] = [];
    {
      await using relayer = await installation.start();
      // Jobs that come one by one, each after the one before was done, and jobs that come at once.
      for (let n = 0; n < 8; n++) {
        ids.push(...await remember(relayer.url, identity, 1 + n * 3));
        if (n % 2 === 0) await idle(relayer.url);
      }
      await idle(relayer.url);
      ids.push(...await remember(relayer.url, identity, 30));
      await relayer.crash();
    }
    await using relayer = await installation.start();
    await idle(relayer.url);
    ids.push(...await remember(relayer.url, identity, 5));
    await idle(relayer.url);
    const memories = await listAll(relayer.url, identity, "default");
    assert.deepEqual(memories.map((memory) => memory.memory_id).sort(), ids.sort());
    assert.ok(memories.every(({ status }) => status === "done"));
  });
}
