import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { Transaction } from "@mysten/sui/transactions";
import { startDevnet } from "../../devnet/mod.ts";
import { accountType } from "../../plugins/sui/chain/account_object.ts";
import { compileContract, readContract } from "../../src/program/commands/contract_compiler.ts";
import {
  addKeyCall,
  clientOf,
  createAccount,
  keypair,
  send,
  startWithOwner,
} from "./devnet_fixture.ts";

Deno.test("a devnet with a folder continues where it stopped", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    let accountId = "";
    let transactions = 0;
    {
      const { devnet, owner } = await startWithOwner({ dataDir });
      await using _ = devnet;
      const client = clientOf(devnet);
      accountId = await createAccount(client, devnet, owner);
      await send(client, owner, await addKeyCall(devnet, accountId, keypair(2)));
      devnet.chain.advanceEpoch();
      devnet.walrus.advanceEpoch();
      transactions = devnet.chain.transactions.length;
    }
    await using devnet = await startDevnet({ keyServers: 1, dataDir });
    const client = clientOf(devnet);
    strictEqual(devnet.chain.transactions.length, transactions);
    strictEqual(devnet.chain.epoch, 2n);
    strictEqual(devnet.walrus.system.epoch, 2);
    const events = await client.listEvents({});
    deepStrictEqual(events.events.map(({ eventType }) => eventType.split("::").at(-1)), [
      "AccountCreated",
      "KeyAdded",
    ]);
    // The owner goes on with the same coins and the same account.
    await send(client, keypair(1), await addKeyCall(devnet, accountId, keypair(3)));
    const digest = devnet.chain.transactions.at(-1)?.digest ?? "";
    strictEqual((await client.getTransaction({ digest })).$kind, "Transaction");
    await rejects(startDevnet({ seed: 2, dataDir }), /another seed/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("a transaction that was signed before a restart is still good after it", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    let transaction = new Uint8Array();
    let signature = "";
    {
      await using devnet = await startDevnet({ keyServers: 1, dataDir });
      const [payer] = devnet.wallets.payers;
      const client = clientOf(devnet);
      if (payer === undefined) throw new TypeError("no wallet");
      await createAccount(client, devnet, payer);
      const tx = new Transaction();
      tx.setSender(payer.toSuiAddress());
      tx.transferObjects([tx.splitCoins(tx.gas, [5])], keypair(4).toSuiAddress());
      transaction = new Uint8Array(await tx.build({ client }));
      ({ signature } = await payer.signTransaction(transaction));
    }
    await using devnet = await startDevnet({ keyServers: 1, dataDir });
    const client = clientOf(devnet);
    await client.executeTransaction({ transaction, signatures: [signature] });
    const { balance } = await client.getBalance({ owner: keypair(4).toSuiAddress() });
    strictEqual(balance.balance, "5");
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("a package that was published is callable after a restart", async () => {
  const dataDir = await Deno.makeTempDir();
  const { modules } = await compileContract(
    await readContract(new URL("../../contracts/", import.meta.url)),
  );
  try {
    let published: { packageId: string; registryId: string };
    {
      const { devnet, owner } = await startWithOwner({ dataDir });
      await using _ = devnet;
      const result = await send(clientOf(devnet), owner, (tx) => {
        const cap = tx.publish({
          modules: [...modules].map((each) => [...each]),
          dependencies: [],
        });
        tx.transferObjects([cap], owner.toSuiAddress());
      });
      const types = Object.entries(result.Transaction?.objectTypes ?? {});
      const idOf = (end: string) => types.find(([, type]) => type.endsWith(end))?.[0] ?? "";
      published = { packageId: idOf("package"), registryId: idOf("::Registry") };
    }
    await using devnet = await startDevnet({ keyServers: 1, dataDir });
    const accountId = await createAccount(
      clientOf(devnet),
      { ...devnet, ...published },
      keypair(1),
    );
    const { object } = await clientOf(devnet).getObject({ objectId: accountId });
    strictEqual(object.type, accountType(published.packageId));
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("two devnets of one seed have the same ids", async () => {
  const ids = async () => {
    const { devnet, owner } = await startWithOwner({ now: () => 1_000, seed: 3 });
    await using _ = devnet;
    const accountId = await createAccount(clientOf(devnet), devnet, owner);
    return [devnet.packageId, devnet.registryId, devnet.walrus.systemId, accountId];
  };
  deepStrictEqual(await ids(), await ids());
});
