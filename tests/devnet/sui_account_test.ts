import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { Transaction } from "@mysten/sui/transactions";
import {
  accountType,
  delegateFieldId,
  parseAccount,
} from "../../plugins/sui/chain/account_object.ts";
import {
  addKeyCall,
  clientOf,
  createAccount,
  keypair,
  ROUTES,
  send,
  startWithOwner,
} from "./devnet_fixture.ts";

for (const route of ROUTES) {
  Deno.test(`an account is created, gets a key and is found by it, ${route}`, async () => {
    const { devnet, owner } = await startWithOwner();
    await using _ = devnet;
    const client = clientOf(devnet, route);
    const accountId = await createAccount(client, devnet, owner);
    const key = keypair(2);
    const added = await send(client, owner, await addKeyCall(devnet, accountId, key));
    strictEqual(added.$kind, "Transaction");
    const publicKey = key.getPublicKey().toRawBytes().toHex();
    const fieldId = delegateFieldId(devnet.registryId, devnet.packageId, publicKey);
    const { objects } = await client.getObjects({
      objectIds: [fieldId, accountId],
      include: { content: true, previousTransaction: true },
    });
    const [field, account] = objects;
    if (field instanceof Error || account instanceof Error || !field || !account) {
      throw new TypeError("an object is missing");
    }
    strictEqual(`0x${field.content.slice(-32).toHex()}`, accountId);
    strictEqual(account.type, accountType(devnet.packageId));
    strictEqual(account.previousTransaction, added.Transaction?.digest);
    const parsed = parseAccount(account.content);
    deepStrictEqual(parsed.keys.map(({ publicKey }) => publicKey), [publicKey]);
    strictEqual(parsed.keys[0]?.address, key.toSuiAddress());
    const fields = await client.listDynamicFields({ parentId: devnet.registryId });
    deepStrictEqual(fields.dynamicFields.length, 2);
  });
}

Deno.test("a key cannot be claimed without its proof, nor by a second account", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const accountId = await createAccount(client, devnet, owner);
  const thief = keypair(3);
  await devnet.fund(thief.toSuiAddress());
  const stolenId = await createAccount(client, devnet, thief);
  const key = keypair(2);
  const unproven = await addKeyCall(devnet, stolenId, key, accountId);
  await rejects(send(client, thief, unproven), /abort code: 3/);
  await send(client, owner, await addKeyCall(devnet, accountId, key));
  const second = await addKeyCall(devnet, stolenId, key);
  await rejects(send(client, thief, second), /abort code: 4/);
  const foreign = await addKeyCall(devnet, accountId, keypair(4));
  await rejects(send(client, thief, foreign), /abort code: 1/);
});

Deno.test("ownership moves to whom it is offered, who accepts", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const accountId = await createAccount(client, devnet, owner);
  const next = keypair(5);
  await devnet.fund(next.toSuiAddress());
  const target = (name: string) => `${devnet.packageId}::account::${name}`;
  await send(client, owner, (tx) => {
    tx.moveCall({
      target: target("offer_ownership"),
      arguments: [
        tx.object(devnet.registryId),
        tx.object(accountId),
        tx.pure.address(next.toSuiAddress()),
      ],
    });
  });
  const accepted = await send(client, next, (tx) => {
    tx.moveCall({
      target: target("accept_ownership"),
      arguments: [tx.object(devnet.registryId), tx.object(accountId)],
    });
  });
  match(accepted.Transaction?.events[0]?.eventType ?? "", /::OwnershipTransferred$/);
  const { object } = await client.getObject({ objectId: accountId, include: { content: true } });
  strictEqual(parseAccount(object.content).owner, next.toSuiAddress());
  await send(client, next, (tx) => {
    tx.moveCall({
      target: target("close_account"),
      arguments: [tx.object(devnet.registryId), tx.object(accountId)],
    });
  });
  await rejects(client.getObject({ objectId: accountId }), /not found/);
});

Deno.test("a sponsored transaction needs both signatures", async () => {
  const { devnet } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const poor = keypair(6);
  const { sponsor } = devnet.wallets;
  const kind = new Transaction();
  kind.setSender(poor.toSuiAddress());
  kind.moveCall({
    target: `${devnet.packageId}::account::create_account`,
    arguments: [kind.object(devnet.registryId), kind.object.clock()],
  });
  const bytes = await kind.build({ client, onlyTransactionKind: true });
  const paid = Transaction.fromKind(bytes);
  paid.setSender(poor.toSuiAddress());
  paid.setGasOwner(sponsor.toSuiAddress());
  const transaction = await paid.build({ client });
  const { signature } = await poor.signTransaction(transaction);
  const half = client.executeTransaction({ transaction, signatures: [signature] });
  await rejects(half, /signature/);
  const { signature: second } = await sponsor.signTransaction(transaction);
  const result = await client.executeTransaction({ transaction, signatures: [signature, second] });
  strictEqual(result.$kind, "Transaction");
  const record = devnet.chain.transactions.at(-1);
  strictEqual(record?.sender, poor.toSuiAddress());
  strictEqual(record?.gasOwner, sponsor.toSuiAddress());
  deepStrictEqual(record?.commands, [`${devnet.packageId}::account::create_account`]);
});
