import assert from "node:assert/strict";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { memoryCipher } from "../../plugins/memory/cipher.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import type { IndexEntry } from "../../src/interfaces/mod.ts";
import type { Step } from "../../src/memory/waiting/job_contents.ts";
import { type Opening, openMemories } from "../../src/memory/open.ts";
import { encodeBlob, encodeRecord } from "../../src/memory/record.ts";

const ID = "0198c1f0-0000-7000-8000-000000000001";
const SCOPE = { owner: `0x${"0a".repeat(32)}`, namespace: "default" };
const ACCOUNT = { accountId: `0x${"0b".repeat(32)}`, owner: SCOPE.owner, active: true, keys: [] };

/** A memory whose job may have ended, and what the operation sees of it. */
async function setup() {
  const cipher = memoryCipher();
  const blobStore = memoryBlobStore();
  const vectorStore = memoryVectorStore();
  const sealed = await cipher.seal(
    encodeRecord({
      v: 1,
      id: ID,
      version: 1,
      text: "the text",
      created_at: "2026-01-01T00:00:00.000Z",
      updated_at: "2026-01-01T00:00:00.000Z",
      importance: 0.5,
      source: "remember",
    }),
    { ...SCOPE, accountId: ACCOUNT.accountId, memoryId: ID },
  );
  const vectors = [Float32Array.of(1, 0)];
  const entry: IndexEntry = {
    ...SCOPE,
    id: ID,
    version: 1,
    vectors,
    payload: new Uint8Array(),
    keyId: sealed.keyId,
    createdAt: 1,
    updatedAt: 1,
    importance: 0.5,
    source: "remember",
    bytes: 1,
  };
  const job = { step: undefined as Step | undefined, deleted: false };
  const domain: Opening = {
    cipher,
    blobStore,
    vectorStore,
    contents: { step: () => Promise.resolve(job.step) },
    jobs: { liveVersion: () => undefined },
    versions: { jobOf: (_scope, id) => id },
    tombstones: { isDeleted: () => job.deleted },
  };
  return {
    entry,
    job,
    step: { vectors, model: "m", sealed },
    store: vectorStore,
    putBlob: () =>
      blobStore.put(encodeBlob({ memoryId: ID, ...sealed }), { ...SCOPE, idempotencyKey: ID }),
    open: () => openMemories(domain, { account: ACCOUNT }, SCOPE, [entry]),
  };
}

Deno.test("a record is read from its job while that is unfinished", async () => {
  const { job, step, open } = await setup();
  job.step = step;
  const [opened] = await open();
  assert.equal(opened !== undefined && "record" in opened && opened.record.text, "the text");
});

Deno.test("a job that ended since the index was read has moved its record to the blob", async () => {
  const { entry, store, putBlob, open } = await setup();
  await store.upsert([{ ...entry, blobId: await putBlob() }]);
  const [opened] = await open();
  assert.equal(opened !== undefined && "record" in opened && opened.record.text, "the text");
});

Deno.test("a memory that was deleted since the index was read is no error", async () => {
  const { entry, store, job, open } = await setup();
  assert.deepEqual(await open(), [{ deleted: true }]);
  await store.upsert([entry]);
  job.deleted = true;
  assert.deepEqual(await open(), [{ deleted: true }]);
});

Deno.test("a record that is nowhere is a temporary error", async () => {
  const { entry, store, open } = await setup();
  await store.upsert([{ ...entry, blobId: "gone" }]);
  const [opened] = await open();
  assert.ok(opened !== undefined && "error" in opened);
  assert.equal(opened.error.code, "storage_unavailable");
  assert.equal(opened.error.retryable, true);
});

Deno.test("another memory's blob does not pass for this one's", async () => {
  const { entry, store, putBlob, open } = await setup();
  const other = "0198c1f0-0000-7000-8000-000000000002";
  await store.upsert([{ ...entry, id: other, blobId: await putBlob() }]);
  (entry as { id: string }).id = other;
  const [opened] = await open();
  assert.equal(opened !== undefined && "error" in opened, true);
});
