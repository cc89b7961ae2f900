import assert from "node:assert/strict";
import { verifyReceipt } from "../../src/client/mod.ts";
import { SvcError } from "../../src/errors.ts";
import type { BlobStore } from "../../src/interfaces/mod.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";
import { DurableRelayer } from "./durable.ts";
import { intercepted } from "./intercepted.ts";

/** What becomes of the answers to puts. */
interface Answers {
  /** Whether they are lost, or never come; what was put is there. */
  are: "lost" | "late" | "sound";
  /** Lets the late ones come. */
  readonly come: PromiseWithResolvers<void>;
  store: BlobStore | undefined;
  /** Told of each job whose blob is there. */
  readonly stored: PromiseWithResolvers<string>;
}

async function setup() {
  const answers: Answers = {
    are: "sound",
    come: Promise.withResolvers(),
    store: undefined,
    stored: Promise.withResolvers(),
  };
  const durable = await DurableRelayer.start({
    config: { jobMaxAttempts: 1 },
    wrap: {
      blobStore: (store) => {
        answers.store = store;
        return intercepted(store, {
          put: async (next, ...args) => {
            const blobId = await next(...args);
            answers.stored.resolve(args[1].idempotencyKey);
            if (answers.are === "lost") throw new SvcError("storage_unavailable");
            if (answers.are === "late") await answers.come.promise;
            return blobId;
          },
        });
      },
    },
  });
  return { durable, answers };
}

type Relayer = Awaited<ReturnType<typeof setup>>;

/** How many blobs the store has. */
async function blobs({ durable, answers }: Relayer): Promise<number> {
  const scope = { owner: durable.svc.owner, namespace: "default" };
  return (await Array.fromAsync(answers.store!.list(scope))).length;
}

/** What a receipt of now says. */
async function saidOf({ durable: { svc } }: Relayer, id: string) {
  const { body } = await svc.post("/api/receipts", { memory_ids: [id] });
  return verifyReceipt(body.receipt);
}

/** Deletes a memory whose blob cannot be named now: nobody may say that it is erased. */
async function deleteUnnamed(relayer: Relayer, id: string) {
  const { body } = await relayer.durable.svc.send("DELETE", `/api/memories/${id}`);
  assert.deepEqual([body.blob, body.erased], ["retained", false]);
  const { survives } = await saidOf(relayer, id);
  assert.deepEqual(survives, [{ what: "files", memory_ids: [id] }]);
  assert.equal(await blobs(relayer), 1);
}

async function seeErased(relayer: Relayer, id: string): Promise<void> {
  await poll(() => saidOf(relayer, id), ({ erased }) => erased);
  assert.equal(await blobs(relayer), 0);
  const { body } = await relayer.durable.svc.post("/api/recall", { query: "tea" });
  assert.deepEqual(body.results, []);
}

/** Stores a memory as far as its blob; answers its id. */
async function store(relayer: Relayer, kind: "text" | "manual"): Promise<string> {
  const { svc } = relayer.durable;
  const bytes = new TextEncoder().encode("sealed by the client");
  const vector = Array.from({ length: 256 }, (_, i) => i === 0 ? 1 : 0);
  const answered = kind === "text"
    ? svc.post("/api/remember", { text: "tea" })
    : svc.post("/api/remember/manual", { encrypted_data: bytes.toBase64(), vector });
  answered.catch(() => {});
  return await relayer.answers.stored.promise;
}

for (const kind of ["text", "manual"] as const) {
  Deno.test(`the blob of a given-up job is found after its deletion: ${kind}`, async () => {
    verifies("10.14-2", "10.14-6");
    const relayer = await setup();
    const { answers, durable } = relayer;
    await using _durable = durable;
    answers.are = "lost";
    const id = await store(relayer, kind);
    await durable.svc.relayer.idle();
    await deleteUnnamed(relayer, id);
    const retry = await durable.svc.post(`/api/remember/${id}/retry`, {});
    assert.equal(retry.body.code, "job_not_retryable");
    await durable.restart();
    assert.equal((await saidOf(relayer, id)).erased, false, "the store still loses its answers");
    answers.are = "sound";
    await durable.restart();
    await seeErased(relayer, id);
  });

  Deno.test(`a blob is found that a cut left behind a deletion: ${kind}`, async () => {
    verifies("10.14-2", "10.14-6");
    const relayer = await setup();
    const { answers, durable } = relayer;
    await using _durable = durable;
    answers.are = "late";
    const id = await store(relayer, kind);
    await deleteUnnamed(relayer, id);
    answers.are = "sound";
    await durable.cutPower();
    await seeErased(relayer, id);
    answers.come.resolve();
  });
}

Deno.test("a blob whose name comes late goes with its memory", async () => {
  verifies("10.14-2", "10.14-6");
  const relayer = await setup();
  const { answers, durable } = relayer;
  await using _durable = durable;
  answers.are = "late";
  const id = await store(relayer, "text");
  await deleteUnnamed(relayer, id);
  answers.are = "sound";
  answers.come.resolve();
  await seeErased(relayer, id);
});
