import assert from "node:assert/strict";
import { memoryCipher } from "../../plugins/memory/cipher.ts";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { SvcError } from "../../src/errors.ts";
import type { Cipher } from "../../src/interfaces/mod.ts";
import { type Json, startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { intercepted } from "./intercepted.ts";

/** A cipher that refuses the records of some memories. */
function refusing(errors: Map<string, SvcError>): Cipher {
  return intercepted(memoryCipher(), {
    open: async (next, items, context) => {
      const opened = await next(items, context);
      return opened.map((result, i) => {
        const reason = errors.get(items[i]?.memoryId ?? "");
        return reason === undefined ? result : { status: "rejected", reason };
      });
    },
  });
}

Deno.test("hits that cannot be opened are left out, counted, and kept in the index", async () => {
  verifies("10.6-30", "10.6-31");
  const errors = new Map<string, SvcError>();
  await using svc = await startRelayer({ backends: { cipher: refusing(errors) } });
  const ids = [await svc.remember("tea one"), await svc.remember("tea two")];
  errors.set(ids[0]!, new SvcError("storage_unavailable", undefined, { retryable: false }));
  const { body } = await svc.post("/api/recall", { query: "tea" });
  assert.equal(body.dropped_count, 1);
  assert.deepEqual(body.results.map((hit: { memory_id: string }) => hit.memory_id), [ids[1]]);
  assert.equal(body.total, 1);
  const list = (await svc.get("/api/memories")).body;
  assert.equal(list.total, 2);
  const reasons = list.memories.map((item: Json) => [item.text, item.text_error]);
  assert.deepEqual(reasons, [["tea two", undefined], [undefined, "storage_unavailable"]]);
  const bare = (await svc.get("/api/memories?text=false")).body;
  assert.ok(bare.memories.every((item: Json) => !("text" in item || "text_error" in item)));
  assert.equal((await svc.get(`/api/memories/${ids[0]}`)).status, 503);
  errors.clear();
  const again = await svc.post("/api/recall", { query: "tea" });
  assert.equal(again.body.total, 2);
  assert.equal(again.body.dropped_count, undefined);
});

Deno.test("when every hit is dropped for a temporary reason the answer is 503", async () => {
  verifies("10.6-32");
  const errors = new Map<string, SvcError>();
  await using svc = await startRelayer({ backends: { cipher: refusing(errors) } });
  const ids = [await svc.remember("tea one"), await svc.remember("tea two")];
  for (const id of ids) errors.set(id, new SvcError("key_service_unavailable"));
  const down = await svc.post("/api/recall", { query: "tea" });
  assert.equal(down.status, 503);
  assert.equal(down.body.code, "key_service_unavailable");
  // One that will never open: the answer is what there is.
  errors.set(ids[0]!, new SvcError("storage_unavailable", undefined, { retryable: false }));
  const mixed = await svc.post("/api/recall", { query: "tea" });
  assert.equal(mixed.status, 200);
  assert.equal(mixed.body.dropped_count, 2);
  assert.equal(mixed.body.message, "No matching memories found");
  errors.delete(ids[0]!);
  const some = await svc.post("/api/recall", { query: "tea" });
  assert.equal(some.body.total, 1);
  assert.equal(some.body.dropped_count, 1);
});

Deno.test("a blob store that is down drops large texts only", async () => {
  verifies("10.6-30", "10.6-32");
  let down = false;
  const blobStore = intercepted(memoryBlobStore(), {
    get: (next, ...args) =>
      down ? Promise.reject(new SvcError("storage_unavailable")) : next(...args),
  });
  await using svc = await startRelayer({ backends: { blobStore } });
  await svc.remember("large ".repeat(5_000));
  await svc.remember("tea", { namespace: "small" });
  down = true;
  const large = await svc.post("/api/recall", { query: "large" });
  assert.equal(large.status, 503);
  assert.equal(large.body.code, "storage_unavailable");
  assert.deepEqual(await svc.recall("tea", { namespace: "small" }), ["tea"]);
  down = false;
  assert.equal((await svc.recall("large")).length, 1);
});

Deno.test("a caller's unusable credential is the caller's error", async () => {
  const errors = new Map<string, SvcError>();
  const cipher = new Proxy(refusing(errors), {
    get: (target, name) => name === "needsCredential" ? true : Reflect.get(target, name),
  });
  await using svc = await startRelayer({ backends: { cipher } });
  const id = await svc.remember("tea");
  const headers = { "x-delegate-key": "ab".repeat(32) };
  const paths = ["/api/recall", "/api/restore"];
  const body = { query: "tea", namespace: "default" };
  for (const path of paths) {
    const missing = await svc.post(path, body);
    assert.equal(missing.body.code, "decrypt_credential_required");
    assert.equal((await svc.post(path, body, { headers })).status, 200);
  }
  assert.equal((await svc.get("/api/memories?text=false")).status, 200);
  const list = await svc.get("/api/memories");
  assert.equal(list.body.code, "decrypt_credential_required");
  errors.set(id, new SvcError("decrypt_credential_invalid"));
  for (const get of [`/api/memories/${id}`, "/api/memories"]) {
    const refused = await svc.get(get, { headers });
    assert.equal(refused.body.code, "decrypt_credential_invalid");
  }
  const refused = await svc.post("/api/recall", body, { headers });
  assert.equal(refused.status, 400);
});

Deno.test("vectors that an embedder made up never reach the index", async () => {
  const bad = [[Float32Array.of(NaN, 1)], [new Float32Array(256)], [], [new Float32Array(3)]];
  for (const vectors of bad) {
    await using svc = await startRelayer({ config: { jobMaxAttempts: 1 } });
    await svc.remember("tea");
    const { embedder } = svc.backends;
    const embed = embedder.embed;
    embedder.embed = () => Promise.resolve([vectors]);
    const id = await svc.remember("bad");
    assert.equal((await svc.post("/api/recall", { query: "new query" })).status, 503);
    embedder.embed = embed;
    assert.equal((await svc.get(`/api/remember/${id}`)).body.error_code, "embedding_failed");
    assert.deepEqual(await svc.recall("tea"), ["tea"]);
  }
});
