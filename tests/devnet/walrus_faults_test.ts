import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { bytesOf, startWalrus, type WalrusFixture } from "./walrus_fixture.ts";

async function registered(fixture: WalrusFixture, text: string) {
  const flow = fixture.relayed().writeBlobFlow({ blob: bytesOf(text) });
  await flow.encode();
  const step = await flow.executeRegister({
    signer: fixture.wallet,
    epochs: 3,
    deletable: true,
    owner: fixture.wallet.toSuiAddress(),
  });
  return { flow, step };
}

/** The relay's answer to a request of our own. */
async function relay(fixture: WalrusFixture, query: Record<string, string>, body: string) {
  const url = `${fixture.walrus.uploadRelayUrl}/v1/blob-upload-relay?${new URLSearchParams(query)}`;
  const response = await fetch(url, { method: "POST", body });
  return [response.status, await response.text()] as const;
}

Deno.test("a relay stores only what was paid for, and registered", async () => {
  await using fixture = await startWalrus();
  const { flow, step } = await registered(fixture, "paid");
  const { nonce: nonce64 = "" } = await flow.encode();
  const nonce = Uint8Array.fromBase64(nonce64).toBase64({ alphabet: "base64url" });
  const query = {
    blob_id: step.blobId,
    nonce,
    tx_id: step.txDigest,
    deletable_blob_object: step.blobObjectId,
  };
  const status = async (change: Record<string, string>, body = "paid") =>
    (await relay(fixture, { ...query, ...change }, body))[0];
  strictEqual(await status({ tx_id: "" }), 500);
  strictEqual(await status({ nonce: "" }), 400);
  strictEqual(await status({ nonce: new Uint8Array(32).toBase64({ alphabet: "base64url" }) }), 401);
  strictEqual(await status({}, "othe"), 401, "another blob of that length");
  strictEqual(await status({ blob_id: "A".repeat(43) }), 400);
  strictEqual(await status({ deletable_blob_object: `0x${"1".repeat(64)}` }), 500);
  fixture.walrus.relay.tip = { kind: "const", amount: 106n };
  strictEqual(await status({}), 402);
  fixture.walrus.relay.tip = { kind: "const", amount: 105n };
  fixture.parts.chain.clock.advance(3_700_000);
  strictEqual(await status({}), 400, "too old");
  fixture.walrus.relay.tip = undefined;
  strictEqual(await status({}), 200);
  strictEqual(await status({}, "other"), 400, "not the blob of that id");
});

Deno.test("a certificate that does not verify certifies nothing", async () => {
  await using fixture = await startWalrus();
  const { flow, step } = await registered(fixture, "forged");
  fixture.parts.faults.set("relay", { kind: "wrong", only: "blob-upload-relay" });
  await flow.upload({ digest: step.txDigest });
  await rejects(flow.executeCertify({ signer: fixture.wallet }), /abort|certificate/i);
  strictEqual((await fixture.read(`blobs/${step.blobId}`))[0], 404);
  fixture.parts.faults.set("relay", undefined);
  await flow.upload({ digest: step.txDigest });
  await flow.executeCertify({ signer: fixture.wallet });
  deepStrictEqual(await fixture.read(`blobs/${step.blobId}`), [200, "forged"]);
});

Deno.test("a relay that lost its answer has stored the blob; asking again certifies it", async () => {
  await using fixture = await startWalrus();
  const { flow, step } = await registered(fixture, "lost");
  // Until it is taken back: fetch repeats a request by itself when a used connection breaks.
  fixture.parts.faults.set("relay", { kind: "lost", only: "blob-upload-relay" });
  await rejects(flow.upload({ digest: step.txDigest }));
  fixture.parts.faults.set("relay", undefined);
  ok(await fixture.walrus.storage.contents.bytes(step.blobId));
  await flow.upload({ digest: step.txDigest });
  await flow.executeCertify({ signer: fixture.wallet });
  deepStrictEqual(await fixture.read(`blobs/${step.blobId}`), [200, "lost"]);
});

Deno.test("a transaction whose answer was lost is on the chain", async () => {
  await using fixture = await startWalrus();
  const { parts, wallet, walrus } = fixture;
  const before = parts.chain.balanceOf(wallet.toSuiAddress(), walrus.walType);
  parts.faults.set("chain", { kind: "lost", times: 1, only: "ExecuteTransaction" });
  await rejects(registered(fixture, "unknown"));
  ok(parts.chain.balanceOf(wallet.toSuiAddress(), walrus.walType) < before);
});

Deno.test("a certificate of the last epoch is refused, one of this epoch is not", async () => {
  await using fixture = await startWalrus();
  const { flow, step } = await registered(fixture, "late");
  await flow.upload({ digest: step.txDigest });
  fixture.walrus.advanceEpoch();
  await rejects(flow.executeCertify({ signer: fixture.wallet }), /abort/i);
  await flow.upload({ digest: step.txDigest });
  await flow.executeCertify({ signer: fixture.wallet });
});

Deno.test("nodes: one may be down or lie, two are too many", async () => {
  await using fixture = await startWalrus();
  const { parts } = fixture;
  const write = (text: string) =>
    fixture.direct().writeBlob({
      blob: bytesOf(text),
      deletable: false,
      epochs: 3,
      signer: fixture.wallet,
    });
  // Node 3 has 2 of the 10 shards, node 0 has 3: f is 3.
  parts.faults.set("node:3", { kind: "down" });
  const { blobId } = await write("one down");
  // The SDK itself cannot read while a node of fewer than 12 is down: it splits them by tens.
  deepStrictEqual(await fixture.read(`blobs/${blobId}`), [200, "one down"]);
  parts.faults.set("node:3", { kind: "wrong", only: "confirmation" });
  await write("one lies");
  parts.faults.set("node:0", { kind: "status", status: 503 });
  parts.faults.set("node:1", { kind: "status", status: 503 });
  await rejects(write("two down"));
  parts.faults.clear();
  parts.faults.set("node:0", { kind: "wrong", only: "slivers" });
  const lies = await fixture.direct().readBlob({ blobId }).catch(() => undefined);
  ok(lies === undefined || new TextDecoder().decode(lies) === "one down");
});

Deno.test("nodes take nothing that is not registered, and confirm nothing that is not stored", async () => {
  await using fixture = await startWalrus();
  const [url] = fixture.walrus.nodeUrls;
  const unknown = await fetch(`${url}/v1/blobs/${"A".repeat(43)}/metadata`, {
    method: "PUT",
    body: "x",
  });
  strictEqual(unknown.status, 400);
  ok((await unknown.text()).includes("NOT_REGISTERED"));
  const { step } = await registered(fixture, "absent");
  const client = fixture.direct();
  const confirmations = await client.getStorageConfirmations({
    blobId: step.blobId,
    deletable: true,
    objectId: step.blobObjectId,
  });
  deepStrictEqual(confirmations, [null, null, null, null]);
});
