import { deepStrictEqual, rejects } from "node:assert/strict";
import type { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { NoAccessError, SealClient, SessionKey } from "@mysten/seal";
import type { Devnet } from "../../devnet/mod.ts";
import { addDelegateKey } from "../../plugins/sui/accounts/transactions.ts";
import { scopeHash } from "../../plugins/sui/seal/keys/wrapped_key.ts";
import { keyProofText } from "../../src/wire/signing/signing.ts";
import { verifies } from "../requirements.ts";
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
  { data, id, accountId, key, named }: {
    readonly data: Uint8Array;
    readonly id: string;
    readonly accountId: string;
    readonly key: Ed25519Keypair;
    /** What the caller says the identity is of. */
    readonly named?: { readonly owner: string; readonly namespace: string };
  },
): Promise<Uint8Array> {
  const client = clientOf(devnet, route);
  const tx = new Transaction();
  const bytes = (text: string) => tx.pure.vector("u8", new TextEncoder().encode(text));
  const name = named === undefined ? "seal_approve" : "seal_approve_namespace";
  tx.moveCall({
    target: `${devnet.packageId}::account::${name}`,
    arguments: [
      tx.pure.vector("u8", Uint8Array.fromHex(id)),
      ...(named === undefined ? [] : [bytes(named.owner), bytes(named.namespace)]),
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

Deno.test("key servers refuse a bound key what is of another namespace", async () => {
  verifies("10.17-9");
  const { devnet, owner } = await startWithOwner({ keyServers: 3 });
  await using _ = devnet;
  const client = clientOf(devnet);
  const accountId = await createAccount(client, devnet, owner);
  const [bound, free] = [keypair(2), keypair(3)];
  await send(client, owner, await addKeyCall(devnet, accountId, free));
  const proof = (await bound.sign(keyProofText(accountId))).toHex();
  const transaction = addDelegateKey(
    { packageId: devnet.packageId, registry: devnet.registryId },
    accountId,
    {
      publicKey: bound.getPublicKey().toRawBytes().toHex(),
      proof,
      permissions: ["read"],
      label: "Ada",
      namespaces: ["work", "notes/"],
    },
  );
  await client.signAndExecuteTransaction({ transaction, signer: owner });
  const me = owner.toSuiAddress();
  const idOf = (namespace: string) =>
    sealIdentity(accountId, 1, scopeHash({ owner: me, namespace })).toHex();
  const ask = async (key: Ed25519Keypair, namespace: string, said?: string) => {
    const id = idOf(namespace);
    const { encryptedObject: data } = await sealClient(devnet, "in process").encrypt({
      threshold: 2,
      packageId: devnet.packageId,
      id,
      data: PLAIN,
    });
    const named = said === undefined ? {} : { named: { owner: me, namespace: said } };
    return await decrypt(devnet, "in process", { data, id, accountId, key, ...named });
  };
  for (const namespace of ["work", "notes/", "notes/a"]) {
    deepStrictEqual(await ask(bound, namespace, namespace), PLAIN);
  }
  for (const namespace of ["secret", "work2", "notes"]) {
    await rejects(ask(bound, namespace, namespace), NoAccessError);
    await rejects(ask(bound, namespace, "work"), NoAccessError);
    await rejects(ask(bound, namespace), NoAccessError);
    deepStrictEqual(await ask(free, namespace), PLAIN, "what was sealed before stays readable");
    deepStrictEqual(await ask(owner, namespace, namespace), PLAIN);
  }
  await rejects(ask(bound, "work"), NoAccessError, "who is bound has to say where");
});
