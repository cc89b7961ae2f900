import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Devnet, startDevnet } from "../../../../devnet/mod.ts";
import type { Fault } from "../../../../devnet/faults.ts";
import { WalrusBlobStore } from "../../../../plugins/sui/walrus/blob_store.ts";
import { type Clock, SYSTEM_CLOCK } from "../../../../plugins/sui/walrus/clock.ts";
import type { BlobMove, Scope } from "../../../../src/interfaces/mod.ts";
import { clientOf, keypair } from "../../../devnet/devnet_fixture.ts";

const SCOPE: Scope = { owner: keypair(9).toSuiAddress(), namespace: "notes" };
const OTHER: Scope = { ...SCOPE, namespace: "other" };
const EPOCHS = 3;
const text = (n: number) => `memory ${n} ${"x".repeat(n * 3 % 50)}`;

/** Relayers on one devnet, each with a folder of its own. */
class Machines implements AsyncDisposable {
  readonly devnet: Devnet;
  readonly #root: string;
  readonly #open = new Map<string, WalrusBlobStore>();
  /** Minutes that passed for the relayers, so that they ask for the epoch again. */
  #minutes = 0;

  constructor(devnet: Devnet, root: string) {
    this.devnet = devnet;
    this.#root = root;
  }

  static async start(): Promise<Machines> {
    return new Machines(await startDevnet({ shards: 40, keyServers: 1 }), await Deno.makeTempDir());
  }

  /** The store of a machine; payer `0` to `2` is its wallet. */
  store(name: string, payer = 0): WalrusBlobStore {
    const clock: Clock = {
      now: () => Date.now() + this.#minutes * 60_000,
      after: SYSTEM_CLOCK.after,
    };
    const { devnet } = this;
    const { walrus } = devnet;
    return this.#open.getOrInsertComputed(name, () =>
      new WalrusBlobStore({
        dataDir: `${this.#root}/${name}`,
        sui: clientOf(devnet),
        objects: { systemObjectId: walrus.systemId, stakingPoolId: walrus.stakingId },
        route: { kind: "relay", url: walrus.uploadRelayUrl },
        aggregatorUrls: walrus.aggregatorUrls,
        privateKeys: devnet.wallets.payers[payer]!.getSecretKey(),
        packageId: devnet.packageId,
        writers: devnet.wallets.payers.map((wallet) => wallet.toSuiAddress()),
        epochs: EPOCHS,
        renewBefore: 1,
        raceAfterMs: 20,
        batchMs: 5,
        keepMs: 0,
        clock,
      }));
  }

  /** Begins further epochs of Walrus. */
  advance(epochs: number): void {
    for (let n = 0; n < epochs; n++) this.devnet.walrus.advanceEpoch();
    this.#minutes += 2;
  }

  /** A relayer's longer wait: that of others' blobs in an epoch. */
  wait(): void {
    this.#minutes += 6 * 60;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#open.values()) await store[Symbol.asyncDispose]();
    await this.devnet[Symbol.asyncDispose]();
    await Deno.remove(this.#root, { recursive: true });
  }
}

function put(store: WalrusBlobStore, n: number, scope = SCOPE): Promise<string> {
  const bytes = new TextEncoder().encode(text(n));
  return store.put(bytes, { ...scope, idempotencyKey: `job-${scope.namespace}-${n}` });
}

async function read(store: WalrusBlobStore, id: string): Promise<string | undefined> {
  const bytes = await store.get(id, SCOPE);
  return bytes && new TextDecoder().decode(bytes);
}

async function texts(store: WalrusBlobStore): Promise<string[]> {
  const found: string[] = [];
  for await (const { blobId } of store.list(SCOPE)) found.push((await read(store, blobId))!);
  return found.toSorted();
}

const wanted = (...numbers: number[]) => numbers.map(text).toSorted();

Deno.test("a fresh machine lists and reads everything from the chain, in pages", async () => {
  await using machines = await Machines.start();
  const first = machines.store("first");
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  const ids = await Promise.all(numbers.map((n) => put(first, n)));
  await put(first, 1, OTHER);
  const fresh = machines.store("fresh", 1);
  const pages = () => machines.devnet.calls.get("chain/ListOwnedObjects") ?? 0;
  deepStrictEqual(await texts(fresh), wanted(...numbers));
  deepStrictEqual((await Array.fromAsync(fresh.list(OTHER))).length, 1);
  const before = new Map(machines.devnet.calls);
  const at = pages();
  deepStrictEqual((await Array.fromAsync(fresh.list(SCOPE))).length, 60);
  strictEqual(pages() - at, 1);
  for (const name of ["aggregator:0", "aggregator:1", "chain/BatchGetTransactions"]) {
    strictEqual(machines.devnet.calls.get(name), before.get(name), name);
  }
  // By id alone, on a machine that never listed.
  strictEqual(await read(machines.store("third"), ids[7]!), text(7));
});

Deno.test("more blobs than a page holds are found, each by itself", async () => {
  await using machines = await Machines.start();
  const first = machines.store("first");
  const ids = await Promise.all(
    Array.from({ length: 120 }, (_, n) =>
      first.put(new TextEncoder().encode(text(n)), {
        ...SCOPE,
        idempotencyKey: `alone-${n}`,
        standalone: true,
      })),
  );
  const before = new Map(machines.devnet.calls);
  const fresh = machines.store("fresh", 1);
  const found = (await Array.fromAsync(fresh.list(SCOPE))).map(({ blobId }) => blobId);
  deepStrictEqual(found.toSorted(), ids.toSorted());
  const calls = (name: string) => (machines.devnet.calls.get(name) ?? 0) - (before.get(name) ?? 0);
  strictEqual(calls("chain/ListOwnedObjects"), 3);
  strictEqual(calls("chain/BatchGetTransactions"), 3);
  strictEqual(calls("aggregator:0") + calls("aggregator:1"), 0);
  strictEqual(await read(fresh, ids[100]!), text(100));
});

Deno.test("one aggregator that is down, slow, hanging or lying keeps nothing from being read", async () => {
  await using machines = await Machines.start();
  const first = machines.store("first");
  await Promise.all([1, 2, 3, 4, 5].map((n) => put(first, n)));
  const faults: Fault[] = [
    { kind: "down" },
    { kind: "hang" },
    { kind: "slow", ms: 200 },
    { kind: "status", status: 404 },
    { kind: "status", status: 429, retryAfter: 1 },
    { kind: "status", status: 500 },
  ];
  for (const [n, fault] of faults.entries()) {
    machines.devnet.faults.set("aggregator:0", fault);
    deepStrictEqual(await texts(machines.store(`fault-${n}`)), wanted(1, 2, 3, 4, 5));
  }
  // It lies: there is nobody else to agree with, and the blob id tells.
  machines.devnet.faults.set("aggregator:0", { kind: "wrong" });
  deepStrictEqual(await texts(machines.store("lied")), wanted(1, 2, 3, 4, 5));
  machines.devnet.faults.set("aggregator:0", undefined);
  // A cache before it goes on to say that a new quilt is not there.
  for (const aggregator of machines.devnet.walrus.aggregators) {
    aggregator.freshMisses = { reads: 1 };
  }
  await put(first, 6);
  deepStrictEqual(await texts(machines.store("early")), wanted(1, 2, 3, 4, 5, 6));
});

Deno.test("what ends is renewed and merged; ids that moved are told, and work", async () => {
  await using machines = await Machines.start();
  const first = machines.store("first");
  const ids: string[] = [];
  // One quilt each.
  for (let n = 0; n < 5; n++) ids.push(await put(first, n));
  const moves: BlobMove[] = [];
  using _watch = first.watchMoves((told) => {
    moves.push(...told);
    return Promise.resolve();
  });
  strictEqual(await first.delete(ids[4]!, SCOPE), false);
  machines.advance(EPOCHS - 1);
  await first.maintain();
  deepStrictEqual(moves.map(({ from }) => from).toSorted(), ids.slice(0, 4).toSorted());
  for (const { from, to } of moves) {
    const n = ids.indexOf(from);
    strictEqual(await read(first, from), text(n));
    strictEqual(await read(first, to), text(n));
  }
  machines.advance(1);
  await first.maintain();
  strictEqual(await first.delete(ids[4]!, SCOPE), true);
  // The same key is answered what became of the id that ended.
  deepStrictEqual(await put(first, 0), moves.find(({ from }) => from === ids[0])!.to);
  for (const name of ["first", "fresh"]) {
    deepStrictEqual(await texts(machines.store(name)), wanted(0, 1, 2, 3));
  }
  // From one merged quilt to the next, it is stored again as it is.
  for (let n = 0; n < 2 * EPOCHS; n++) {
    machines.advance(1);
    await first.maintain();
  }
  strictEqual(moves.length, 4);
  deepStrictEqual(await texts(machines.store("later")), wanted(0, 1, 2, 3));
});

Deno.test("another machine sees neither deleted nor replaced patches once a quilt told of them", async () => {
  await using machines = await Machines.start();
  const first = machines.store("first");
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.push(await put(first, n));
  await first.delete(ids[0]!, SCOPE);
  machines.advance(EPOCHS - 1);
  await first.maintain();
  await put(first, 7);
  // The old quilts still last one epoch.
  deepStrictEqual(await texts(machines.store("fresh")), wanted(1, 2, 3, 7));
});

Deno.test("a blob that is stored again after its deletion was told is found elsewhere", async () => {
  await using machines = await Machines.start();
  const first = machines.store("first");
  const bytes = new TextEncoder().encode(text(1));
  const alone = (idempotencyKey: string) =>
    first.put(bytes, { ...SCOPE, idempotencyKey, standalone: true });
  const id = await alone("once");
  await first.delete(id, SCOPE);
  await put(first, 2);
  const told = machines.store("told");
  deepStrictEqual(await texts(told), wanted(2));
  strictEqual(await alone("again"), id);
  for (const store of [first, told, machines.store("fresh", 1)]) {
    deepStrictEqual(await texts(store), wanted(1, 2));
  }
});

Deno.test("a machine takes over what another one no longer renews", async () => {
  await using machines = await Machines.start();
  const gone = machines.store("gone");
  for (let n = 0; n < 3; n++) await put(gone, n);
  await gone[Symbol.asyncDispose]();
  const heir = machines.store("heir", 1);
  deepStrictEqual(await texts(heir), wanted(0, 1, 2));
  machines.advance(EPOCHS - 1);
  const objects = () => machines.devnet.calls.get("relay") ?? 0;
  const before = objects();
  await heir.maintain();
  // Its own relayer comes first.
  strictEqual(objects(), before);
  machines.wait();
  await heir.maintain();
  ok(objects() > before);
  machines.advance(1);
  deepStrictEqual(await texts(heir), wanted(0, 1, 2));
  deepStrictEqual(await texts(machines.store("fresh", 2)), wanted(0, 1, 2));
});

Deno.test("a machine that starts late in an epoch renews what is due at once", async () => {
  await using machines = await Machines.start();
  const gone = machines.store("gone");
  await put(gone, 0);
  await gone[Symbol.asyncDispose]();
  machines.advance(EPOCHS - 1);
  machines.wait();
  const heir = machines.store("heir", 1);
  deepStrictEqual(await texts(heir), wanted(0));
  await heir.maintain();
  machines.advance(1);
  deepStrictEqual(await texts(heir), wanted(0));
});

Deno.test("a blob that a client stored by itself is read, and belongs to no scope", async () => {
  await using machines = await Machines.start();
  const store = machines.store("a");
  const bytes = new TextEncoder().encode("sealed by the client");
  const { publisherUrl } = machines.devnet.walrus;
  const answer = await fetch(`${publisherUrl}/v1/blobs?epochs=2`, { method: "PUT", body: bytes });
  const { newlyCreated } = await answer.json();
  const { blobId } = newlyCreated.blobObject;
  strictEqual(await store.get(blobId, SCOPE), undefined);
  deepStrictEqual(new Uint8Array((await store.getForeign(blobId))!), bytes);
  strictEqual(await store.getForeign("A".repeat(43)), undefined);
  strictEqual(await store.getForeign("../../health"), undefined);
});
