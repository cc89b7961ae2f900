import assert from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { RpcError } from "@mysten/sui/grpc";
import {
  CoinPool,
  type GasCoin,
} from "../../../../../plugins/sui/sponsors/gas_station/coin_pool.ts";
import { MAX_GAS, World } from "./world.ts";

const LIFE_MS = 720_000;

Deno.test("a wallet of one coin serves many at a time, each with a coin to itself", async () => {
  await using world = new World([5_000_000_000n]);
  const all = await Promise.all(Array.from({ length: 12 }, () => world.signed()));
  assert.equal(world.coins.length, 17);
  assert.equal(world.calls.all.get("chain/ExecuteTransaction"), 1, "one split");
  for (const { gasMist } of await Promise.all(all.map((each) => world.sponsor.execute(each)))) {
    assert.equal(gasMist, 2_000_000);
  }
  assert.equal(new Set(world.executed).size, 13);
  assert.ok(world.chain.ledger.records.every(({ success }) => success));
});

Deno.test("a coin that nobody spent comes back when its time is over", async () => {
  await using world = new World([60_000_000n]);
  const first = await world.signed();
  await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
  assert.deepEqual(world.notes, []);
  world.chain.clock.advance(LIFE_MS - 1);
  await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
  world.chain.clock.advance(1);
  const second = await world.signed();
  await assert.rejects(world.sponsor.execute(first), { code: "sponsorship_not_found" });
  await world.sponsor.execute(second);
});

Deno.test("a coin comes back at once when it was spent", async () => {
  await using world = new World([60_000_000n]);
  for (let i = 0; i < 4; i++) await world.sponsor.execute(await world.signed());
  assert.deepEqual(world.coins, [52_000_000n]);
  // The chain was asked for coins once.
  assert.equal(world.calls.all.get("chain/ListOwnedObjects"), 1);
});

Deno.test("a coin whose fate is unknown is left alone until the chain tells", async () => {
  await using world = new World([60_000_000n]);
  const first = await world.signed();
  world.faults.set("chain", { kind: "lost", only: "ExecuteTransaction", times: 1 });
  await assert.rejects(world.sponsor.execute(first), { code: "sponsor_upstream_error" });
  // It was executed: the coin has a newer version.
  await world.sponsor.execute(await world.signed());
  world.faults.set("chain", { kind: "down", only: "ExecuteTransaction", times: 1 });
  const third = await world.signed();
  await assert.rejects(world.sponsor.execute(third), { code: "sponsor_upstream_error" });
  // It was not, as far as anybody knows.
  await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
  await world.sponsor.execute(third);
  await world.signed();
});

/** The version of a coin that a transaction spends as gas. */
function gasOf(bytes: Uint8Array): string {
  const [coin] = bcs.TransactionData.parse(bytes).V1!.gasData.payment!;
  return `${coin?.objectId} ${coin?.version}`;
}

Deno.test("a trial takes no time from the coin of its transaction", async () => {
  await using world = new World([60_000_000n]);
  const kind = await world.kind();
  world.node.meanwhile("SimulateTransaction", async () => {
    await Promise.resolve(world.chain.clock.advance(300));
  });
  const first = await world.signed(new Ed25519Keypair(), kind);
  world.chain.clock.advance(LIFE_MS - 300);
  // Others list the wallet's coins: this one is still spent by the first.
  await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
  await world.sponsor.execute(first);
});

Deno.test("a coin whose trial took longer than its time is the next one's", async () => {
  await using world = new World([60_000_000n]);
  const kind = await world.kind();
  const next = Promise.withResolvers<Awaited<ReturnType<World["signed"]>>>();
  world.node.meanwhile("SimulateTransaction", async () => {
    world.chain.clock.advance(LIFE_MS);
    next.resolve(await world.signed());
  });
  await assert.rejects(world.signed(new Ed25519Keypair(), kind), { code: "sponsor_overloaded" });
  // What has given up takes nothing from the next one.
  await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
  await world.sponsor.execute(await next.promise);
});

Deno.test("an answer that comes late takes no coin from the next one", async () => {
  await using world = new World([60_000_000n]);
  const first = await world.signed();
  const next = Promise.withResolvers<Awaited<ReturnType<World["signed"]>>>();
  // It is executed, and the coin is listed at its new version before that is answered.
  world.node.meanwhile("ExecuteTransaction", async () => next.resolve(await world.signed()));
  await world.sponsor.execute(first);
  const second = await next.promise;
  assert.notEqual(gasOf(second.bytes), gasOf(first.bytes));
  await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
  await world.sponsor.execute(second);
});

Deno.test("an execution that is asked for again takes no coin from the next one", async () => {
  await using world = new World([60_000_000n]);
  const first = await world.signed();
  world.faults.set("chain", { kind: "lost", only: "ExecuteTransaction", times: 1 });
  await assert.rejects(world.sponsor.execute(first), { code: "sponsor_upstream_error" });
  const second = await world.signed();
  await world.sponsor.execute(first);
  await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
  await world.sponsor.execute(second);
});

Deno.test("crumbs are swept together into a coin that suffices", async () => {
  await using world = new World([30_000_000n, 40_000_000n, 45_000_000n]);
  await world.sponsor.execute(await world.signed());
  assert.deepEqual(world.coins, [111_000_000n]);
});

Deno.test("an empty wallet is said to the operator", async () => {
  for (const coins of [[], [49_999_999n]]) {
    await using world = new World(coins);
    await assert.rejects(world.signed(), { code: "sponsor_overloaded" });
    assert.deepEqual(world.notes, ["gas-station: the wallet cannot pay a transaction"]);
    world.chain.mint(world.wallet.toSuiAddress(), "0x2::sui::SUI", BigInt(MAX_GAS));
    await world.signed();
  }
});

Deno.test("a coin that others spent is looked up again", async () => {
  await using world = new World([60_000_000n]);
  await world.sponsor.execute(await world.signed());
  const tx = new (await import("@mysten/sui/transactions")).Transaction();
  tx.transferObjects([tx.splitCoins(tx.gas, [1])], new Ed25519Keypair().toSuiAddress());
  await world.client.core.signAndExecuteTransaction({ transaction: tx, signer: world.wallet });
  await assert.rejects(world.signed(), { code: "sponsor_rejected" });
  await world.sponsor.execute(await world.signed());
});

/** A pool over a list. */
function pool(coins: GasCoin[], options: Partial<ConstructorParameters<typeof CoinPool>[0]> = {}) {
  return new CoinPool({
    list: () => Promise.resolve(coins),
    split: () => Promise.reject(new Error("no split was expected")),
    need: 10n,
    splitGas: 5n,
    holdMs: 1000,
    now: () => 0,
    ...options,
  });
}
const coin = (n: number, balance: bigint, version = "1"): GasCoin => ({
  objectId: `0x${n}`,
  version,
  digest: "",
  balance,
});

Deno.test("no coin is given to two, whoever takes when", async () => {
  const coins = Array.from({ length: 8 }, (_, i) => coin(i, 10n));
  const taken = await Promise.all(Array.from({ length: 12 }, (_, __, p = pool(coins)) => p.take()));
  assert.equal(taken.filter(Boolean).length, 12, "each from a pool of its own");
  const shared = pool(coins);
  const all = (await Promise.all(Array.from({ length: 12 }, () => shared.take()))).filter(Boolean);
  assert.equal(new Set(all.map((each) => each?.coin.objectId)).size, 8);
  assert.equal(all.length, 8);
});

Deno.test("a node that lags behind an execution does not bring an old version back", async () => {
  const coins = [coin(1, 10n, "1")];
  const subject = pool(coins);
  const taken = await subject.take();
  subject.put(taken!, { ...taken!.coin, version: "2", balance: 9n });
  // Too little is left, so the chain is asked, and still tells of version 1.
  assert.equal(await subject.take(), undefined);
  coins[0] = coin(1, 20n, "3");
  assert.equal((await subject.take())?.coin.version, "3");
});

Deno.test("a split that is refused gives its coins back; one that is lost does not", async () => {
  for (
    const [error, held] of [[new RpcError("no", "INVALID_ARGUMENT"), 0], [
      new Error("?"),
      1,
    ]] as const
  ) {
    const subject = pool([coin(1, 1000n)], { split: () => Promise.reject(error) });
    await assert.rejects(subject.take(), error);
    assert.equal(subject.held, held);
  }
});
