import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { receiptOf, verifyReceipt } from "../../src/client/mod.ts";
import { type Json, startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";
import { assertError } from "../http/case.ts";
import { DurableRelayer } from "./durable.ts";
import { PublicBlobs } from "./retaining_store.ts";

/** When the blob store forgets. */
const END = Date.now() + 600_000;
const invalid = { code: "signature_invalid" };

Deno.test("a receipt says what was deleted and is checked without the relayer", async () => {
  verifies("10.14-3", "10.14-5", "10.10-13");
  await using svc = await startRelayer();
  const id = await svc.remember("tea", { namespace: "drinks" });
  const { receipt, erased } = (await svc.send("DELETE", `/api/memories/${id}`)).body;
  const { public_key } = (await svc.plain("GET", "/.well-known/svc-receipt-key")).body;
  const said = verifyReceipt(receipt, public_key);
  const { deleted_at, issued_at, ...rest } = said;
  assert.deepEqual(rest, {
    v: 1,
    type: "svc-deletion",
    owner: svc.owner,
    namespace: "drinks",
    memory_ids: [id],
    erased: true,
    survives: [],
  });
  assert.equal(erased, true);
  assert.ok(deleted_at <= issued_at);
  assert.ok(!JSON.stringify(receipt).includes("tea"));
  const again = (await svc.post("/api/receipts", { namespace: "drinks", memory_ids: [id] })).body;
  assert.deepEqual(verifyReceipt(again.receipt).memory_ids, [id]);
});

Deno.test("whatever is altered in a receipt is noticed", async () => {
  verifies("10.14-3");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const { receipt } = (await svc.send("DELETE", `/api/memories/${id}`)).body;
  for (let at = 0; at < receipt.statement.length; at += 7) {
    const char = receipt.statement[at] === "a" ? "b" : "a";
    const statement = receipt.statement.slice(0, at) + char + receipt.statement.slice(at + 1);
    assert.throws(() => verifyReceipt({ ...receipt, statement }), invalid, `${at}`);
  }
  const flipped = receipt.signature.replace(/^./, (c: string) => c === "0" ? "1" : "0");
  assert.throws(() => verifyReceipt({ ...receipt, signature: flipped }), invalid);
  assert.throws(() => verifyReceipt(receipt, "00".repeat(32)), invalid);
  await using other = await startRelayer();
  const { public_key } = (await other.plain("GET", "/.well-known/svc-receipt-key")).body;
  assert.throws(() => verifyReceipt({ ...receipt, public_key }), invalid);
  for (const none of [null, 1, "x", [], {}, { ...receipt, statement: 1 }]) {
    assert.throws(() => receiptOf(none), { code: "invalid_parameter" });
  }
});

Deno.test("receipts are for the owner's own deletions", async () => {
  verifies("10.14-5");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const ask = (body: Json, options = {}) => svc.post("/api/receipts", body, options);
  assertError(await ask({ memory_ids: [id] }), [404, "memory_not_found"]);
  await svc.send("DELETE", `/api/memories/${id}`);
  assert.equal((await ask({ memory_ids: [id] })).status, 200);
  assertError(await ask({ memory_ids: [id], namespace: "b" }), [404, "memory_not_found"]);
  const both = { memory_ids: [id, crypto.randomUUID()] };
  assertError(await ask(both), [404, "memory_not_found"]);
  const { key } = await svc.addAccount();
  assertError(await ask({ memory_ids: [id] }, { key }), [404, "memory_not_found"]);
  const field = { field: "memory_ids" };
  assertError(await ask({ memory_ids: [] }), [400, "invalid_parameter"], field);
  const many = { memory_ids: Array(1001).fill(id) };
  assertError(await ask(many), [400, "invalid_parameter"], field);
});

Deno.test("the key stays when the relayer restarts", async () => {
  verifies("10.14-4");
  await using durable = await DurableRelayer.start();
  const key = async () => (await durable.svc.plain("GET", "/.well-known/svc-receipt-key")).body;
  const before = await key();
  assert.deepEqual(Object.keys(before), ["algorithm", "public_key"]);
  await durable.restart();
  assert.deepEqual(await key(), before);
});

Deno.test("a blob whose id nobody learned is named as left", async () => {
  verifies("10.14-2");
  await using blobs = new PublicBlobs();
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (store) => ({
        ...blobs.open(),
        // The answer is lost, and the job given up.
        put: async (bytes, options) => {
          await blobs.open().put(bytes, options);
          throw new SvcError("storage_unavailable", undefined, { retryable: false });
        },
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      }),
    },
  });
  const { svc } = durable;
  const id = await svc.remember("tea");
  await svc.send("DELETE", `/api/memories/${id}`);
  const now = async () => (await svc.post("/api/receipts", { memory_ids: [id] })).body;
  const { receipt } = await poll(
    now,
    ({ receipt }) => verifyReceipt(receipt).survives.every(({ what }) => what !== "files"),
  );
  assert.deepEqual(verifyReceipt(receipt).survives, [{ what: "blob", memory_ids: [id] }]);
});

Deno.test("what a blob store keeps is named, and until when", async () => {
  verifies("10.14-2");
  await using blobs = new PublicBlobs();
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (store) => ({
        ...blobs.open(),
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
        keptUntil: () => Promise.resolve(END),
      }),
    },
  });
  const { svc, clock } = durable;
  const id = await svc.remember("tea");
  const { body } = await svc.send("DELETE", `/api/memories/${id}`);
  assert.equal(body.blob, "retained");
  assert.equal(body.erased, false);
  const until = new Date(END).toISOString();
  const now = async () => (await svc.post("/api/receipts", { memory_ids: [id] })).body;
  // Files may be overwritten a moment later.
  const isFile = ({ what }: { what: string }) => what === "files";
  const later = await poll(now, ({ receipt }) => !verifyReceipt(receipt).survives.some(isFile));
  assert.deepEqual(verifyReceipt(later.receipt).survives, [
    { what: "blob", memory_ids: [id], until },
  ]);
  clock.advance(END - clock.now() + 1);
  assert.equal((await svc.post("/api/receipts", { memory_ids: [id] })).body.erased, true);
});
