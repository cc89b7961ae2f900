import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { encodeQuilt, WalrusFile } from "@mysten/walrus";
import { Aggregators, sha256Of } from "../../../../plugins/sui/walrus/aggregator/aggregators.ts";
import { SYSTEM_CLOCK } from "../../../../plugins/sui/walrus/clock.ts";
import { Catalogue } from "../../../../plugins/sui/walrus/catalogue.ts";
import {
  ChainReads,
  type OwnedBlob,
  type Sent,
} from "../../../../plugins/sui/walrus/discovery/chain_reads.ts";
import { DISCOVERY_SCHEMA } from "../../../../plugins/sui/walrus/discovery/found_rows.ts";
import { Listing } from "../../../../plugins/sui/walrus/discovery/listing.ts";
import { Discovery } from "../../../../plugins/sui/walrus/discovery/look.ts";
import { BlobBytes } from "../../../../plugins/sui/walrus/discovery/proven_bytes.ts";
import { Quilt } from "../../../../plugins/sui/walrus/quilt/quilt.ts";
import { TOMBSTONE_IDENTIFIER } from "../../../../plugins/sui/walrus/stored_blob.ts";
import { UPKEEP_SCHEMA } from "../../../../plugins/sui/walrus/upkeep/merge.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import { startWalrus, type WalrusFixture } from "../../../devnet/walrus_fixture.ts";

const SHARDS = 10;
const FREE = { storage: 0, write: 0 };
const hex = (n: number, prefix = "0") => `0x${prefix}${n.toString(16).padStart(63, "0")}`;
const OWNER = hex(1, "a");
const WALLET = hex(2, "a");
const STRANGER = hex(3, "a");
const SCOPE: Scope = { owner: OWNER, namespace: "notes" };

interface Placed extends OwnedBlob {
  readonly attributes?: Readonly<Record<string, string>>;
}

/** A chain of two maps, which counts what it is asked. */
class FakeChain implements Pick<ChainReads, "owned" | "attributes" | "senders"> {
  readonly blobs: Placed[] = [];
  readonly sent = new Map<string, Sent>();
  readonly calls = { pages: 0, attributes: 0, senders: 0 };
  down = false;

  async *owned(_owner: string): AsyncGenerator<OwnedBlob[]> {
    for (let at = 0; at === 0 || at < this.blobs.length; at += 50) {
      await Promise.resolve();
      if (this.down) throw new SvcError("storage_unavailable", "The chain does not answer");
      this.calls.pages++;
      yield this.blobs.slice(at, at + 50);
    }
  }

  async attributes(ids: readonly string[]): Promise<Map<string, ReadonlyMap<string, string>>> {
    await Promise.resolve();
    this.calls.attributes += Math.ceil(ids.length / 50);
    return new Map(
      this.blobs.flatMap(({ objectId, attributes }) =>
        attributes !== undefined && ids.includes(objectId)
          ? [[objectId, new Map(Object.entries(attributes))]]
          : []
      ),
    );
  }

  async senders(digests: readonly string[]): Promise<Map<string, Sent>> {
    await Promise.resolve();
    this.calls.senders += Math.ceil(digests.length / 50);
    return new Map(digests.flatMap((digest) => {
      const sent = this.sent.get(digest);
      return sent === undefined ? [] : [[digest, sent]];
    }));
  }

  place(changes: Partial<Placed> & { sender?: string; at?: number } = {}): Placed {
    const number = this.blobs.length + 1;
    const { sender = WALLET, at = number, ...others } = changes;
    const blob: Placed = {
      objectId: hex(number),
      blobId: sha256Of(new Uint8Array([number & 255, number >> 8]))
        .toBase64({ alphabet: "base64url", omitPadding: true }),
      size: 40,
      certifiedEpoch: 1,
      endEpoch: 20,
      version: "1",
      transaction: `digest-${number}`,
      attributes: { svc_owner: OWNER, svc_namespace: "notes", svc_format: "1" },
      ...others,
    };
    this.blobs.push(blob);
    if (sender !== "") this.sent.set(blob.transaction, { sender, at });
    return blob;
  }
}

interface Machine extends AsyncDisposable {
  readonly catalogue: Catalogue;
  readonly discovery: Discovery;
  readonly listing: Listing;
  readonly bytes: BlobBytes;
  readonly reads: string[];
  readonly notes: string[];
}

interface Setup {
  readonly chain: Pick<ChainReads, "owned" | "attributes" | "senders">;
  readonly wallets?: readonly string[];
  readonly writers?: readonly string[];
  readonly packageId?: string;
  readonly aggregators?: Aggregators;
  /** Quilts by blob id, where there is no aggregator. */
  readonly quilts?: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  readonly proven?: boolean;
}

function machine(setup: Setup): Machine {
  const dataDir = Deno.makeTempDirSync();
  const catalogue = new Catalogue({ dataDir, schema: [DISCOVERY_SCHEMA, UPKEEP_SCHEMA] });
  const notes: string[] = [];
  const reads: string[] = [];
  const ground = {
    catalogue,
    state: () => Promise.resolve({ epoch: 10, shards: SHARDS, prices: FREE }),
    now: Date.now,
    log: (_level: string, message: string) => void notes.push(message),
  };
  const { chain, wallets = [WALLET], writers = [], packageId } = setup;
  const discovery = new Discovery({ ...ground, chain, wallets, writers, packageId });
  const proof = setup.proven === false ? "form" as const : "agreed" as const;
  const fake: Pick<Aggregators, "blob" | "patch"> = {
    blob(id) {
      reads.push(id);
      const found = setup.quilts?.get(id);
      return Promise.resolve(found && { bytes: found, proof });
    },
    patch: () => Promise.resolve(undefined),
  };
  const bytes = new BlobBytes({
    ...ground,
    aggregators: setup.aggregators ?? fake,
    keepMs: 1e9,
  });
  const listing = new Listing({ ...ground, discovery, bytes });
  return {
    catalogue,
    discovery,
    listing,
    bytes,
    reads,
    notes,
    async [Symbol.asyncDispose]() {
      await discovery.close(new SvcError("storage_unavailable", "The store is closed"));
      await catalogue.database.close();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

async function listed({ listing }: Machine, scope = SCOPE): Promise<string[]> {
  return (await Array.fromAsync(listing.list(scope))).map(({ blobId }) => blobId);
}

Deno.test("1,200 blobs are listed newest first, and listed again for the pages alone", async () => {
  const chain = new FakeChain();
  for (let n = 0; n < 1200; n++) chain.place({ at: 5_000 + (n * 7919) % 1200 });
  await using fresh = machine({ chain });
  const found = await Array.fromAsync(fresh.listing.list(SCOPE));
  strictEqual(new Set(found.map(({ blobId }) => blobId)).size, 1200);
  const times = found.map(({ createdAt }) => createdAt!);
  deepStrictEqual(times, times.toSorted((a, b) => b - a));
  deepStrictEqual(chain.calls, { pages: 24, attributes: 24, senders: 24 });
  await listed(fresh);
  deepStrictEqual(chain.calls, { pages: 48, attributes: 24, senders: 24 });
  deepStrictEqual(await listed(fresh, { ...SCOPE, namespace: "other" }), []);
});

Deno.test("a blob counts by who sent it, not by what it says", async () => {
  const chain = new FakeChain();
  const own = chain.place();
  const byOwner = chain.place({ sender: OWNER });
  chain.place({ sender: STRANGER });
  const byWriter = chain.place({ sender: hex(9, "b") });
  chain.place({ sender: "" });
  await using one = machine({ chain });
  deepStrictEqual(await listed(one), [byOwner.blobId, own.blobId]);
  ok(one.notes.some((note) => note.includes("1 blobs are left out")));
  deepStrictEqual([own, byOwner].map(({ objectId }) => one.discovery.isOwn(objectId)), [
    true,
    false,
  ]);
  await using other = machine({ chain, writers: [hex(9, "b")] });
  deepStrictEqual(await listed(other), [byWriter.blobId, byOwner.blobId, own.blobId]);
  // Its sender may be known later.
  chain.sent.set("digest-5", { sender: WALLET, at: 99 });
  strictEqual((await listed(one)).length, 3);
});

Deno.test("blobs that are not ours, not certified or ended are left out", async () => {
  const chain = new FakeChain();
  const attributes = { svc_owner: OWNER, svc_namespace: "notes", svc_format: "1" };
  const { certifiedEpoch: _, ...uncertified } = chain.place();
  chain.blobs[0] = uncertified;
  chain.place({ endEpoch: 10 });
  chain.place({ attributes: { ...attributes, svc_owner: STRANGER } });
  chain.place({ attributes: { ...attributes, svc_format: "2" } });
  chain.place({ attributes: { ...attributes, svc_package: hex(7) } });
  chain.place({ attributes: {} });
  const { attributes: __, ...bare } = chain.place();
  chain.blobs[6] = bare;
  const good = chain.place({ endEpoch: 11 });
  await using one = machine({ chain });
  deepStrictEqual(await listed(one), [good.blobId]);
  await using other = machine({ chain, packageId: hex(7) });
  deepStrictEqual(await listed(other), [chain.blobs[4]!.blobId]);
});

Deno.test("what was sent away is listed no longer, and what changed is looked at again", async () => {
  const chain = new FakeChain();
  const first = chain.place();
  const second = chain.place();
  await using one = machine({ chain });
  strictEqual((await listed(one)).length, 2);
  chain.blobs.shift();
  deepStrictEqual(await listed(one), [second.blobId]);
  chain.blobs.push(first);
  strictEqual((await listed(one)).length, 2);
  // A stranger who got hold of it changed it.
  chain.sent.set("changed", { sender: STRANGER, at: 99 });
  chain.blobs[1] = { ...first, version: "2", transaction: "changed" };
  const calls = { ...chain.calls };
  deepStrictEqual(await listed(one), [second.blobId]);
  strictEqual(chain.calls.senders, calls.senders + 1);
});

Deno.test("a chain that is down is an error, and loses nothing", async () => {
  const chain = new FakeChain();
  const blob = chain.place();
  await using one = machine({ chain });
  deepStrictEqual(await listed(one), [blob.blobId]);
  chain.down = true;
  await rejects(listed(one), { code: "storage_unavailable", retryable: true });
  chain.down = false;
  deepStrictEqual(await listed(one), [blob.blobId]);
});

Deno.test("looks at the same time are shared, and end with their signals", async () => {
  const chain = new FakeChain();
  chain.place();
  await using one = machine({ chain });
  await Promise.all(Array.from({ length: 20 }, () => one.discovery.look(OWNER)));
  strictEqual(chain.calls.pages, 2);
  const reason = new Error("enough");
  await rejects(one.discovery.look(OWNER, { signal: AbortSignal.abort(reason) }), reason);
});

function quiltOf(contents: Readonly<Record<string, Uint8Array>>): Uint8Array<ArrayBuffer> {
  const blobs = Object.entries(contents).map(([identifier, bytes]) => ({
    identifier,
    contents: bytes,
  }));
  return encodeQuilt({ blobs, numShards: SHARDS }).quilt;
}

const QUILT = {
  svc_owner: OWNER,
  svc_namespace: "notes",
  svc_format: "1",
  _walrusBlobType: "quilt",
};

Deno.test("quilts are read once, and what newer ones deleted or replaced is left out", async () => {
  const chain = new FakeChain();
  const quilts = new Map<string, Uint8Array<ArrayBuffer>>();
  const place = (contents: Readonly<Record<string, Uint8Array>>) => {
    const bytes = quiltOf(contents);
    const { blobId } = chain.place({ size: bytes.length, attributes: QUILT });
    quilts.set(blobId, bytes);
    const { patches } = new Quilt(bytes, SHARDS);
    return { blobId, ids: patches.map((patch) => Quilt.idOf(blobId, patch)) };
  };
  const replaced = place({ aa: new Uint8Array(9) });
  const old = place({ aa: new Uint8Array(5), bb: new Uint8Array(300) });
  const text = new TextEncoder().encode(`${old.ids[0]}\n${replaced.blobId}\n`);
  const newer = place({ cc: new Uint8Array(7), [TOMBSTONE_IDENTIFIER]: text });
  await using one = machine({ chain, quilts });
  const found = await Array.fromAsync(one.listing.list(SCOPE));
  deepStrictEqual(found.map(({ blobId, bytes }) => [blobId, bytes]), [
    [newer.ids[0], 7],
    [old.ids[1], 300],
  ]);
  deepStrictEqual(one.reads, [newer.blobId, old.blobId]);
  await listed(one);
  strictEqual(one.reads.length, 2);
  // Their patches are proven by what was read.
  const patch = (await one.listing.find(SCOPE, old.ids[1]!))!;
  deepStrictEqual(await one.bytes.patch(SCOPE, patch), new Uint8Array(300));
  strictEqual(await one.listing.find(SCOPE, old.ids[0]!), undefined);
});

Deno.test("a quilt that counts as replaced, though nobody has read it, is listed again", async () => {
  const chain = new FakeChain();
  const quilts = new Map<string, Uint8Array<ArrayBuffer>>();
  const place = (size: number) => {
    const bytes = quiltOf({ aa: new Uint8Array(size) });
    const blob = chain.place({ size: bytes.length, attributes: QUILT });
    quilts.set(blob.blobId, bytes);
    return blob;
  };
  const read = place(5);
  await using one = machine({ chain, quilts });
  strictEqual((await listed(one)).length, 1);
  const [unread, told] = [place(6), place(7)];
  await one.discovery.look(OWNER);
  await one.catalogue.database.write(() => {
    for (const { objectId } of [read, unread, told]) one.catalogue.setState(objectId, "replaced");
    one.catalogue.addTombstone(SCOPE, told.blobId, 0);
  });
  const found = await Array.fromAsync(one.listing.list(SCOPE));
  deepStrictEqual(found.map(({ bytes }) => bytes), [6]);
  deepStrictEqual(
    [read, unread, told].map(({ objectId }) => one.catalogue.stored(objectId)?.state),
    ["replaced", "live", "replaced"],
  );
});

Deno.test("a blob that was stored again after a quilt told its deletion is listed", async () => {
  const chain = new FakeChain();
  const blobId = chain.place({ at: 10 }).blobId;
  const kept = chain.place({ at: 10 });
  const quilts = new Map<string, Uint8Array<ArrayBuffer>>();
  const place = (text: string, at: number) => {
    const bytes = quiltOf({ [TOMBSTONE_IDENTIFIER]: new TextEncoder().encode(text) });
    quilts.set(chain.place({ size: bytes.length, attributes: QUILT, at }).blobId, bytes);
  };
  place(`${blobId}\n`, 20);
  await using before = machine({ chain, quilts });
  // Renewed by a relayer that was not told: this one was, and keeps to it.
  const untold = kept.blobId;
  await before.catalogue.database.write(() => before.catalogue.addTombstone(SCOPE, untold, 25));
  deepStrictEqual(await listed(before), []);
  chain.place({ blobId, at: 30 });
  chain.place({ blobId: untold, at: 30 });
  await using fresh = machine({ chain, quilts });
  deepStrictEqual((await listed(fresh)).toSorted(), [blobId, untold].toSorted());
  deepStrictEqual(await listed(before), [blobId]);
  ok(await before.listing.find(SCOPE, blobId));
  // Deleted once more.
  place(`${blobId}\n\n`, 40);
  deepStrictEqual(await listed(fresh), [untold]);
  deepStrictEqual(await listed(before), []);
});

Deno.test("a quilt that is none is left out, and does not keep the others from being listed", async () => {
  const chain = new FakeChain();
  const bytes = quiltOf({ aa: new Uint8Array(5) });
  const good = chain.place({ size: bytes.length, attributes: QUILT });
  chain.place({ size: 99, attributes: QUILT });
  await using one = machine({ chain, quilts: new Map([[good.blobId, bytes]]) });
  strictEqual((await listed(one)).length, 1);
  ok(one.notes[0]?.includes("left out"));
});

Deno.test("a quilt that nothing proves is listed, and read again the next time", async () => {
  const chain = new FakeChain();
  const bytes = quiltOf({ aa: new Uint8Array(5), bb: new Uint8Array(6) });
  const blob = chain.place({ size: bytes.length, attributes: QUILT });
  const quilts = new Map([[blob.blobId, quiltOf({ zz: new Uint8Array(5) })]]);
  await using one = machine({ chain, quilts, proven: false });
  strictEqual((await listed(one)).length, 1);
  quilts.set(blob.blobId, bytes);
  strictEqual((await listed(one)).length, 2);
  strictEqual(one.reads.length, 2);
});

Deno.test("an id that is not known here is looked for on chain", async () => {
  const chain = new FakeChain();
  await using one = machine({ chain });
  strictEqual(await one.listing.find(SCOPE, "unknown-blob"), undefined);
  strictEqual(chain.calls.pages, 0);
  const blob = chain.place();
  strictEqual((await one.listing.find(SCOPE, blob.blobId))?.size, 40);
  strictEqual(await one.listing.find({ ...SCOPE, namespace: "x" }, blob.blobId), undefined);
});

/** Writes a quilt with attributes; its object is then the signer's. */
async function write(
  { direct }: WalrusFixture,
  signer: Ed25519Keypair,
  contents: readonly string[],
  attributes: Readonly<Record<string, string>>,
): Promise<{ objectId: string; ids: string[] }> {
  const files = contents.map((text, n) =>
    WalrusFile.from({ contents: new TextEncoder().encode(text), identifier: `patch00${n}` })
  );
  const written = await direct().writeFiles({
    files,
    epochs: 3,
    deletable: true,
    signer,
    attributes: { ...attributes },
  });
  return { objectId: written[0]!.blobObject.id, ids: written.map(({ id }) => id) };
}

Deno.test("on the local network, what an owner and a wallet wrote is found, a forgery is not", async () => {
  await using fixture = await startWalrus();
  const { parts, walrus, wallet } = fixture;
  const sui = parts.client();
  const [owner, stranger] = [5, 6].map((n) =>
    Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(n))
  ) as [Ed25519Keypair, Ed25519Keypair];
  for (const who of [owner, stranger]) {
    parts.chain.mint(who.toSuiAddress(), "0x2::sui::SUI", 10_000_000_000n);
    parts.chain.mint(who.toSuiAddress(), walrus.walType, 10_000_000_000n);
  }
  const address = owner.toSuiAddress();
  const scope = { owner: address, namespace: "notes" };
  const attributes = { ...QUILT, svc_owner: address };
  const give = async (from: Ed25519Keypair, objectId: string) => {
    const transaction = new Transaction();
    transaction.transferObjects([objectId], address);
    await sui.signAndExecuteTransaction({ transaction, signer: from });
  };
  const mine = await write(fixture, wallet, ["one", "two", "three"], attributes);
  await give(wallet, mine.objectId);
  const forged = await write(fixture, stranger, ["forged"], attributes);
  await give(stranger, forged.objectId);
  const theirs = await write(fixture, owner, ["by hand"], attributes);
  await write(fixture, owner, ["elsewhere"], { ...attributes, svc_namespace: "other" });

  const blobType = await fixture.direct().getBlobType();
  const { shards } = walrus;
  const state = () => Promise.resolve({ epoch: walrus.system.epoch, shards, prices: FREE });
  const urls = walrus.aggregatorUrls;
  const aggregators = new Aggregators({ urls, raceAfterMs: 50, clock: SYSTEM_CLOCK });
  const dataDir = await Deno.makeTempDir();
  const open = (schema: string) => {
    const catalogue = new Catalogue({
      dataDir: `${dataDir}/${schema}`,
      schema: [DISCOVERY_SCHEMA],
    });
    const chain = new ChainReads(sui, () => blobType);
    const wallets = [wallet.toSuiAddress()];
    const ground = { catalogue, state, now: Date.now, log: () => {} };
    const discovery = new Discovery({ ...ground, chain, wallets, writers: [] });
    const bytes = new BlobBytes({ ...ground, aggregators, keepMs: 1e9 });
    return { catalogue, bytes, listing: new Listing({ ...ground, discovery, bytes }) };
  };
  // Two machines with nothing of their own see the same.
  for (const name of ["one", "two"]) {
    const { catalogue, bytes, listing } = open(name);
    const texts: string[] = [];
    for await (const { blobId, bytes: size } of listing.list(scope)) {
      ok(mine.ids.includes(blobId) || theirs.ids.includes(blobId));
      const patch = (await listing.find(scope, blobId))!;
      const content = await bytes.patch(scope, patch);
      strictEqual(content?.length, size);
      texts.push(new TextDecoder().decode(content));
    }
    deepStrictEqual(texts.toSorted(), ["by hand", "one", "three", "two"]);
    await catalogue.database.close();
  }
  // One aggregator that lies costs a read, and does not stay.
  parts.faults.set("aggregator:0", { kind: "wrong" });
  const { catalogue, bytes, listing } = open("three");
  const reads = async () => {
    const texts: string[] = [];
    for await (const { blobId } of listing.list(scope)) {
      const patch = (await listing.find(scope, blobId))!;
      texts.push(new TextDecoder().decode(await bytes.patch(scope, patch)));
    }
    return texts.toSorted();
  };
  const seen = await reads().catch((): string[] => []);
  ok(!seen.includes("forged"));
  parts.faults.set("aggregator:0", undefined);
  deepStrictEqual(await reads(), ["by hand", "one", "three", "two"]);
  walrus.advanceEpoch();
  walrus.advanceEpoch();
  walrus.advanceEpoch();
  deepStrictEqual(await reads(), []);
  await catalogue.database.close();
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test("a transaction that the node forgot is asked of the archive", async () => {
  await using fixture = await startWalrus();
  const { objectId } = await write(fixture, fixture.wallet, ["kept"], QUILT);
  const archive = fixture.parts.client();
  const typed = () => fixture.direct().getBlobType();
  const address = fixture.wallet.toSuiAddress();
  const transactionOf = async () => {
    for await (const page of new ChainReads(archive, typed).owned(address)) {
      return page.find((blob) => blob.objectId === objectId)!.transaction;
    }
  };
  const digest = (await transactionOf())!;
  // A node of another chain knows none of its transactions.
  await using other = await startWalrus();
  const node = other.parts.client();
  strictEqual((await new ChainReads(node, typed).senders([digest])).size, 0);
  const sent = await new ChainReads(node, typed, archive).senders([digest, digest]);
  strictEqual(sent.get(digest)?.sender, address);
});

Deno.test("bytes that nothing proves are not kept", async () => {
  const chain = new FakeChain();
  const blob = chain.place();
  const quilts = new Map([[blob.blobId, new Uint8Array(40).fill(9)]]);
  await using one = machine({ chain, quilts, proven: false });
  const patch = (await one.listing.find(SCOPE, blob.blobId))!;
  deepStrictEqual(await one.bytes.patch(SCOPE, patch), new Uint8Array(40).fill(9));
  quilts.set(blob.blobId, new Uint8Array(40).fill(1));
  deepStrictEqual(await one.bytes.patch(SCOPE, patch), new Uint8Array(40).fill(1));
  await using other = machine({ chain, quilts });
  await other.listing.find(SCOPE, blob.blobId);
  deepStrictEqual(await other.bytes.patch(SCOPE, patch), new Uint8Array(40).fill(1));
  quilts.clear();
  deepStrictEqual(await other.bytes.patch(SCOPE, patch), new Uint8Array(40).fill(1));
});
