import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { Transaction } from "@mysten/sui/transactions";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { Catalogue } from "../../../../plugins/sui/walrus/catalogue.ts";
import { SYSTEM_CLOCK } from "../../../../plugins/sui/walrus/clock.ts";
import { openParts } from "../../../../plugins/sui/walrus/parts.ts";
import { Encoder } from "../../../../plugins/sui/walrus/upload/encoder.ts";
import {
  blobsOf,
  hastyClock,
  optionsOn,
  tombstonesOf,
  walHeld,
  WalrusStage,
} from "./walrus_for_tests.ts";

const OWNER = `0x${"c".repeat(64)}`;
const WORK = { owner: OWNER, namespace: "work" };

const bytesOf = (n: number): Uint8Array => new Uint8Array(100).fill(n);

Deno.test("blobs of several scopes are paid in two transactions, and found by their attributes", async () => {
  await using stage = await WalrusStage.start();
  const { devnet } = stage;
  const names: string[] = [];
  await using store = stage.open({ failpoint: (name) => void names.push(name) });
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      store.put(bytesOf(n), {
        owner: OWNER,
        namespace: `n${n % 4}`,
        idempotencyKey: `job-${n}`,
      })),
  );
  for (const id of ids) match(id, /^[A-Za-z0-9_-]{50}$/);
  strictEqual(new Set(ids.map((id) => id.slice(0, 42))).size, 4);
  strictEqual(blobsOf(devnet, OWNER), 4);
  strictEqual(names.filter((name) => name === "register executed").length, 1);
  strictEqual(names.filter((name) => name === "finish executed").length, 1);
  const [url = ""] = devnet.walrus.aggregatorUrls;
  const response = await fetch(`${url}/v1/blobs/by-quilt-patch-id/${ids[7]}`);
  deepStrictEqual(await response.bytes(), bytesOf(7));
  const fresh = await Deno.makeTempDir();
  {
    await using elsewhere = stage.open({ dataDir: fresh });
    const found = await Array.fromAsync(elsewhere.list({ owner: OWNER, namespace: "n3" }));
    deepStrictEqual(
      new Set(found.map(({ blobId }) => blobId)),
      new Set([ids[3], ids[7], ids[11]]),
    );
  }
  await Deno.remove(fresh, { recursive: true });
});

Deno.test("a relay that takes tips is paid one in each registration", async () => {
  await using stage = await WalrusStage.start({ tips: true });
  ok(stage.devnet.walrus.relay.tip);
  const names: string[] = [];
  await using store = stage.open({ failpoint: (name) => void names.push(name) });
  await Promise.all(
    [1, 2, 3].map((n) =>
      store.put(bytesOf(n), { owner: OWNER, namespace: `n${n}`, idempotencyKey: "job" })
    ),
  );
  strictEqual(blobsOf(stage.devnet, OWNER), 3);
  strictEqual(names.filter((name) => name === "register executed").length, 3);
});

Deno.test("a standalone blob has its blob id, and is read under it byte for byte", async () => {
  await using stage = await WalrusStage.start();
  await using store = stage.open();
  const id = await store.put(bytesOf(1), { ...WORK, idempotencyKey: "job", standalone: true });
  match(id, /^[A-Za-z0-9_-]{43}$/);
  const [url = ""] = stage.devnet.walrus.aggregatorUrls;
  deepStrictEqual(await (await fetch(`${url}/v1/blobs/${id}`)).bytes(), bytesOf(1));
});

Deno.test("equal bytes in two scopes are two blobs of their own", async () => {
  await using stage = await WalrusStage.start();
  await using store = stage.open();
  const ids = await Promise.all(
    ["a", "b"].map((namespace) =>
      store.put(bytesOf(1), { owner: OWNER, namespace, idempotencyKey: "job", standalone: true })
    ),
  );
  strictEqual(ids[0], ids[1]);
  strictEqual(blobsOf(stage.devnet, OWNER), 2);
  for (const namespace of ["a", "b"]) {
    deepStrictEqual(await store.get(ids[0]!, { owner: OWNER, namespace }), bytesOf(1));
  }
});

Deno.test("what waits when a store is closed is stored by the next one", async () => {
  await using stage = await WalrusStage.start();
  const first = stage.open({ batchMs: 60_000 });
  const put = first.put(bytesOf(1), { ...WORK, idempotencyKey: "job" });
  const ended = put.catch((error) => error.code);
  await first.delete("unknown", WORK);
  await first[Symbol.asyncDispose]();
  strictEqual(await ended, "storage_unavailable");
  strictEqual(blobsOf(stage.devnet, OWNER), 0);
  await using store = stage.open();
  match(await store.put(bytesOf(1), { ...WORK, idempotencyKey: "job" }), /^[\w-]{50}$/);
  strictEqual(blobsOf(stage.devnet, OWNER), 1);
});

Deno.test("a deletion is told by the next quilt of its scope", async () => {
  await using stage = await WalrusStage.start();
  const gone = await (async () => {
    await using store = stage.open();
    const id = await store.put(bytesOf(1), { ...WORK, idempotencyKey: "job-1" });
    strictEqual(await store.delete(id, WORK), false);
    strictEqual(await store.get(id, WORK), undefined);
    await store.put(bytesOf(2), { ...WORK, idempotencyKey: "job-2" });
    return id;
  })();
  const catalogue = new Catalogue({ dataDir: stage.dataDir });
  const [tombstone] = tombstonesOf(catalogue, WORK);
  strictEqual(tombstone?.id, gone);
  match(tombstone?.quilt ?? "", /^[\w-]{43}$/);
  await catalogue.database.close();
  const fresh = await Deno.makeTempDir();
  {
    await using elsewhere = stage.open({ dataDir: fresh });
    const ids = (await Array.fromAsync(elsewhere.list(WORK))).map(({ blobId }) => blobId);
    strictEqual(ids.length, 1);
    ok(!ids.includes(gone));
  }
  await Deno.remove(fresh, { recursive: true });
});

Deno.test("a transaction whose coins were spent elsewhere is built again and paid once", async () => {
  await using stage = await WalrusStage.start();
  const { devnet } = stage;
  const key = devnet.settings().SVC_SUI_PRIVATE_KEYS!.split(",")[0]!;
  const payer = devnet.wallets.payers[0]!;
  await using reference = stage.open({ privateKeys: key });
  const held = walHeld(devnet);
  await reference.put(bytesOf(1), { ...WORK, idempotencyKey: "reference" });
  const cost = held - walHeld(devnet);
  await reference[Symbol.asyncDispose]();

  devnet.faults.set("chain", { kind: "down", only: "ExecuteTransaction" });
  let signed = (): void => {};
  const isSigned = new Promise<void>((resolve) => signed = resolve);
  const first = stage.open({
    privateKeys: key,
    failpoint: (name) => name === "register signed" ? signed() : undefined,
  });
  const before = walHeld(devnet);
  const job = { ...WORK, idempotencyKey: "job" };
  const cut = first.put(bytesOf(2), job).catch((error) => error.code);
  await isSigned;
  await first[Symbol.asyncDispose]();
  strictEqual(await cut, "storage_unavailable");

  devnet.faults.set("chain", undefined);
  const transaction = new Transaction();
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [1])], OWNER);
  const client = openSui({ network: "localnet", url: devnet.rpcUrl });
  await payer.signAndExecuteTransaction({ transaction, client });

  await using store = stage.open({ privateKeys: key, clock: hastyClock() });
  match(await store.put(bytesOf(2), job), /^[\w-]{50}$/);
  strictEqual(before - walHeld(devnet), cost);
  strictEqual(blobsOf(devnet, OWNER), 2);
});

Deno.test("a file that was cut off is made again, and what nothing needs is removed", async () => {
  await using stage = await WalrusStage.start();
  const { devnet, dataDir } = stage;
  devnet.faults.set("relay", { kind: "down", only: "POST" });
  let registered = (): void => {};
  const isRegistered = new Promise<void>((resolve) => registered = resolve);
  const first = stage.open({
    failpoint: (name) => name === "registered" ? registered() : undefined,
  });
  const job = { ...WORK, idempotencyKey: "job" };
  const put = first.put(bytesOf(1), job).catch((error) => error.code);
  await isRegistered;
  await first[Symbol.asyncDispose]();
  strictEqual(await put, "storage_unavailable");
  for await (const { name } of Deno.readDir(`${dataDir}/walrus`)) {
    await Deno.truncate(`${dataDir}/walrus/${name}`, 7);
  }
  for (const name of ["99.blob", "99.blob.part"]) {
    await Deno.writeFile(`${dataDir}/walrus/${name}`, bytesOf(1));
  }
  devnet.faults.set("relay", undefined);
  await using store = stage.open();
  const id = await store.put(bytesOf(1), job);
  deepStrictEqual(await store.get(id, WORK), bytesOf(1));
  strictEqual(blobsOf(devnet, OWNER), 1);
  await store.drain();
  await store[Symbol.asyncDispose]();
  deepStrictEqual(await Array.fromAsync(Deno.readDir(`${dataDir}/walrus`)), []);
});

Deno.test("2,000 puts wait at the same time", async () => {
  await using stage = await WalrusStage.start({ shards: 100 });
  // As long as it may take until the last of them is on the disk.
  await using store = stage.open({ batchMs: 3000 });
  const ids = await Promise.all(
    Array.from({ length: 2000 }, (_, n) =>
      store.put(new Uint8Array(new Uint32Array([n]).buffer), {
        ...WORK,
        idempotencyKey: `job-${n}`,
      })),
  );
  strictEqual(new Set(ids).size, 2000);
  strictEqual(blobsOf(stage.devnet, OWNER), Math.ceil(2000 / 65));
});

Deno.test("a blob is stored once more under its id, once for a key", async () => {
  await using stage = await WalrusStage.start();
  const { devnet } = stage;
  const bytes = bytesOf(1);
  const { uploads, catalogue } = openParts(optionsOn(devnet, { dataDir: stage.dataDir }));
  const blobId = await uploads.put(bytes, { ...WORK, idempotencyKey: "job", standalone: true });
  const again = { ...WORK, blobId, bytes, quilt: false, key: "again" };
  const first = await uploads.storeAgain(again);
  strictEqual(first.blobId, blobId);
  deepStrictEqual((await uploads.storeAgain(again)).objectId, first.objectId);
  strictEqual(blobsOf(devnet, OWNER), 2);
  await uploads.close();
  await catalogue.database.close();
});

Deno.test("what waits is withdrawn by its key, and is then neither paid nor stored", async () => {
  await using stage = await WalrusStage.start();
  const held = walHeld(stage.devnet);
  await using store = stage.open({ batchMs: 60_000 });
  const job = { ...WORK, idempotencyKey: "job" };
  const put = store.put(bytesOf(1), job).catch((error) => error.code);
  strictEqual(await store.withdraw("job", { ...WORK, namespace: "home" }), false);
  strictEqual(await store.withdraw("job", WORK), true);
  strictEqual(await put, "storage_unavailable");
  strictEqual(await store.withdraw("job", WORK), false);
  await store.drain();
  strictEqual(walHeld(stage.devnet), held);
  const again = store.put(bytesOf(1), job);
  const other = store.put(bytesOf(2), { ...WORK, idempotencyKey: "other" });
  await store.drain();
  strictEqual(new Set(await Promise.all([again, other])).size, 2);
  strictEqual(await store.withdraw("job", WORK), false);
  strictEqual(blobsOf(stage.devnet, OWNER), 1);
});

Deno.test("equal bytes of two scopes by a publisher are two objects, also when both are found", async () => {
  await using stage = await WalrusStage.start();
  stage.devnet.faults.set("publisher", { kind: "lost", times: 2 });
  await using store = stage.open({ via: "publisher", clock: hastyClock() });
  await Promise.all(
    ["a", "b"].map((namespace) =>
      store.put(bytesOf(1), { owner: OWNER, namespace, idempotencyKey: "job", standalone: true })
    ),
  );
  strictEqual(blobsOf(stage.devnet, OWNER), 2);
});

Deno.test("an encoder that was closed starts no worker", async () => {
  const encoder = new Encoder(SYSTEM_CLOCK);
  encoder.close();
  await rejects(encoder.encode({ shards: 10, blob: bytesOf(1) }), { code: "storage_unavailable" });
});

Deno.test("what is withdrawn while it is packed leaves no blob behind", async () => {
  await using stage = await WalrusStage.start();
  await using store = stage.open({ batchMs: 0 });
  const puts = ["a", "b"].map((idempotencyKey) =>
    store.put(bytesOf(1), { ...WORK, idempotencyKey, standalone: true }).catch((e) => e.code)
  );
  const [a, b] = await Promise.all(["a", "b"].map((key) => store.withdraw(key, WORK)));
  await store.drain();
  const answers = await Promise.all(puts);
  deepStrictEqual(answers.map((answer) => answer === "storage_unavailable"), [a, b]);
  strictEqual(blobsOf(stage.devnet, OWNER), [a, b].filter((withdrawn) => !withdrawn).length);
});
