import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { Transaction } from "@mysten/sui/transactions";
import { clientOf, createAccount, keypair, ROUTES, startWithOwner } from "./devnet_fixture.ts";

const STRANGER = keypair(9);

async function transfer(
  client: ReturnType<typeof clientOf>,
  sender: string,
  amount: number,
  to = STRANGER.toSuiAddress(),
) {
  const tx = new Transaction();
  tx.setSender(sender);
  const [coin] = tx.splitCoins(tx.gas, [amount]);
  tx.transferObjects([coin], to);
  return await tx.build({ client });
}

for (const route of ROUTES) {
  Deno.test(`a signature of somebody else is refused, ${route}`, async () => {
    const { devnet, owner } = await startWithOwner();
    await using _ = devnet;
    const client = clientOf(devnet, route);
    const transaction = await transfer(client, owner.toSuiAddress(), 5);
    const { signature } = await STRANGER.signTransaction(transaction);
    await rejects(client.executeTransaction({ transaction, signatures: [signature] }), /signature/);
    strictEqual(devnet.chain.transactions.length, 1);
  });
}

Deno.test("an object version that is gone is refused, the same transaction is answered", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const first = await transfer(client, owner.toSuiAddress(), 5);
  const second = await transfer(client, owner.toSuiAddress(), 6);
  const sign = async (transaction: Uint8Array) => ({
    transaction,
    signatures: [(await owner.signTransaction(transaction)).signature],
  });
  const done = await client.executeTransaction(await sign(first));
  await rejects(client.executeTransaction(await sign(second)), /not available for consumption/);
  const again = await client.executeTransaction(await sign(first));
  strictEqual(again.Transaction?.digest, done.Transaction?.digest);
  const received = await client.getBalance({ owner: STRANGER.toSuiAddress() });
  strictEqual(received.balance.balance, "5");
});

Deno.test("two transactions cannot use one object version at the same time", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const [first, second] = [
    await transfer(client, owner.toSuiAddress(), 5),
    await transfer(client, owner.toSuiAddress(), 6),
  ];
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  devnet.node.submission.consensus = () => {
    locked.resolve();
    return held.promise;
  };
  const run = async (transaction: Uint8Array) =>
    await client.executeTransaction({
      transaction,
      signatures: [(await owner.signTransaction(transaction)).signature],
    });
  const pending = run(first);
  await locked.promise;
  await rejects(run(second), /reserved for another transaction/);
  held.resolve();
  strictEqual((await pending).$kind, "Transaction");
});

Deno.test("a simulation with checks refuses objects of others, and an absent sender", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const { objects } = await client.listCoins({ owner: owner.toSuiAddress() });
  const coin = objects[0]?.objectId ?? "";
  const build = (sender?: string) => {
    const tx = new Transaction();
    if (sender !== undefined) tx.setSender(sender);
    tx.transferObjects([tx.object(coin)], STRANGER.toSuiAddress());
    return tx;
  };
  await devnet.fund(STRANGER.toSuiAddress());
  await rejects(build(STRANGER.toSuiAddress()).build({ client }), /owned by account address/);
  await rejects(client.simulateTransaction({ transaction: build() }), /owned by account address/);
  const kind = await build().build({ client, onlyTransactionKind: true });
  ok(kind.length > 0);
});

Deno.test("a failed execution costs gas and changes nothing else", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const address = owner.toSuiAddress();
  await createAccount(client, devnet, owner);
  const { objects: coins } = await client.listCoins({ owner: address });
  const [coin] = coins;
  const { object: registry } = await client.getObject({ objectId: devnet.registryId });
  // Everything is given, so that nothing is simulated before: a second account is refused on chain.
  const tx = new Transaction();
  tx.setSender(address);
  tx.setGasBudget(20_000_000);
  tx.setGasPrice(1000);
  tx.setGasPayment(coins.map(({ objectId, version, digest }) => ({ objectId, version, digest })));
  const shared = { initialSharedVersion: 1, mutable: true };
  tx.moveCall({
    target: `${devnet.packageId}::account::create_account`,
    arguments: [
      tx.sharedObjectRef({ objectId: devnet.registryId, ...shared }),
      tx.sharedObjectRef({ objectId: "0x6", ...shared, mutable: false }),
    ],
  });
  const transaction = await tx.build();
  const { signature } = await owner.signTransaction(transaction);
  const result = await client.executeTransaction({ transaction, signatures: [signature] });
  strictEqual(result.FailedTransaction?.status.error?.$kind, "MoveAbort");
  const { object: after } = await client.getObject({ objectId: devnet.registryId });
  strictEqual(after.type, registry.type);
  ok(BigInt(after.version) > BigInt(registry.version));
  const { balance } = await client.getBalance({ owner: address });
  strictEqual(BigInt(coin?.balance ?? 0) - BigInt(balance.balance), 2_000_000n);
  strictEqual(devnet.chain.transactions.at(-1)?.success, false);
  strictEqual(
    (await client.listDynamicFields({ parentId: devnet.registryId })).dynamicFields.length,
    1,
  );
});

Deno.test("gas is taken from coins that suffice, else refused", async () => {
  const { devnet } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const poor = keypair(7).toSuiAddress();
  await rejects(transfer(client, poor, 5), /insufficient SUI balance/);
  for (let coins = 0; coins < 3; coins++) await devnet.fund(poor, { sui: 4_000_000n, wal: 0n });
  const transaction = await transfer(client, poor, 5);
  const { signature } = await keypair(7).signTransaction(transaction);
  const result = await client.executeTransaction({
    transaction,
    signatures: [signature],
    include: { effects: true, balanceChanges: true },
  });
  const { balance } = await client.getBalance({ owner: poor });
  strictEqual(balance.balance, String(12_000_000 - 2_000_000 - 5));
  const { objects } = await client.listCoins({ owner: poor });
  strictEqual(objects.length, 1);
  const changes = result.Transaction?.balanceChanges ?? [];
  deepStrictEqual(changes.map(({ amount }) => amount).sort(), ["-2000005", "5"]);
});
