import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { Transaction } from "@mysten/sui/transactions";
import type { Fault } from "../../../../devnet/mod.ts";
import type { WalrusBlobStore } from "../../../../plugins/sui/walrus/blob_store.ts";
import { type Clock, SYSTEM_CLOCK } from "../../../../plugins/sui/walrus/clock.ts";
import {
  blobsOf,
  type Changes,
  hastyClock,
  optionsOn,
  walHeld,
  WalrusStage,
} from "./walrus_for_tests.ts";
import { poll } from "../../../within.ts";

let owners = 0;
const newOwner = (): string => `0x${(++owners).toString(16).padStart(64, "b")}`;

function putTwo(store: WalrusBlobStore, owner: string): Promise<string[]> {
  return Promise.all([1, 2].map((n) =>
    store.put(new Uint8Array(100).fill(n), {
      owner,
      namespace: "work",
      idempotencyKey: `job-${n}`,
    })
  ));
}

const open = (stage: WalrusStage, changes: Changes = {}): WalrusBlobStore =>
  stage.open({ clock: hastyClock(), patienceMs: 60 * 60_000, ...changes });

const CASES: Readonly<Record<"relay" | "publisher", readonly (readonly [string, Fault])[]>> = {
  relay: [
    ["chain", { kind: "down", times: 9 }],
    ["chain", { kind: "status", status: 503, times: 5 }],
    ["chain", { kind: "slow", ms: 30, times: 20 }],
    ["chain", { kind: "lost", times: 2, only: "ExecuteTransaction" }],
    ["chain", { kind: "down", times: 2, only: "GetTransaction" }],
    ["relay", { kind: "down", times: 4 }],
    ["relay", { kind: "status", status: 429, retryAfter: 2, times: 3 }],
    ["relay", { kind: "lost", times: 3 }],
    ["relay", { kind: "wrong", times: 3 }],
  ],
  publisher: [
    ["publisher", { kind: "down", times: 2 }],
    ["publisher", { kind: "status", status: 429, times: 2 }],
    ["publisher", { kind: "lost", times: 1 }],
    ["publisher", { kind: "wrong", times: 1 }],
    ["chain", { kind: "lost", times: 1, only: "ExecuteTransaction" }],
  ],
};

for (const via of ["relay", "publisher"] as const) {
  Deno.test(`what fails for a while is paid and stored once, by a ${via}`, async (t) => {
    await using stage = await WalrusStage.start();
    const { devnet } = stage;
    await using store = open(stage, { via });
    const held = walHeld(devnet);
    await putTwo(store, newOwner());
    const cost = held - walHeld(devnet);
    for (const [endpoint, fault] of CASES[via]) {
      const { kind, only = "" } = fault;
      await t.step(`${endpoint} ${kind} ${only}`, async () => {
        const owner = newOwner();
        const before = walHeld(devnet);
        devnet.faults.set(endpoint, fault);
        const ids = await putTwo(store, owner);
        devnet.faults.set(endpoint, undefined);
        strictEqual(before - walHeld(devnet), cost);
        strictEqual(blobsOf(devnet, owner), 1);
        deepStrictEqual(
          await store.get(ids[1]!, { owner, namespace: "work" }),
          new Uint8Array(100).fill(2),
        );
        deepStrictEqual(store.health().status, "ok");
      });
    }
  });
}

Deno.test("a put whose patience ends leaves its item, which is stored when the relay is back", async () => {
  await using stage = await WalrusStage.start();
  const owner = newOwner();
  stage.devnet.faults.set("relay", { kind: "down" });
  await using store = open(stage, { patienceMs: 10 * 60_000 });
  await rejects(putTwo(store, owner), (error: Error & { code?: string; retryable?: boolean }) => {
    match(error.message, /upload relay/);
    return error.code === "storage_unavailable" && error.retryable === true;
  });
  strictEqual(store.health().status, "down");
  stage.devnet.faults.set("relay", undefined);
  await store.drain();
  strictEqual(blobsOf(stage.devnet, owner), 1);
  strictEqual(store.health().status, "ok");
  strictEqual(new Set(await putTwo(store, owner)).size, 2);
  strictEqual(blobsOf(stage.devnet, owner), 1);
});

for (
  const [via, at] of [
    ["publisher", "publisher answered"],
    ["publisher", "uploaded"],
    ["publisher", "finish executed"],
    ["relay", "uploaded"],
    ["relay", "finish executed"],
  ] as const
) {
  Deno.test(`a blob whose space ended after "${at}" by a ${via} is stored anew`, async () => {
    await using stage = await WalrusStage.start();
    const { devnet } = stage;
    const owner = newOwner();
    const clock = hastyClock();
    const reached = Promise.withResolvers<void>();
    const failpoint = (name: string) => {
      if (name !== at) return;
      devnet.faults.set("chain", { kind: "down" });
      reached.resolve();
      throw new Error("killed here");
    };
    const first = open(stage, { via, clock, failpoint });
    const put = putTwo(first, owner);
    put.catch(() => {});
    await reached.promise;
    await first[Symbol.asyncDispose]();
    for (let n = 0; n < 3; n++) devnet.walrus.advanceEpoch();
    devnet.faults.set("chain", undefined);
    await using second = open(stage, { via, clock });
    const ids = await putTwo(second, owner);
    const found = await Array.fromAsync(second.list({ owner, namespace: "work" }));
    deepStrictEqual(found.map(({ blobId }) => blobId).toSorted(), ids.toSorted());
  });
}

Deno.test("a put aborted once it is kept leaves its item, which is stored all the same", async () => {
  await using stage = await WalrusStage.start();
  const owner = newOwner();
  const stop = new AbortController();
  const reason = new Error("stop");
  await using store = open(stage, {
    failpoint: (name) => name === "item" ? stop.abort(reason) : undefined,
  });
  const options = { owner, namespace: "work", idempotencyKey: "job", signal: stop.signal };
  await rejects(store.put(Uint8Array.of(1), options), (error) => error === reason);
  await store.drain();
  strictEqual(blobsOf(stage.devnet, owner), 1);
});

Deno.test("a put aborted before it is kept leaves nothing", async () => {
  await using stage = await WalrusStage.start();
  const owner = newOwner();
  await using store = open(stage);
  const stop = new AbortController();
  const reason = new Error("stop");
  const options = { owner, namespace: "work", idempotencyKey: "job", signal: stop.signal };
  const put = store.put(Uint8Array.of(1), options);
  // In the same turn of the event loop: the write has not begun.
  stop.abort(reason);
  await rejects(put, (error) => error === reason);
  await store.drain();
  strictEqual(blobsOf(stage.devnet, owner), 0);
});

Deno.test("wallets without WAL are said to be so, and pay once they can", async () => {
  await using stage = await WalrusStage.start();
  const { devnet } = stage;
  const owner = newOwner();
  const poor = "22".repeat(32);
  await using store = open(stage, { privateKeys: poor });
  const put = putTwo(store, owner);
  const { parseWallets } = await import("../../../../plugins/sui/walrus/upload/wallets.ts");
  const address = parseWallets(poor)[0]!.toSuiAddress();
  await poll(() => store.health().status, (status) => status === "down");
  match(store.health().reason ?? "", /too little SUI or WAL/);
  await devnet.fund(address);
  strictEqual((await put).length, 2);
  strictEqual(blobsOf(devnet, owner), 1);
});

Deno.test("a chain that is down before anything is cut is told of, and asked less and less", async () => {
  await using stage = await WalrusStage.start();
  const { devnet } = stage;
  const owner = newOwner();
  const lines: string[] = [];
  devnet.faults.set("chain", { kind: "down" });
  await using store = open(stage, { log: (_, message) => void lines.push(message) });
  const put = putTwo(store, owner);
  await poll(() => store.health().status, (status) => status === "down");
  match(store.health().reason ?? "", /the chain does not answer/);
  deepStrictEqual(lines, ["walrus: the chain does not answer; blobs wait"]);
  devnet.faults.set("chain", undefined);
  strictEqual((await put).length, 2);
  strictEqual(store.health().status, "ok");
});

Deno.test("a wallet that cannot pay for certifying is left alone for a minute", async () => {
  await using stage = await WalrusStage.start();
  const { devnet } = stage;
  const owner = newOwner();
  const payer = devnet.wallets.payers[0]!;
  const key = devnet.settings().SVC_SUI_PRIVATE_KEYS!.split(",")[0]!;
  // Long pauses last until the test ends them.
  const paused = new Map<() => void, number>();
  const clock: Clock = {
    now: () => Date.now(),
    after(ms, callback) {
      if (ms < 10_000) return SYSTEM_CLOCK.after(ms, callback);
      paused.set(callback, ms);
      return () => void paused.delete(callback);
    },
  };
  devnet.faults.set("relay", { kind: "down", only: "POST" });
  let registered = (): void => {};
  const isRegistered = new Promise<void>((resolve) => registered = resolve);
  await using store = stage.open({
    privateKeys: key,
    clock,
    failpoint: (name) => name === "registered" ? registered() : undefined,
  });
  const put = putTwo(store, owner);
  await isRegistered;
  const transaction = new Transaction();
  const { sui } = optionsOn(devnet, { dataDir: stage.dataDir });
  const { balance } = await sui.core.getBalance({ owner: payer.toSuiAddress() });
  const rest = BigInt(balance.balance) - 40_000_000n;
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [rest])], owner);
  await payer.signAndExecuteTransaction({ transaction, client: sui });
  devnet.faults.set("chain", { kind: "down", only: "SimulateTransaction" });
  devnet.faults.set("relay", undefined);
  const isMinute = ([, ms]: [() => void, number]) => ms > 50_000 && ms <= 60_000;
  await poll(() => [...paused].some(isMinute), Boolean);
  match(store.health().reason ?? "", /too little SUI or WAL/);
  devnet.faults.set("chain", undefined);
  const [[goOn] = [() => {}]] = [...paused].filter(isMinute);
  clock.now = () => Date.now() + 60_000;
  goOn();
  strictEqual((await put).length, 2);
  strictEqual(blobsOf(devnet, owner), 1);
});

Deno.test("a relay whose certificates the chain refuses is asked less and less", async () => {
  await using stage = await WalrusStage.start();
  const { devnet } = stage;
  const owner = newOwner();
  const hasty = hastyClock();
  const pauses: number[] = [];
  const clock: Clock = {
    now: hasty.now,
    after: (ms, callback) => {
      pauses.push(ms);
      return hasty.after(ms, callback);
    },
  };
  devnet.faults.set("relay", { kind: "wrong" });
  await using store = stage.open({ clock, patienceMs: 60 * 60_000 });
  const put = putTwo(store, owner);
  const isLong = (ms: number) => ms > 3_500 && ms <= 16_000;
  await poll(() => pauses.some(isLong), Boolean);
  devnet.faults.set("relay", undefined);
  strictEqual((await put).length, 2);
  strictEqual(blobsOf(devnet, owner), 1);
});
