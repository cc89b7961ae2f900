import assert from "node:assert/strict";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { intercepted } from "./intercepted.ts";

for (const answer of [undefined, "", 5, "a b", "x".repeat(129)]) {
  Deno.test(`a memory is kept while its store names its blob ${Deno.inspect(answer)}`, async () => {
    let sound = false;
    const blobStore = intercepted(memoryBlobStore(), {
      put: async (next, ...args) => {
        const blobId = await next(...args);
        return sound ? blobId : answer as string;
      },
    });
    await using svc = await startRelayer({
      config: { jobMaxAttempts: 1 },
      backends: { blobStore },
    });
    const text = "tea ".repeat(10_000);
    const id = await svc.remember(text);
    const { body } = await svc.get(`/api/remember/${id}`);
    assert.deepEqual([body.status, body.error_code], ["failed", "storage_failed"]);
    assert.equal((await svc.get(`/api/memories/${id}`)).body.text, text);
    sound = true;
    await svc.post(`/api/remember/${id}/retry`, {});
    await svc.relayer.idle();
    assert.equal((await svc.get(`/api/remember/${id}`)).body.status, "done");
    assert.equal((await svc.get(`/api/memories/${id}`)).body.text, text);
  });
}
