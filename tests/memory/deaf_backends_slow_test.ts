import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { within } from "../within.ts";
import { intercepted } from "./intercepted.ts";

/** A call that never ends, whatever its signal says. */
function deaf() {
  const called = Promise.withResolvers<void>();
  const call = () => {
    called.resolve();
    return new Promise<never>(() => {});
  };
  return { called: called.promise, call };
}

Deno.test("a load that does not hear the stop does not hold it up", async () => {
  const { called, call } = deaf();
  const vectorStore = intercepted(memoryVectorStore(), { scan: call });
  const svc = await startRelayer({ backends: { vectorStore } });
  void svc.post("/api/recall", { query: "tea" });
  await called;
  await within(svc[Symbol.asyncDispose](), () => "the relayer does not stop");
});

Deno.test("embedding anew that does not hear the stop does not hold it up", async () => {
  const { called, call } = deaf();
  const sound = memoryVectorStore();
  const owner = `0x${"11".repeat(32)}`;
  const vectorStore = {
    ...sound,
    scan: call,
    outdated: () => Promise.resolve([{ owner, namespace: "default", count: 1 }]),
  };
  const svc = await startRelayer({ backends: { vectorStore } });
  await called;
  await within(svc[Symbol.asyncDispose](), () => "the relayer does not stop");
});

Deno.test("a tombstone that does not hear the stop does not hold it up", async () => {
  const { called, call } = deaf();
  const { erases: _, ...sound } = memoryBlobStore();
  const blobStore = intercepted(sound, {
    put: (next, bytes, options) =>
      options.idempotencyKey.startsWith("tombstone:") ? call() : next(bytes, options),
  });
  const svc = await startRelayer({ backends: { blobStore } });
  const id = await svc.remember("tea");
  await svc.send("DELETE", `/api/memories/${id}`);
  await called;
  await within(svc[Symbol.asyncDispose](), () => "the relayer does not stop");
});
