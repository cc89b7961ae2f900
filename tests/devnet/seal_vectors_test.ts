import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { EncryptedObject, SealClient, SessionKey } from "@mysten/seal";
import { registerIndependent } from "../../devnet/seal/install.ts";
import { sessionMessage } from "../../devnet/seal/key_request.ts";
import { KeyServer } from "../../devnet/seal/key_server.ts";
import { SignedRequest } from "../../devnet/seal/layouts.ts";
import { identityPoint, MasterKey, scalar } from "../../devnet/seal/master_key.ts";
import { addressBytes, concat } from "../../devnet/sui/object.ts";
import { commandNames, programFromBcs } from "../../devnet/sui/program.ts";
import vectors from "../testdata/seal_vectors.json" with { type: "json" };
import { startParts } from "./parts_fixture.ts";

const fullId = (packageId: string, id: string) =>
  concat(addressBytes(packageId), Uint8Array.fromHex(id));

Deno.test("published points of identities, and user keys", () => {
  for (const { packageId, id, point } of vectors.identityPoints) {
    strictEqual(identityPoint(fullId(packageId, id)).toBytes().toHex(), point);
  }
  for (const { masterKey, packageId, id, userKey } of vectors.userKeys) {
    const key = new MasterKey(scalar(Uint8Array.fromHex(masterKey)));
    strictEqual(key.extract(fullId(packageId, id)).toBytes().toHex(), userKey);
  }
});

Deno.test("published texts that users sign, and bytes that session keys sign", () => {
  for (const vector of vectors.sessionMessages) {
    const { packageName, ttlMinutes, creationTime, sessionKey, message } = vector;
    strictEqual(sessionMessage(packageName, ttlMinutes, creationTime, sessionKey), message);
  }
  for (const { bytes, target } of vectors.signedRequests) {
    const request = SignedRequest.parse(Uint8Array.fromHex(bytes));
    strictEqual(SignedRequest.serialize(request).toBytes().toHex(), bytes);
    const program = programFromBcs(new Uint8Array(request.ptb));
    deepStrictEqual(commandNames(program), [target]);
  }
});

Deno.test("published ciphertexts decrypt through key servers with their master keys", async () => {
  for (const vector of vectors.ciphertexts) {
    await using parts = startParts();
    const { chain, faults } = parts;
    const data = vector.encryptedBase64 !== undefined
      ? Uint8Array.fromBase64(vector.encryptedBase64)
      : Uint8Array.fromHex(vector.encryptedHex ?? "");
    const object = EncryptedObject.parse(data);
    strictEqual(object.threshold, vector.threshold);
    deepStrictEqual(object.services.map(([, index]) => index), vector.indices);
    chain.publish(object.packageId);
    const target = `${object.packageId}::policy::seal_approve`;
    chain.fn(target, () => {});
    const sealPackage = chain.publish(chain.freshId());
    for (const [at, [objectId]] of object.services.entries()) {
      const secret = vector.masterKeysBase64[at];
      const key = secret === undefined
        ? undefined
        : new MasterKey(scalar(Uint8Array.fromBase64(secret)));
      const published = vector.publicKeys[at];
      if (key !== undefined && published !== undefined) {
        strictEqual(key.publicKey.toHex(), published);
      }
      const server = key && new KeyServer({ chain, faults, objectId, key });
      const url = server === undefined
        ? "http://127.0.0.1:1"
        : await parts.serve(`keyServer:${at}`, (request, wrong) => server.handle(request, wrong));
      const publicKey = key?.publicKey ?? Uint8Array.fromHex(published ?? "");
      registerIndependent(chain, sealPackage, objectId, { name: `${at}`, url, publicKey });
    }
    const suiClient = parts.client();
    const client = new SealClient({
      suiClient,
      serverConfigs: object.services.slice(0, vector.masterKeysBase64.length)
        .map(([objectId]) => ({ objectId, weight: 1 })),
      verifyKeyServers: true,
    });
    const signer = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(4));
    const sessionKey = await SessionKey.create({
      address: signer.toSuiAddress(),
      packageId: object.packageId,
      ttlMin: 5,
      signer,
      suiClient,
    });
    const tx = new Transaction();
    tx.moveCall({ target, arguments: [tx.pure.vector("u8", Uint8Array.fromHex(object.id))] });
    const txBytes = await tx.build({ client: suiClient, onlyTransactionKind: true });
    const plain = await client.decrypt({ data, sessionKey, txBytes, checkShareConsistency: true });
    strictEqual(new TextDecoder().decode(plain), vector.plaintext, vector.source);
  }
});
