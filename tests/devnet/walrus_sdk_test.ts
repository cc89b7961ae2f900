import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { WalrusFile } from "@mysten/walrus";
import { bytesOf, startWalrus, type WalrusFixture } from "./walrus_fixture.ts";

const write = ({ wallet }: WalrusFixture, text: string, deletable = true) => ({
  blob: bytesOf(text),
  deletable,
  epochs: 3,
  signer: wallet,
});

Deno.test("the SDK writes to the nodes and reads from them; aggregators read it too", async () => {
  await using fixture = await startWalrus();
  const client = fixture.direct();
  for (const deletable of [true, false]) {
    const text = `direct ${deletable}`;
    const { blobId, blobObject } = await client.writeBlob(write(fixture, text, deletable));
    strictEqual(blobObject.certified_epoch, fixture.walrus.system.epoch);
    deepStrictEqual(await client.readBlob({ blobId }), bytesOf(text));
    deepStrictEqual(await fixture.read(`blobs/${blobId}`), [200, text]);
    const status = await client.getVerifiedBlobStatus({ blobId });
    strictEqual(status.type, deletable ? "deletable" : "permanent");
  }
});

Deno.test("the SDK writes through the relay, with a tip", async () => {
  await using fixture = await startWalrus();
  const { parts, walrus } = fixture;
  const flow = fixture.relayed().writeBlobFlow({ blob: bytesOf("relayed") });
  const steps: string[] = [];
  const address = fixture.wallet.toSuiAddress();
  const options = { signer: fixture.wallet, epochs: 3, deletable: true, owner: address };
  for await (const { step } of flow.run(options)) steps.push(step);
  deepStrictEqual(steps, ["encoded", "registered", "uploaded", "certified"]);
  strictEqual(parts.chain.balanceOf(walrus.relay.tipAddress, "0x2::sui::SUI"), 105n);
  const { blobId } = await flow.getBlob();
  deepStrictEqual(await fixture.read(`blobs/${blobId}`), [200, "relayed"]);
  deepStrictEqual(await fixture.direct().readBlob({ blobId }), bytesOf("relayed"));
});

Deno.test("a linear tip is paid as the SDK computes it", async () => {
  await using fixture = await startWalrus({
    tip: { kind: "linear", base: 10n, perEncodedKib: 2n },
  });
  await fixture.relayed().writeBlob(write(fixture, "priced"));
  const { walrus, parts } = fixture;
  const paid = parts.chain.balanceOf(walrus.relay.tipAddress, "0x2::sui::SUI");
  ok(paid > 10n && paid < 1_000n, `${paid}`);
});

Deno.test("patches of quilts that the SDK wrote are read from an aggregator", async () => {
  await using fixture = await startWalrus();
  const files = ["a", "b", "c"].map((identifier, index) =>
    WalrusFile.from({
      contents: bytesOf(identifier.repeat(300 * index)),
      identifier,
      tags: { n: `${index}` },
    })
  );
  for (const client of [fixture.direct(), fixture.relayed()]) {
    const written = await client.writeFiles({
      files,
      epochs: 3,
      deletable: true,
      signer: fixture.wallet,
      attributes: { svc_namespace: "default" },
    });
    const [, listing] = await fixture.read(`quilts/${written[0]?.blobId}/patches`);
    deepStrictEqual(
      JSON.parse(listing),
      written.map(({ id }, index) => ({
        identifier: ["a", "b", "c"][index],
        patch_id: id,
        tags: { n: `${index}` },
      })),
    );
    for (const [index, { id, blobId }] of written.entries()) {
      const identifier = ["a", "b", "c"][index] ?? "";
      const text = identifier.repeat(300 * index);
      deepStrictEqual(await fixture.read(`blobs/by-quilt-patch-id/${id}`), [200, text]);
      deepStrictEqual(await fixture.read(`blobs/by-quilt-id/${blobId}/${identifier}`), [200, text]);
    }
    const [last] = await client.getFiles({ ids: [written[2]?.id ?? ""] });
    strictEqual(await last?.text(), "c".repeat(600));
  }
});

Deno.test("attributes are written with a blob, changed and removed", async () => {
  await using fixture = await startWalrus();
  const client = fixture.relayed();
  const attributes = { owner: "0x1", "content-type": "text/plain" };
  const { blobObject } = await client.writeBlob({ ...write(fixture, "tagged"), attributes });
  deepStrictEqual(await client.readBlobAttributes({ blobObjectId: blobObject.id }), attributes);
  await client.executeWriteBlobAttributesTransaction({
    blobObjectId: blobObject.id,
    attributes: { owner: "0x2", "content-type": null, kind: "note" },
    signer: fixture.wallet,
  });
  deepStrictEqual(await client.readBlobAttributes({ blobObjectId: blobObject.id }), {
    owner: "0x2",
    kind: "note",
  });
});

Deno.test("extending keeps a blob, deleting removes it, and time does", async () => {
  await using fixture = await startWalrus();
  const { walrus, wallet } = fixture;
  const client = fixture.relayed();
  const kept = await client.writeBlob({ ...write(fixture, "kept"), epochs: 1 });
  const gone = await client.writeBlob({ ...write(fixture, "gone"), epochs: 1 });
  const deleted = await client.writeBlob(write(fixture, "deleted"));
  const id = kept.blobObject.id;
  await client.executeExtendBlobTransaction({ blobObjectId: id, epochs: 5, signer: wallet });
  await client.executeDeleteBlobTransaction({
    blobObjectId: deleted.blobObject.id,
    signer: wallet,
  });
  strictEqual((await fixture.read(`blobs/${deleted.blobId}`))[0], 404);
  walrus.advanceEpoch();
  strictEqual((await fixture.read(`blobs/${gone.blobId}`))[0], 404);
  strictEqual((await fixture.read(`blobs/${kept.blobId}`))[1], "kept");
  await rejects(fixture.direct().readBlob({ blobId: gone.blobId }));
  strictEqual(walrus.storage.index.object(id)?.storage.end_epoch, walrus.system.epoch + 5);
  const over = client.executeExtendBlobTransaction({
    blobObjectId: gone.blobObject.id,
    epochs: 1,
    signer: wallet,
  });
  await rejects(over, /abort/i);
  const permanent = await fixture.relayed().writeBlob(write(fixture, "for ever", false));
  const blobObjectId = permanent.blobObject.id;
  await rejects(client.executeDeleteBlobTransaction({ blobObjectId, signer: wallet }), /abort/i);
});

Deno.test("certification and transfer in one transaction", async () => {
  await using fixture = await startWalrus();
  const { wallet, parts } = fixture;
  const user = `0x${"ee".repeat(32)}`;
  const sui = parts.client();
  const flow = fixture.relayed().writeBlobFlow({ blob: bytesOf("yours") });
  await flow.encode();
  const owner = wallet.toSuiAddress();
  const register = flow.register({ epochs: 3, owner, deletable: true, attributes: { a: "b" } });
  const first = await sui.signAndExecuteTransaction({ transaction: register, signer: wallet });
  ok(first.$kind === "Transaction", JSON.stringify(first));
  const { blobObjectId = "" } = await flow.upload({ digest: first.Transaction.digest });
  const certify = flow.certify();
  certify.transferObjects([certify.object(blobObjectId)], user);
  const second = await sui.signAndExecuteTransaction({ transaction: certify, signer: wallet });
  strictEqual(second.$kind, "Transaction");
  deepStrictEqual(parts.chain.object(blobObjectId)?.owner, { kind: "address", address: user });
});
