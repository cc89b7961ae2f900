import assert from "node:assert/strict";
import { Transaction } from "@mysten/sui/transactions";
import { startDevnet } from "../../devnet/mod.ts";
import { ChainOwner } from "../../web/src/chain/main.ts";
import { BrowserWallet } from "../../web/src/wallet/browser_wallet.ts";

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
