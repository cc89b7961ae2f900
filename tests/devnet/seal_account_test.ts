import { deepStrictEqual, rejects } from "node:assert/strict";
import type { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { NoAccessError, SealClient, SessionKey } from "@mysten/seal";
import type { Devnet } from "../../devnet/mod.ts";
import { SCOPE_BYTES, sealIdentity } from "../../plugins/sui/chain/account_object.ts";
import {
  addKeyCall,
  clientOf,
  createAccount,
  keypair,
  type Route,
  ROUTES,
  send,
  startWithOwner,
} from "./devnet_fixture.ts";

const PLAIN = new TextEncoder().encode("I prefer dark mode.");

/** A short-lived client of all key servers. */
function sealClient(devnet: Devnet, route: Route): SealClient {
  return new SealClient({
    suiClient: clientOf(devnet, route),
    serverConfigs: devnet.keyServers.map(({ objectId }) => ({ objectId, weight: 1 })),
    verifyKeyServers: true,
  });
}

async function decrypt(
  devnet: Devnet,
  route: Route,
  { data, id, accountId, key }: {
    readonly data: Uint8Array;
    readonly id: string;
    readonly accountId: string;
    readonly key: Ed25519Keypair;
  },
): Promise<Uint8Array> {
  const client = clientOf(devnet, route);
  const tx = new Transaction();
  tx.moveCall({
    target: `${devnet.packageId}::account::seal_approve`,
    arguments: [
      tx.pure.vector("u8", Uint8Array.fromHex(id)),
      tx.object(accountId),
      tx.object.clock(),
    ],
  });
  const sessionKey = await SessionKey.create({
    address: key.toSuiAddress(),
    packageId: devnet.packageId,
    ttlMin: 5,
    signer: key,
    suiClient: client,
  });
  const txBytes = await tx.build({ client, onlyTransactionKind: true });
  return await sealClient(devnet, route).decrypt({ data, sessionKey, txBytes });
}

for (const route of ROUTES) {
  Deno.test(`the contract decides who decrypts, ${route}`, async () => {
    const { devnet, owner } = await startWithOwner({ keyServers: 3 });
    await using _ = devnet;
    const client = clientOf(devnet, route);
    const accountId = await createAccount(client, devnet, owner);
    const [delegate, stranger] = [keypair(2), keypair(3)];
    await send(client, owner, await addKeyCall(devnet, accountId, delegate));
    const id = sealIdentity(accountId, 1, new Uint8Array(SCOPE_BYTES)).toHex();
    const { encryptedObject: data } = await sealClient(devnet, route).encrypt({
      threshold: 2,
      packageId: devnet.packageId,
      id,
      data: PLAIN,
    });
    const as = (key: Ed25519Keypair, account = accountId) =>
      decrypt(devnet, route, { data, id, accountId: account, key });
    deepStrictEqual(await as(owner), PLAIN);
    deepStrictEqual(await as(delegate), PLAIN);
    await rejects(as(stranger), NoAccessError);
    await devnet.fund(stranger.toSuiAddress());
    const foreignId = await createAccount(client, devnet, stranger);
    await rejects(as(stranger, foreignId), NoAccessError);
    await send(client, owner, (tx) => {
      tx.moveCall({
        target: `${devnet.packageId}::account::remove_delegate_key`,
        arguments: [
          tx.object(devnet.registryId),
          tx.object(accountId),
          tx.pure.vector("u8", delegate.getPublicKey().toRawBytes()),
        ],
      });
    });
    await rejects(as(delegate), NoAccessError);
    deepStrictEqual(await as(owner), PLAIN);
  });
}
