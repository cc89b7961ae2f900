import assert from "node:assert/strict";
import fc from "fast-check";
import type { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Devnet } from "../../devnet/mod.ts";
import { startDevnet } from "../../devnet/mod.ts";
import plugin from "../../plugins/sui/seal/mod.ts";
import { readFields } from "../../src/interfaces/plugin.ts";
import type { Permission } from "../../src/interfaces/mod.ts";
import { answerOf, drawn, fill, forgetWork, ONLY, type Side, sideOf } from "../http/bound_keys.ts";
import { OnDevnet } from "../plugins/sui/accounts/on_devnet.ts";
import { KeysForTests, sealerForTests } from "../plugins/sealer_for_tests.ts";
import { startRelayer, TestClock, type TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

const ALL: readonly Permission[] = ["read", "write", "manage"];

/** The same for all relayers: what is counted by the minute must not differ. */
const START = Date.now();

const credential = ({ seed }: TestKey) => ({ "x-delegate-key": seed.toHex() });

/** A relayer whose accounts and keys are on a devnet, with a bound key and one that is not. */
async function side(devnet: Devnet): Promise<Side & { readonly owner: Ed25519Keypair }> {
  const chain = new OnDevnet(devnet, 10_000);
  const owner = await chain.wallet();
  const accountId = await chain.account(owner);
  const free = await chain.key(owner, accountId, ALL);
  const key = await chain.key(owner, accountId, ALL, ONLY);
  const settings = readFields(plugin.fields, devnet.settings());
  const cipher = await plugin.roles.cipher!(settings, {
    sealer: sealerForTests(),
    keys: new KeysForTests(),
    log() {},
  });
  const clock = new TestClock();
  clock.freeze(START);
  const account = (await chain.accounts.get(accountId))!;
  const svc = await startRelayer({
    clock,
    config: { network: "localnet", packageId: devnet.packageId },
    backends: { accounts: chain.accounts, cipher },
    existing: { key: free, account },
  });
  return { ...await sideOf(svc, key, credential), owner };
}

Deno.test("on chain, too, there are no other namespaces for a bound key", async () => {
  verifies("10.17-1", "10.17-2", "10.17-3", "10.17-9");
  await using devnet = await startDevnet();
  await using empty = await side(devnet);
  await using full = await side(devnet);
  const others = await fill(full);
  await forgetWork(empty);
  await fc.assert(
    fc.asyncProperty(drawn, async (given) => {
      const one = await answerOf(empty, others, given);
      assert.equal(await answerOf(full, others, given), one, JSON.stringify(given));
    }),
    { numRuns: 120, endOnFailure: true },
  );
});

Deno.test("a relayer refuses to open for a bound key what is open for another", async () => {
  verifies("10.17-9");
  await using devnet = await startDevnet();
  await using one = await side(devnet);
  const { svc, key } = one;
  await svc.remember("tea at work", { namespace: "work" });
  await svc.remember("a secret", { namespace: "secret" });
  const recall = async (namespace: string, signer: TestKey, opener: TestKey) => {
    const options = { key: signer, headers: credential(opener) };
    const { status, body } = await svc.post("/api/recall", { query: "tea", namespace }, options);
    return status === 200 ? body.results.length : body.code;
  };
  assert.equal(await recall("secret", svc.key, svc.key), 1);
  // Whoever signs, the key servers and the relayer judge the key that opens.
  assert.equal(await recall("secret", svc.key, key), "decrypt_credential_invalid");
  assert.equal(await recall("work", svc.key, key), 2);
  assert.equal(await recall("secret", key, svc.key), 0);
  assert.equal(await recall("work", key, key), 2);
});
