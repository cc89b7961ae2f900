import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { encodeQuilt } from "@mysten/walrus";
import fc from "fast-check";
import {
  type Aggregators,
  sha256Of,
} from "../../../../plugins/sui/walrus/aggregator/aggregators.ts";
import { Catalogue } from "../../../../plugins/sui/walrus/catalogue.ts";
import {
  DISCOVERY_SCHEMA,
  markIndexed,
} from "../../../../plugins/sui/walrus/discovery/found_rows.ts";
import { Listing } from "../../../../plugins/sui/walrus/discovery/listing.ts";
import { BlobBytes } from "../../../../plugins/sui/walrus/discovery/proven_bytes.ts";
import { Quilt } from "../../../../plugins/sui/walrus/quilt/quilt.ts";
import type { StoreAgain, StoredBlob } from "../../../../plugins/sui/walrus/stored_blob.ts";
import type { BlobWriter } from "../../../../plugins/sui/walrus/upload/uploads.ts";
import { UPKEEP_SCHEMA } from "../../../../plugins/sui/walrus/upkeep/merge.ts";
import {
  deleteBlob,
  endEpochOf,
  MoveTeller,
  presentId,
} from "../../../../plugins/sui/walrus/upkeep/moves.ts";
import { Upkeep } from "../../../../plugins/sui/walrus/upkeep/upkeep.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { BlobMove, Scope } from "../../../../src/interfaces/mod.ts";

const SHARDS = 100;
const EPOCHS = 4;
const SCOPE: Scope = { owner: `0x${"a".repeat(64)}`, namespace: "notes" };

/** A Walrus of two maps: objects that end, and what they hold while one of them lasts. */
class Network {
  epoch = 10;
  readonly objects: StoredBlob[] = [];
  readonly contents = new Map<string, Uint8Array<ArrayBuffer>>();
  writes = 0;
  /** Whether every aggregator says that there is no such blob. */
  away = false;
  /** Throws once after so many writes, before (`false`) or after (`true`) it took effect. */
  failAt: { writes: number; after: boolean } | undefined;

  read(blobId: string): Uint8Array<ArrayBuffer> | undefined {
    const lasts = this.objects.some((o) => o.blobId === blobId && o.endEpoch > this.epoch);
    return lasts && !this.away ? this.contents.get(blobId) : undefined;
  }

  store(bytes: Uint8Array<ArrayBuffer>, quilt: boolean): StoredBlob {
    this.writes++;
    if (this.failAt?.writes === this.writes && !this.failAt.after) throw this.#failure();
    const blobId = idOf(bytes);
    this.contents.set(blobId, bytes);
    const stored: StoredBlob = {
      ...SCOPE,
      objectId: `0x${this.objects.length.toString(16).padStart(64, "0")}`,
      blobId,
      holder: SCOPE.owner,
      quilt,
      size: bytes.length,
      endEpoch: this.epoch + EPOCHS,
      createdAt: this.objects.length,
    };
    this.objects.push(stored);
    return stored;
  }

  failAfter(): void {
    if (this.failAt?.writes === this.writes && this.failAt.after) throw this.#failure();
  }

  #failure(): Error {
    this.failAt = undefined;
    return new SvcError("storage_unavailable", "killed here");
  }
}

function idOf(bytes: Uint8Array): string {
  return sha256Of(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Puts of one turn become one quilt; keys are kept, as by a process that was killed. */
class Writer implements BlobWriter {
  readonly #network: Network;
  readonly #catalogue: Catalogue;
  readonly #keys = new Map<string, string>();
  readonly #again = new Map<string, StoredBlob>();
  #waiting: { key: string; bytes: Uint8Array; done: PromiseWithResolvers<string> }[] = [];

  constructor(network: Network, catalogue: Catalogue) {
    this.#network = network;
    this.#catalogue = catalogue;
  }

  async put(...[bytes, { idempotencyKey: key }]: Parameters<BlobWriter["put"]>): Promise<string> {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const done = Promise.withResolvers<string>();
    this.#waiting.push({ key, bytes, done });
    if (this.#waiting.length === 1) setTimeout(() => void this.drain(), 0);
    return await done.promise;
  }

  moved(_scope: Scope, from: string, to: string): void {
    for (const [key, id] of this.#keys) if (id === from) this.#keys.set(key, to);
  }

  async storeAgain({ blobId, bytes, quilt, key }: StoreAgain): Promise<StoredBlob> {
    const known = this.#again.get(key);
    if (known !== undefined) return known;
    strictEqual(idOf(bytes), blobId, "other bytes under its id");
    const stored = this.#network.store(new Uint8Array(bytes), quilt);
    await this.#catalogue.database.write(() => this.#catalogue.addStored(stored));
    this.#again.set(key, stored);
    this.#network.failAfter();
    return stored;
  }

  async drain(): Promise<void> {
    for (let waiting = this.#waiting; waiting.length > 0; waiting = this.#waiting) {
      const batch = waiting.splice(0, 66);
      try {
        // No two quilts have the same names, and so none the same bytes.
        const prefix = this.#network.writes.toString(36).padStart(6, "0");
        const blobs = batch.map(({ bytes }, n) => ({
          identifier: prefix + n.toString(36).padStart(2, "0"),
          contents: bytes,
        }));
        const { quilt } = encodeQuilt({ blobs, numShards: SHARDS });
        const stored = this.#network.store(quilt, true);
        const { patches } = new Quilt(quilt, SHARDS);
        const ids = blobs.map(({ identifier }) => {
          const patch = patches.find((some) => some.identifier === identifier)!;
          return { id: Quilt.idOf(stored.blobId, patch), identifier, size: patch.bytes };
        });
        await this.#catalogue.database.write(() => {
          this.#catalogue.addStored(stored);
          markIndexed(this.#catalogue.database, SCOPE, stored.blobId);
          for (const patch of ids) {
            this.#catalogue.addPatch(SCOPE, stored.blobId, patch, stored.createdAt);
          }
        });
        for (const [n, { key }] of batch.entries()) this.#keys.set(key, ids[n]!.id);
        this.#network.failAfter();
        for (const [n, { done }] of batch.entries()) done.resolve(ids[n]!.id);
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
  }
}

interface World extends AsyncDisposable {
  readonly network: Network;
  readonly catalogue: Catalogue;
  readonly writer: Writer;
  readonly listing: Listing;
  readonly bytes: BlobBytes;
  readonly moves: MoveTeller;
  readonly upkeep: Upkeep;
  readonly notes: string[];
}

function open(own = true, now = () => 0): World {
  const dataDir = Deno.makeTempDirSync();
  const catalogue = new Catalogue({ dataDir, schema: [DISCOVERY_SCHEMA, UPKEEP_SCHEMA] });
  const network = new Network();
  const notes: string[] = [];
  const writer = new Writer(network, catalogue);
  const taken = (bytes: Uint8Array<ArrayBuffer> | undefined) =>
    Promise.resolve(bytes === undefined ? undefined : { bytes, proof: "agreed" as const });
  const aggregators: Pick<Aggregators, "blob" | "patch"> = {
    blob: (id) => taken(network.read(id)),
    patch: () => taken(undefined),
  };
  const prices = { storage: 11_000, write: 20_000 };
  const state = () => Promise.resolve({ epoch: network.epoch, shards: SHARDS, prices });
  const discovery = { look: () => Promise.resolve(), isOwn: () => own };
  const log = (_level: string, message: string) => void notes.push(message);
  const ground = { catalogue, state, now, log };
  const read = new BlobBytes({ ...ground, aggregators, keepMs: 0 });
  // Patches come from their quilts alone here.
  const bytes: BlobBytes = Object.assign(Object.create(read), {
    quilt: read.quilt.bind(read),
    standalone: read.standalone.bind(read),
    noteDigests: read.noteDigests.bind(read),
    async patch(_scope: Scope, { id, blobId }: { id: string; blobId: string }) {
      await Promise.resolve();
      const content = network.read(blobId);
      if (content === undefined || id === blobId) return content;
      const quilt = new Quilt(content, SHARDS);
      return quilt.content(quilt.patches.find((patch) => Quilt.idOf(blobId, patch) === id)!);
    },
  });
  const listing = new Listing({ ...ground, discovery, bytes });
  const moves = new MoveTeller(catalogue, () => {});
  const upkeep = new Upkeep({
    ...ground,
    writer,
    bytes,
    discovery,
    listing,
    moves,
    epochStart: () => Promise.resolve(0),
    epochs: EPOCHS,
    renewBefore: 1,
  });
  return {
    network,
    catalogue,
    writer,
    listing,
    bytes,
    moves,
    upkeep,
    notes,
    async [Symbol.asyncDispose]() {
      await catalogue.database.close();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

function content(number: number): Uint8Array {
  const bytes = new Uint8Array(40 + number % 300).fill(number);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

function put({ writer }: World, number: number): Promise<string> {
  return writer.put(content(number), { ...SCOPE, idempotencyKey: `job-${number}` });
}

async function read({ catalogue, bytes }: World, id: string): Promise<Uint8Array | undefined> {
  const present = presentId(catalogue, SCOPE, id);
  const patch = present === undefined ? undefined : catalogue.patch(SCOPE, present);
  return patch === undefined ? undefined : await bytes.patch(SCOPE, patch);
}

async function listed({ listing }: World): Promise<string[]> {
  return (await Array.fromAsync(listing.list(SCOPE))).map(({ blobId }) => blobId);
}

const remove = ({ catalogue, network }: World, id: string) =>
  deleteBlob(catalogue, SCOPE, id, { epoch: network.epoch, now: 0 });

/** Rounds until nothing is left to do. */
async function settle({ upkeep }: World): Promise<void> {
  while ((await upkeep.round()).more);
}

Deno.test("a quilt that ends is stored again under the same ids", async () => {
  await using world = open();
  const ids = await Promise.all([1, 2, 3].map((n) => put(world, n)));
  for (let n = 0; n < 12; n++) {
    world.network.epoch++;
    await settle(world);
    for (const [i, id] of ids.entries()) deepStrictEqual(await read(world, id), content(i + 1));
    deepStrictEqual((await listed(world)).length, 3);
  }
  strictEqual(world.network.writes, 5);
  strictEqual(world.network.contents.size, 1);
  deepStrictEqual(world.notes, []);
});

Deno.test("small quilts are merged, and their ids are told until somebody took note", async () => {
  await using world = open();
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) ids.push(await put(world, n));
  const told: BlobMove[] = [];
  let refusals = 2;
  using _watch = world.moves.watch((moves) => {
    if (refusals-- > 0) return Promise.reject(new Error("busy"));
    told.push(...moves);
    return Promise.resolve();
  });
  world.network.epoch += 3;
  await settle(world);
  strictEqual(world.network.writes, 13);
  deepStrictEqual(told, []);
  // Not acknowledged: still known under the earlier id.
  for (const id of ids) ok(world.catalogue.patch(SCOPE, id));
  await settle(world);
  await settle(world);
  deepStrictEqual(told.map(({ from }) => from).toSorted(), ids.toSorted());
  for (const id of ids) strictEqual(world.catalogue.patch(SCOPE, id), undefined);
  for (const { from, to } of told) {
    const number = ids.indexOf(from);
    deepStrictEqual(await read(world, from), content(number));
    deepStrictEqual(await read(world, to), content(number));
  }
  deepStrictEqual((await listed(world)).toSorted(), told.map(({ to }) => to).toSorted());
  // Until their quilts end.
  world.network.epoch++;
  await settle(world);
  for (const { from, to } of told) {
    strictEqual(await read(world, from), undefined);
    deepStrictEqual(await read(world, to), content(ids.indexOf(from)));
  }
  // An earlier process's moves are told to who comes later, once.
  deepStrictEqual(world.catalogue.untoldMoves(10), []);
});

Deno.test("what moves while it is listed is listed once, whenever that is", async () => {
  for (let at = 1; at <= 6; at++) {
    await using world = open();
    for (const quilt of [[1, 2], [3, 4], [5, 6]]) {
      await Promise.all(quilt.map((number) => put(world, number)));
    }
    using _watch = world.moves.watch(() => Promise.resolve());
    world.network.epoch += 3;
    const found: Uint8Array[] = [];
    for await (const { blobId } of world.listing.list(SCOPE)) {
      found.push((await read(world, blobId))!);
      if (found.length === at) await settle(world);
    }
    const numbers = found.map((bytes) => new DataView(bytes.buffer).getUint32(0));
    deepStrictEqual(numbers.toSorted(), [1, 2, 3, 4, 5, 6], `merged after ${at}`);
  }
});

Deno.test("deleted patches are neither read nor listed, and gone with their quilt", async () => {
  await using world = open();
  const [first, second] = await Promise.all([put(world, 1), put(world, 2)]);
  strictEqual(await remove(world, first), false);
  strictEqual(await read(world, first), undefined);
  deepStrictEqual(await listed(world), [second]);
  strictEqual(await remove(world, "unknown-blob"), true);
  world.network.epoch += 3;
  await settle(world);
  // In another quilt without it, while the old one lasts one epoch more.
  const moved = presentId(world.catalogue, SCOPE, second)!;
  ok(moved !== second);
  strictEqual(await remove(world, first), false);
  world.network.epoch++;
  await settle(world);
  strictEqual(await remove(world, first), true);
  strictEqual(world.catalogue.patch(SCOPE, first), undefined);
  deepStrictEqual(await listed(world), [moved]);
  const kept = world.network.read(world.network.objects.at(-1)!.blobId)!;
  deepStrictEqual(new Quilt(kept, SHARDS).patches.length, 1);
  // Deleting by the earlier id deletes what it became.
  strictEqual(await remove(world, second), false);
  deepStrictEqual(await listed(world), []);
  strictEqual(await read(world, moved), undefined);
});

Deno.test("the end of a deleted patch is that of its quilts, whatever becomes of the others", async () => {
  await using world = open();
  const { catalogue, network } = world;
  const [first, second] = await Promise.all([put(world, 1), put(world, 2)]);
  const { blobId } = catalogue.patch(SCOPE, first)!;
  const endOf = (id: string, own = true) => endEpochOf(catalogue, SCOPE, id, () => own);
  await remove(world, first);
  const end = endOf(first);
  ok(end !== undefined && end > network.epoch);
  while (network.epoch < end - 1) {
    network.epoch++;
    await settle(world);
    strictEqual(endOf(first), end);
    ok(network.read(blobId) !== undefined);
  }
  network.epoch++;
  await settle(world);
  strictEqual(network.read(blobId), undefined);
  deepStrictEqual(await read(world, second), content(2));
  // What moved is in two quilts; who deletes it by its first id hears of both.
  await remove(world, second);
  ok(endOf(second)! > end);
  strictEqual(endOf("unknown-blob"), undefined);
  strictEqual(endOf(second, false), undefined);
});

Deno.test("what was deleted while it was copied does not come back", async () => {
  await using world = open();
  const ids = [await put(world, 1), await put(world, 2)];
  await remove(world, await put(world, 3));
  world.network.epoch += 3;
  world.network.failAt = { writes: world.network.writes + 1, after: true };
  strictEqual((await world.upkeep.round()).failure?.code, "storage_unavailable");
  await remove(world, ids[0]!);
  await settle(world);
  strictEqual((await listed(world)).length, 1);
  strictEqual(await read(world, ids[0]!), undefined);
  deepStrictEqual(await read(world, ids[1]!), content(2));
});

Deno.test("others' blobs are left to them for a while of each epoch", async () => {
  let now = 0;
  await using world = open(false, () => now);
  const id = await put(world, 1);
  world.network.epoch += 3;
  await settle(world);
  strictEqual(world.network.writes, 1);
  now += 6 * 3_600_000;
  await settle(world);
  strictEqual(world.network.writes, 2);
  world.network.epoch++;
  deepStrictEqual(await read(world, id), content(1));
});

Deno.test("a quilt that nobody has at the moment is not given up", async () => {
  for (const own of [true, false]) {
    let now = 0;
    await using world = open(own, () => now);
    const ids = await Promise.all([1, 2, 3].map((n) => put(world, n)));
    // As on a machine that found it on chain, and has not read it yet.
    await world.catalogue.database.write(() => {
      world.catalogue.database.run("delete from indexed");
      world.catalogue.database.run("delete from patch");
    });
    world.network.away = true;
    await settle(world);
    world.network.epoch += 3;
    await settle(world);
    now += 6 * 3_600_000;
    await settle(world);
    strictEqual(world.network.writes, 1);
    world.network.away = false;
    await settle(world);
    strictEqual(world.network.writes, 2);
    world.network.epoch++;
    await settle(world);
    deepStrictEqual((await listed(world)).toSorted(), ids.toSorted());
    for (const [n, id] of ids.entries()) deepStrictEqual(await read(world, id), content(n + 1));
  }
});

Deno.test("a quilt that another one replaced is left, also where nobody has it", async () => {
  await using world = open();
  await put(world, 1);
  const [{ objectId, blobId }] = world.network.objects as [StoredBlob];
  await world.catalogue.database.write(() => {
    world.catalogue.database.run("delete from indexed");
    world.catalogue.addTombstone(SCOPE, blobId, 0);
  });
  world.network.away = true;
  await settle(world);
  strictEqual(world.catalogue.stored(objectId)?.state, "replaced");
});

Deno.test("a round stores no more than it may", async () => {
  await using world = open();
  // Too large to be merged.
  for (let n = 0; n < 20; n++) {
    await world.writer.put(new Uint8Array(3_000_000).fill(n), {
      ...SCOPE,
      idempotencyKey: `big-${n}`,
    });
  }
  world.network.epoch += 3;
  deepStrictEqual(await world.upkeep.round(), { again: 16, merged: 0, expired: 0, more: true });
  deepStrictEqual(await world.upkeep.round(), { again: 4, merged: 0, expired: 0, more: false });
});

type Event = "put" | "puts" | "delete" | "epoch" | "kill";

Deno.test("no live memory is ever lost, and no deleted one comes back", async () => {
  const events: fc.Arbitrary<Event[]> = fc.array(
    fc.constantFrom<Event>("put", "puts", "delete", "delete", "epoch", "epoch", "kill"),
    { minLength: 5, maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(events, fc.infiniteStream(fc.nat(1000)), async (plan, chance) => {
      await using world = open();
      const dice = () => chance.next().value!;
      const live = new Map<string, number>();
      const dead: string[] = [];
      let next = 1;
      // As the relayer's index does, which knows a memory by the id it was told of last.
      using _watch = world.moves.watch((moves) => {
        if (dice() % 3 === 0) return Promise.reject(new Error("busy"));
        for (const { from, to } of moves) {
          const number = live.get(from);
          if (number === undefined) continue;
          live.delete(from);
          live.set(to, number);
        }
        return Promise.resolve();
      });
      for (const event of plan) {
        if (event === "put") live.set(await put(world, next), next++);
        if (event === "puts") {
          const numbers = Array.from({ length: 1 + dice() % 9 }, () => next++);
          const ids = await Promise.all(numbers.map((number) => put(world, number)));
          for (const [n, id] of ids.entries()) live.set(id, numbers[n]!);
        }
        if (event === "delete" && live.size > 0) {
          const id = [...live.keys()][dice() % live.size]!;
          await remove(world, id);
          live.delete(id);
          dead.push(id);
        }
        if (event === "epoch") {
          world.network.epoch++;
          await settle(world);
        }
        if (event === "kill") {
          const writes = world.network.writes + 1 + dice() % 2;
          world.network.failAt = { writes, after: dice() % 2 === 0 };
          world.network.epoch++;
          await world.upkeep.round();
          world.network.failAt = undefined;
          await settle(world);
        }
        const ids = await listed(world);
        strictEqual(new Set(ids).size, ids.length);
        strictEqual(ids.length, live.size, `${event}: listed ${ids.length} of ${live.size}`);
        for (const [id, number] of live) {
          deepStrictEqual(await read(world, id), content(number), event);
          ok(ids.includes(presentId(world.catalogue, SCOPE, id)!));
        }
        for (const id of dead) strictEqual(await read(world, id), undefined);
      }
      deepStrictEqual(world.notes, []);
    }),
    { numRuns: 40 },
  );
});

Deno.test("a patch that cannot be read now keeps its quilt, and nothing else, from moving on", async () => {
  await using world = open();
  const ids = await Promise.all([1, 2, 3, 4].map((n) => put(world, n)));
  await remove(world, ids[3]!);
  const patch = world.bytes.patch.bind(world.bytes);
  let broken = true;
  Object.assign(world.bytes, {
    patch: (...args: Parameters<BlobBytes["patch"]>) =>
      broken && args[1].id === ids[1]
        ? Promise.reject(new SvcError("storage_unavailable"))
        : patch(...args),
  });
  world.network.epoch += 3;
  strictEqual((await world.upkeep.round()).failure?.code, "storage_unavailable");
  strictEqual((await listed(world)).length, 3);
  for (const [n, id] of ids.slice(0, 3).entries()) {
    broken = false;
    deepStrictEqual(await read(world, id), content(n + 1));
  }
  ok(presentId(world.catalogue, SCOPE, ids[0]!) !== ids[0]);
  strictEqual(presentId(world.catalogue, SCOPE, ids[1]!), ids[1]);
  await settle(world);
  world.network.epoch++;
  await settle(world);
  strictEqual((await listed(world)).length, 3);
  for (const [n, id] of ids.slice(0, 3).entries()) {
    deepStrictEqual(await read(world, id), content(n + 1));
  }
});

Deno.test("bytes whose object a node no longer lists are not said to be gone", async () => {
  await using world = open();
  const id = await put(world, 1);
  const [object] = world.network.objects;
  await world.catalogue.database.write(() => world.catalogue.setState(object!.objectId, "gone"));
  strictEqual(await remove(world, id), false);
  strictEqual(world.catalogue.isDeleted(SCOPE, id), true);
});
