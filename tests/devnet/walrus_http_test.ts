import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { WalrusNetwork } from "../../devnet/walrus/install.ts";
import { startWalrus } from "./walrus_fixture.ts";

interface BlobObject {
  readonly id: string;
  readonly blobId: string;
  readonly deletable: boolean;
  readonly certifiedEpoch: number;
  readonly storage: { readonly endEpoch: number; readonly storageSize: number };
}

interface Stored {
  readonly newlyCreated?: { readonly blobObject: BlobObject; readonly cost: number };
  readonly alreadyCertified?: { readonly blobId: string; readonly endEpoch: number };
}

interface StoredQuilt {
  readonly blobStoreResult: Stored;
  readonly storedQuiltBlobs: readonly { identifier: string; quiltPatchId: string }[];
}

const USER = `0x${"ee".repeat(32)}`;

async function put(walrus: WalrusNetwork, body: string, query = "epochs=3"): Promise<Stored> {
  const response = await fetch(`${walrus.publisherUrl}/v1/blobs?${query}`, { method: "PUT", body });
  strictEqual(response.status, 200);
  return await response.json();
}

async function putQuilt(walrus: WalrusNetwork, files: Record<string, string>, query = "epochs=3") {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.set(name, new File([text], name));
  form.set("_metadata", JSON.stringify([{ identifier: "b", tags: { kind: "note" } }]));
  const response = await fetch(`${walrus.publisherUrl}/v1/quilts?${query}`, {
    method: "PUT",
    body: form,
  });
  strictEqual(response.status, 200);
  const stored: StoredQuilt = await response.json();
  return stored;
}

const get = async (walrus: WalrusNetwork, path: string, aggregator = 0) => {
  const response = await fetch(`${walrus.aggregatorUrls[aggregator]}/v1/${path}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
};

const created = (stored: Stored): BlobObject => {
  ok(stored.newlyCreated !== undefined, JSON.stringify(stored));
  return stored.newlyCreated.blobObject;
};

Deno.test("a publisher stores a blob that every aggregator reads", async () => {
  await using fixture = await startWalrus();
  const { walrus, parts } = fixture;
  const before = walrus.publisherWallet.balance;
  const stored = await put(walrus, "some other string", `epochs=3&send_object_to=${USER}`);
  const blob = created(stored);
  strictEqual(blob.certifiedEpoch, walrus.system.epoch);
  strictEqual(blob.storage.endEpoch, walrus.system.epoch + 3);
  strictEqual(walrus.publisherWallet.balance, before - BigInt(stored.newlyCreated?.cost ?? 0));
  deepStrictEqual(parts.chain.object(blob.id)?.owner, { kind: "address", address: USER });
  for (const aggregator of [0, 1]) {
    const answer = await get(walrus, `blobs/${blob.blobId}`, aggregator);
    strictEqual(answer.text, "some other string");
    strictEqual(answer.headers.get("etag"), `"${blob.blobId}"`);
  }
  strictEqual((await get(walrus, `blobs/by-object-id/${blob.id}`)).text, "some other string");
});

Deno.test("what is not stored is 404, what is no id is 400", async () => {
  await using fixture = await startWalrus();
  const absent = await get(fixture.walrus, `blobs/${"A".repeat(43)}`);
  strictEqual(absent.status, 404);
  match(absent.text, /"NOT_FOUND"/);
  strictEqual((await get(fixture.walrus, "blobs/nope")).status, 400);
  strictEqual((await get(fixture.walrus, `blobs/by-object-id/${USER}`)).status, 404);
  strictEqual((await get(fixture.walrus, "blobs/by-quilt-patch-id/nope")).status, 400);
  strictEqual((await get(fixture.walrus, `quilts/${"A".repeat(43)}/patches`)).status, 404);
});

Deno.test("a permanent blob that lives long enough is not paid twice", async () => {
  await using fixture = await startWalrus();
  const { walrus } = fixture;
  const first = created(await put(walrus, "once", "epochs=5&permanent=true"));
  const before = walrus.publisherWallet.balance;
  const again = await put(walrus, "once", "epochs=5&permanent=true");
  deepStrictEqual(again.alreadyCertified?.blobId, first.blobId);
  strictEqual(walrus.publisherWallet.balance, before);
  created(await put(walrus, "once", "epochs=6&permanent=true"));
  created(await put(walrus, "once", "epochs=5&permanent=true&force=true"));
  created(await put(walrus, "once", "epochs=5"));
  ok((await put(walrus, "once", "epochs=5")).alreadyCertified !== undefined);
});

Deno.test("blobs end with their epoch, everywhere", async () => {
  await using fixture = await startWalrus();
  const { walrus } = fixture;
  const blob = created(await put(walrus, "short", "epochs=1"));
  const quilt = await putQuilt(walrus, { a: "1", b: "2" }, "epochs=2");
  const quiltBlob = created(quilt.blobStoreResult);
  const patch = quilt.storedQuiltBlobs[0]?.quiltPatchId ?? "";
  walrus.advanceEpoch();
  strictEqual((await get(walrus, `blobs/${blob.blobId}`)).status, 404);
  strictEqual((await get(walrus, `blobs/by-object-id/${blob.id}`)).status, 404);
  strictEqual((await get(walrus, `blobs/by-quilt-patch-id/${patch}`)).status, 200);
  walrus.advanceEpoch();
  strictEqual((await get(walrus, `blobs/by-quilt-patch-id/${patch}`)).status, 404);
  strictEqual((await get(walrus, `blobs/by-quilt-id/${quiltBlob.blobId}/a`)).status, 404);
  strictEqual((await get(walrus, `quilts/${quiltBlob.blobId}/patches`)).status, 404);
});

Deno.test("patches of a quilt: by patch id, by identifier, as a list", async () => {
  await using fixture = await startWalrus();
  const { walrus } = fixture;
  const texts = { a: "first", b: "the second one", "c d/é": "x".repeat(500), empty: "" };
  const stored = await putQuilt(walrus, texts);
  const { id: objectId, blobId } = created(stored.blobStoreResult);
  deepStrictEqual(
    await fixture.direct().readBlobAttributes({ blobObjectId: objectId }),
    { _walrusBlobType: "quilt" },
  );
  const listed: unknown = JSON.parse((await get(walrus, `quilts/${blobId}/patches`)).text);
  deepStrictEqual(
    listed,
    stored.storedQuiltBlobs.map(({ identifier, quiltPatchId }) => ({
      identifier,
      patch_id: quiltPatchId,
      tags: identifier === "b" ? { kind: "note" } : {},
    })),
  );
  for (const { identifier, quiltPatchId } of stored.storedQuiltBlobs) {
    const text = Object.entries(texts).find(([name]) => name === identifier)?.[1];
    strictEqual((await get(walrus, `blobs/by-quilt-patch-id/${quiltPatchId}`)).text, text);
    const path = `blobs/by-quilt-id/${blobId}/${encodeURIComponent(identifier)}`;
    strictEqual((await get(walrus, path)).text, text);
  }
  strictEqual((await get(walrus, `blobs/by-quilt-id/${blobId}/none`)).status, 404);
});

Deno.test("the cache of an aggregator misses a new blob for a while", async () => {
  await using fixture = await startWalrus();
  const { walrus, parts } = fixture;
  const [first, second] = walrus.aggregators;
  if (first !== undefined) first.freshMisses = { reads: 2 };
  if (second !== undefined) second.freshMisses = { ms: 5_000 };
  const { blobId } = created(await put(walrus, "fresh"));
  const statuses: number[] = [];
  for (let n = 0; n < 3; n++) statuses.push((await get(walrus, `blobs/${blobId}`)).status);
  deepStrictEqual(statuses, [404, 404, 200]);
  strictEqual((await get(walrus, `blobs/${blobId}`, 1)).status, 404);
  parts.chain.clock.advance(5_000);
  strictEqual((await get(walrus, `blobs/${blobId}`, 1)).status, 200);
});

Deno.test("an aggregator answers HEAD, refuses other methods and what is too large for it", async () => {
  await using fixture = await startWalrus();
  const { walrus } = fixture;
  const { blobId } = created(await put(walrus, "headless"));
  const url = `${walrus.aggregatorUrls[0]}/v1/blobs/${blobId}`;
  const head = await fetch(url, { method: "HEAD" });
  deepStrictEqual([head.status, await head.text()], [200, ""]);
  const post = await fetch(url, { method: "POST" });
  deepStrictEqual([post.status, await post.text()], [405, ""]);
  const [aggregator] = walrus.aggregators;
  if (aggregator !== undefined) aggregator.maxBlobSize = 7;
  strictEqual((await get(walrus, `blobs/${blobId}`)).status, 403);
  strictEqual((await get(walrus, `blobs/${blobId}`, 1)).status, 200);
});

Deno.test("epoch and blobs are found again on a chain that was restored", async () => {
  await using fixture = await startWalrus();
  const { walrus } = fixture;
  const { blobId } = created(await put(walrus, "still there", "epochs=5"));
  walrus.advanceEpoch();
  walrus.reload();
  strictEqual(walrus.system.epoch, 2);
  strictEqual((await get(walrus, `blobs/${blobId}`)).text, "still there");
});

Deno.test("a publisher refuses what it cannot store", async () => {
  await using fixture = await startWalrus({ publisherWal: 50_000n });
  const { walrus } = fixture;
  const status = async (query: string, body: BodyInit = "x", path = "blobs") => {
    const url = `${walrus.publisherUrl}/v1/${path}?${query}`;
    const response = await fetch(url, { method: "PUT", body });
    await response.body?.cancel();
    return response.status;
  };
  strictEqual(await status("epochs=0"), 400);
  strictEqual(await status("epochs=54"), 400);
  strictEqual(await status("permanent=true&deletable=true"), 400);
  strictEqual(await status("send_object_to=me"), 400);
  strictEqual(await status("epochs=1", "x", "quilts"), 400);
  walrus.publisher.maxBlobSize = 10;
  strictEqual(await status("epochs=1", "x".repeat(11)), 413);
  strictEqual(await status("epochs=1"), 200);
  strictEqual(await status("epochs=1", "y"), 500, "no WAL is left");
});

Deno.test("a publisher that lost its answer has paid, and does not pay again", async () => {
  await using fixture = await startWalrus();
  const { walrus, parts } = fixture;
  parts.faults.set("publisher", { kind: "lost", times: 1 });
  const before = walrus.publisherWallet.balance;
  const lost = await put(walrus, "lost", "permanent=true").catch((error) => error);
  ok(lost instanceof TypeError);
  const paid = walrus.publisherWallet.balance;
  ok(paid < before);
  ok((await put(walrus, "lost", "permanent=true")).alreadyCertified !== undefined);
  strictEqual(walrus.publisherWallet.balance, paid);
});

Deno.test("aggregators and publishers lie, refuse and break", async () => {
  await using fixture = await startWalrus();
  const { walrus, parts } = fixture;
  const { blobId } = created(await put(walrus, "truth"));
  parts.faults.set("aggregator:0", { kind: "wrong" });
  const lie = await get(walrus, `blobs/${blobId}`);
  strictEqual(lie.status, 200);
  strictEqual(lie.text.length, 5);
  ok(lie.text !== "truth");
  strictEqual((await get(walrus, `blobs/${blobId}`, 1)).text, "truth");
  parts.faults.set("aggregator:1", { kind: "status", status: 429, retryAfter: 3 });
  const refused = await get(walrus, `blobs/${blobId}`, 1);
  deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "3"]);
  parts.faults.set("publisher", { kind: "wrong" });
  const other = created(await put(walrus, "another"));
  strictEqual((await get(walrus, `blobs/${other.blobId}`)).status, 404);
});

Deno.test("without a quorum of nodes nothing is certified; the registration is used again", async () => {
  await using fixture = await startWalrus();
  const { walrus, parts } = fixture;
  for (const node of ["node:0", "node:1"]) parts.faults.set(node, { kind: "down" });
  const url = `${walrus.publisherUrl}/v1/blobs?epochs=2`;
  const failed = await fetch(url, { method: "PUT", body: "late" });
  strictEqual(failed.status, 500);
  await failed.body?.cancel();
  const paid = walrus.publisherWallet.balance;
  parts.faults.set("node:1", undefined);
  const stored = await put(walrus, "late", "epochs=2");
  strictEqual(stored.newlyCreated?.cost, 0);
  strictEqual(walrus.publisherWallet.balance, paid);
  strictEqual((await get(walrus, `blobs/${created(stored).blobId}`)).text, "late");
});

Deno.test("blobs are kept in a folder", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    await using fixture = await startWalrus({}, dataDir);
    const { blobId } = created(await put(fixture.walrus, "on disk"));
    strictEqual(await Deno.readTextFile(`${dataDir}/walrus/${blobId}`), "on disk");
    strictEqual((await get(fixture.walrus, `blobs/${blobId}`)).text, "on disk");
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
