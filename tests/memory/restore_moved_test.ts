import assert from "node:assert/strict";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import type { BlobStore } from "../../src/interfaces/mod.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { intercepted } from "./intercepted.ts";
import { PublicBlobs } from "./retaining_store.ts";

/** Too large to lie in the index: read from the store. */
const TEXT = "green tea ".repeat(4_000);

/** A relayer of the first one's accounts and keys, on a store of its own. */
function elsewhere(first: TestRelayer, blobStore: BlobStore): Promise<TestRelayer> {
  const { accounts, cipher } = first.backends;
  return startRelayer({
    backends: { accounts, cipher, blobStore, vectorStore: memoryVectorStore() },
    existing: { key: first.key, account: first.account },
  });
}

async function restore(svc: TestRelayer): Promise<number[]> {
  const { body } = await svc.post("/api/restore", { namespace: "default" });
  return [body.restored, body.skipped, body.failed, body.total];
}

Deno.test("a memory whose blob moved unheard of is read again after a restore", async () => {
  await using blobs = new PublicBlobs();
  const { watchMoves: _, ...store } = blobs.open();
  await using svc = await startRelayer({ backends: { blobStore: store } });
  const id = await svc.remember(TEXT);
  const scope = { owner: svc.owner, namespace: "default" };
  const before = (await svc.get(`/api/memories/${id}`)).body;
  // By another relayer, until nothing has the earlier id any more.
  await store.move(scope, before.blob_id, "moved-1");
  await store.delete!(before.blob_id, scope);
  assert.equal((await svc.get(`/api/memories/${id}`)).status, 503);
  assert.deepEqual(await restore(svc), [0, 1, 0, 1]);
  const after = (await svc.get(`/api/memories/${id}`)).body;
  assert.deepEqual([after.blob_id, after.text === TEXT], ["moved-1", true]);
});

Deno.test("a blob that moves while its memory is restored is linked under its new id", async () => {
  await using blobs = new PublicBlobs();
  await using first = await startRelayer({ backends: { blobStore: blobs.open() } });
  const id = await first.remember(TEXT);
  const scope = { owner: first.owner, namespace: "default" };
  const store = blobs.open();
  const moving = intercepted(store, {
    async get(next, blobId, ...rest) {
      const bytes = await next(blobId, ...rest);
      if (blobId !== "moved-1") await store.move(scope, blobId, "moved-1");
      return bytes;
    },
  });
  await using second = await elsewhere(first, moving);
  assert.deepEqual(await restore(second), [1, 0, 0, 1]);
  const { blob_id, text } = (await second.get(`/api/memories/${id}`)).body;
  assert.deepEqual([blob_id, text === TEXT], ["moved-1", true]);
  assert.deepEqual(await restore(second), [0, 1, 0, 1]);
});
