import assert from "node:assert/strict";
import { Transaction } from "@mysten/sui/transactions";
import { startDevnet } from "../../devnet/mod.ts";
import { ChainOwner } from "../../web/src/chain/main.ts";
import { keyProof } from "../../web/src/owner/key_proof.ts";
import { BrowserWallet } from "../../web/src/wallet/browser_wallet.ts";
import { makeKey } from "../../web/src/wallet/ed25519.ts";

const COIN = { objectId: `0x${"c0".repeat(32)}`, version: "1", digest: "1".repeat(32) };

Deno.test("a page signs nothing that its own wallet would pay for, when another one should", async () => {
  await using devnet = await startDevnet();
  const wallet = await BrowserWallet.make();
  let payer = wallet.address;
  let executed = 0;
  const relayer = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      if (request.url.endsWith("/execute")) {
        executed++;
        return Response.json({ error: "no", code: "sponsor_rejected" }, { status: 400 });
      }
      const { sender, transactionBlockKindBytes } = await request.json();
      const tx = Transaction.fromKind(Uint8Array.fromBase64(transactionBlockKindBytes));
      tx.setSender(sender);
      tx.setGasOwner(payer);
      tx.setGasPayment([COIN]);
      tx.setGasPrice(1_000_000);
      tx.setGasBudget(1_000_000_000_000);
      const bytes = await tx.build();
      return Response.json({ bytes: bytes.toBase64(), digest: await tx.getDigest() });
    },
  );
  const owner = new ChainOwner({
    network: "localnet",
    rpcUrl: devnet.rpcUrl,
    packageId: devnet.packageId,
    registryId: devnet.registryId,
    relayerUrl: `http://127.0.0.1:${relayer.addr.port}`,
    sponsored: true,
  });
  await assert.rejects(owner.open(wallet), /let this wallet pay/);
  assert.equal(executed, 0);
  payer = `0x${"9a".repeat(32)}`;
  await assert.rejects(owner.open(wallet), { code: "sponsor_rejected" });
  assert.equal(executed, 1);
  await relayer.shutdown();
});

Deno.test("a key that an earlier try added is there, unless more was asked for", async () => {
  await using devnet = await startDevnet();
  const wallet = await BrowserWallet.make();
  await devnet.fund(wallet.address);
  const owner = new ChainOwner({
    network: "localnet",
    rpcUrl: devnet.rpcUrl,
    packageId: devnet.packageId,
    registryId: devnet.registryId,
    relayerUrl: "http://127.0.0.1:9",
    sponsored: false,
  });
  const { account_id: id } = await owner.open(wallet);
  const { publicKey, privateKey } = await makeKey(false);
  const key = {
    public_key: publicKey,
    label: "laptop",
    permissions: ["read", "write"] as const,
    proof: await keyProof(privateKey, id),
  };
  for (let tries = 0; tries < 2; tries++) {
    assert.equal((await owner.addKey(wallet, id, key)).keys.length, 1);
  }
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  for (const less of [{ permissions: ["read"] as const }, { expires_at }]) {
    await assert.rejects(owner.addKey(wallet, id, { ...key, ...less }), /lists this key already/);
  }
});

Deno.test("an account with all its keys says so before anybody pays", async () => {
  await using devnet = await startDevnet();
  const wallet = await BrowserWallet.make();
  await devnet.fund(wallet.address);
  const place = {
    network: "localnet",
    rpcUrl: devnet.rpcUrl,
    packageId: devnet.packageId,
    registryId: devnet.registryId,
    relayerUrl: "http://127.0.0.1:9",
  } as const;
  const owner = new ChainOwner({ ...place, sponsored: false });
  const { account_id: id } = await owner.open(wallet);
  const newKey = async () => {
    const { publicKey, privateKey } = await makeKey(false);
    return {
      public_key: publicKey,
      label: "laptop",
      permissions: ["read"] as const,
      proof: await keyProof(privateKey, id),
    };
  };
  for (let n = 0; n < 20; n++) await owner.addKey(wallet, id, await newKey());
  const sponsored = new ChainOwner({ ...place, sponsored: true });
  await assert.rejects(sponsored.addKey(wallet, id, await newKey()), /Remove one first/);
  // All of them in one transaction.
  assert.deepEqual((await owner.removeAllKeys(wallet, id)).keys, []);
  assert.deepEqual((await owner.removeAllKeys(wallet, id)).keys, []);
});

Deno.test("a page binds a key to namespaces, where the contract is not too old", async () => {
  for (const contract of [2n, 1n]) {
    await using devnet = await startDevnet({ contract });
    const wallet = await BrowserWallet.make();
    await devnet.fund(wallet.address);
    const owner = new ChainOwner({
      network: "localnet",
      rpcUrl: devnet.rpcUrl,
      packageId: devnet.packageId,
      registryId: devnet.registryId,
      relayerUrl: "http://127.0.0.1:9",
      sponsored: false,
    });
    const { account_id: id } = await owner.open(wallet);
    const { publicKey, privateKey } = await makeKey(false);
    const free = {
      public_key: publicKey,
      label: "Ada",
      permissions: ["read"] as const,
      proof: await keyProof(privateKey, id),
    };
    const key = { ...free, namespaces: ["work", "notes/"] };
    if (contract === 1n) {
      await assert.rejects(owner.addKey(wallet, id, key), /of an earlier version/);
      assert.equal((await owner.addKey(wallet, id, free)).keys.length, 1);
      continue;
    }
    const none = { ...key, namespaces: [""] };
    await assert.rejects(owner.addKey(wallet, id, none), /1 to 32 namespaces/);
    const { keys } = await owner.addKey(wallet, id, key);
    assert.deepEqual(keys.map(({ namespaces }) => namespaces), [["work", "notes/"]]);
    // The same again is there already, and more is not.
    const again = { ...key, namespaces: ["notes/", "work"] };
    assert.equal((await owner.addKey(wallet, id, again)).keys.length, 1);
    await assert.rejects(owner.addKey(wallet, id, free), /lists this key already/);
  }
});
