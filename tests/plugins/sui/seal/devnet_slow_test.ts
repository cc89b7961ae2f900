import assert from "node:assert/strict";
import plugin from "../../../../plugins/sui/seal/mod.ts";
import { type CipherContext, readFields } from "../../../../src/interfaces/plugin.ts";
import { startDevnet } from "../../../../devnet/mod.ts";
import {
  addKeyCall,
  clientOf,
  createAccount,
  keypair,
  send,
} from "../../../devnet/devnet_fixture.ts";
import { KeysForTests, sealerForTests } from "../../sealer_for_tests.ts";

const TEXT = new TextEncoder().encode("I moved to Lisbon");

function context(): CipherContext {
  return {
    sealer: sealerForTests(),
    keys: new KeysForTests(),
    log() {},
  };
}

Deno.test("on a devnet, with its settings, for an account made and changed by transactions", async () => {
  await using devnet = await startDevnet();
  const client = clientOf(devnet);
  const owner = keypair(1);
  const delegate = keypair(2);
  await devnet.fund(owner.toSuiAddress());
  const accountId = await createAccount(client, devnet, owner);
  await send(client, owner, await addKeyCall(devnet, accountId, delegate));

  const settings = readFields(plugin.fields, devnet.settings());
  const scope = { accountId, owner: owner.toSuiAddress(), namespace: "notes" };
  await using writer = await plugin.roles.cipher!(settings, context());
  const sealed = await writer.seal(TEXT, { ...scope, memoryId: "m" });
  await using cipher = await plugin.roles.cipher!(settings, context());
  const open = (by: typeof owner) =>
    cipher.open([{ memoryId: "m", ...sealed }], {
      ...scope,
      credential: { delegateKey: by.getSecretKey() },
    });
  const opened = [{ status: "fulfilled", value: TEXT }];
  assert.deepEqual(await open(delegate), opened);
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
  cipher.accountChanged?.(accountId);
  await assert.rejects(open(delegate), { code: "decrypt_credential_invalid" });
  assert.deepEqual(await open(owner), opened);
  const next = await cipher.seal(TEXT, { ...scope, memoryId: "m" });
  assert.equal(new DataView(next.wrappedKey.buffer).getUint32(17), 2);
});
