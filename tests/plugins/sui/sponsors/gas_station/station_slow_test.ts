import assert from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import type { Transaction } from "@mysten/sui/transactions";
import { createAccount } from "../../../../../plugins/sui/accounts/transactions.ts";
import { checkSponsoredKind } from "../../../../../src/sponsor/allow_list.ts";
import { answeredBudget } from "../../../../../src/sponsor/answered_transaction.ts";
import { conform, sponsorSuite } from "../../../../../testing/mod.ts";
import { MAX_GAS, World } from "./world.ts";

conform(sponsorSuite, "gas-station", () => {
  const world = new World();
  return world.sponsor;
});

Deno.test("a wallet without gas creates its account", async () => {
  await using world = new World();
  const { owner, bytes, digest, signature } = await world.signed();
  const { gasData, sender } = bcs.TransactionData.parse(bytes).V1!;
  assert.equal(sender, owner.toSuiAddress());
  assert.equal(gasData.owner, world.wallet.toSuiAddress());
  assert.ok(Number(gasData.budget) <= MAX_GAS);
  const before = world.coins.reduce((sum, coin) => sum + coin, 0n);
  const executed = await world.sponsor.execute({ digest, signature });
  assert.equal(executed.digest, digest);
  const after = world.coins.reduce((sum, coin) => sum + coin, 0n);
  assert.equal(executed.gasMist, Number(before - after));
  const { records } = world.chain.ledger;
  assert.equal(records.at(-1)?.sender, owner.toSuiAddress());
  assert.equal(records.at(-1)?.gasOwner, world.wallet.toSuiAddress());
  assert.ok(records.at(-1)?.success);
});

Deno.test("what it answers passes the relayer's checks", async () => {
  await using world = new World();
  const kindBytes = await world.kind();
  checkSponsoredKind(kindBytes, world.deployment.packageId);
  const sender = new Ed25519Keypair().toSuiAddress();
  const answer = await world.sponsor.sponsor({ sender, kindBytes });
  assert.ok(answeredBudget(answer, { sender, kindBytes }) <= MAX_GAS);
});

Deno.test("signatures of other schemes are taken, wrong ones of any are not", async () => {
  await using world = new World();
  for (const owner of [new Ed25519Keypair(), new Secp256k1Keypair(), new Secp256r1Keypair()]) {
    const kindBytes = await world.kind();
    const sponsored = await world.sponsor.sponsor({ sender: owner.toSuiAddress(), kindBytes });
    const { digest, bytes } = sponsored;
    const good = Uint8Array.fromBase64((await owner.signTransaction(bytes)).signature);
    const broken = good.slice();
    broken[10]! ^= 1;
    const stranger = await new Ed25519Keypair().signTransaction(bytes);
    const message = await owner.signPersonalMessage(bytes);
    for (
      const signature of [
        broken,
        good.subarray(0, 96),
        Uint8Array.fromBase64(stranger.signature),
        Uint8Array.fromBase64(message.signature),
        new Uint8Array(97),
        Uint8Array.of(9, ...good.subarray(1)),
      ]
    ) {
      await assert.rejects(world.sponsor.execute({ digest, signature }), {
        code: "invalid_sponsor_signature",
      });
    }
    assert.deepEqual(await world.sponsor.execute({ digest, signature: good }), {
      digest,
      gasMist: 2_000_000,
    });
  }
});

Deno.test("a multisig wallet may be the sender", async () => {
  await using world = new World();
  const [a, b] = [new Ed25519Keypair(), new Ed25519Keypair()];
  const publicKeys = [a, b].map((key) => ({ publicKey: key.getPublicKey(), weight: 1 }));
  const multisig = MultiSigPublicKey.fromPublicKeys({ threshold: 2, publicKeys });
  const sender = multisig.toSuiAddress();
  const { bytes, digest } = await world.sponsor.sponsor({ sender, kindBytes: await world.kind() });
  const signatures = [];
  for (const key of [a, b]) signatures.push((await key.signTransaction(bytes)).signature);
  const both = Uint8Array.fromBase64(multisig.combinePartialSignatures(signatures));
  const one = Uint8Array.fromBase64(multisig.combinePartialSignatures(signatures.slice(0, 1)));
  await assert.rejects(world.sponsor.execute({ digest, signature: one }), {
    code: "invalid_sponsor_signature",
  });
  assert.equal((await world.sponsor.execute({ digest, signature: both })).digest, digest);
});

Deno.test("what would fail, or cost too much, or is its own, is not sponsored", async () => {
  await using world = new World();
  const { owner, digest, signature } = await world.signed();
  await world.sponsor.execute({ digest, signature });
  const sender = owner.toSuiAddress();
  // A second account of the same owner aborts.
  await assert.rejects(world.sponsor.sponsor({ sender, kindBytes: await world.kind() }), {
    code: "sponsor_rejected",
    message: "The transaction would fail",
  });
  await assert.rejects(
    world.sponsor.sponsor({
      sender: world.wallet.toSuiAddress(),
      kindBytes: await world.kind(),
    }),
    { code: "sponsor_rejected" },
  );
  for (const kindBytes of [Uint8Array.of(9), new Uint8Array(100).fill(3)]) {
    await assert.rejects(world.sponsor.sponsor({ sender, kindBytes }), { name: "SvcError" });
  }
  // None of them keeps a coin.
  for (let i = 0; i < 20; i++) {
    await assert.rejects(world.sponsor.sponsor({ sender, kindBytes: await world.kind() }), {
      code: "sponsor_rejected",
    });
  }
  await world.signed();
});

Deno.test("what aborts on chain is executed and paid for: its digest is the answer", async () => {
  await using world = new World();
  const owner = new Ed25519Keypair();
  const [first, second] = [await world.signed(owner), await world.signed(owner)];
  assert.notEqual(first.digest, second.digest);
  await world.sponsor.execute(first);
  assert.deepEqual(await world.sponsor.execute(second), {
    digest: second.digest,
    gasMist: 2_000_000,
  });
  assert.equal(world.chain.ledger.records.at(-1)?.success, false);
});

Deno.test("executing again, and at the same time, pays once", async () => {
  await using world = new World();
  const { digest, signature } = await world.signed();
  const answers = await Promise.all(
    [1, 2, 3].map(() => world.sponsor.execute({ digest, signature })),
  );
  assert.deepEqual(await world.sponsor.execute({ digest, signature }), answers[0]);
  assert.equal(world.executed.filter((each) => each === digest).length, 1);
  assert.equal(world.calls.all.get("chain/ExecuteTransaction"), 2, "the split, and once");
});

Deno.test("an answer that was lost is asked for again, by the digest", async () => {
  await using world = new World();
  const { digest, signature } = await world.signed();
  world.faults.set("chain", { kind: "lost", only: "ExecuteTransaction", times: 1 });
  await assert.rejects(world.sponsor.execute({ digest, signature }), {
    code: "sponsor_upstream_error",
  });
  assert.deepEqual(await world.sponsor.execute({ digest, signature }), {
    digest,
    gasMist: 2_000_000,
  });
  assert.equal(world.executed.filter((each) => each === digest).length, 1);
});

Deno.test("after a restart the chain says what was executed; the rest is gone", async () => {
  await using world = new World();
  const done = await world.signed();
  await world.sponsor.execute(done);
  const open = await world.signed();
  await using restarted = world.station();
  assert.deepEqual(await restarted.execute(done), { digest: done.digest, gasMist: 2_000_000 });
  await assert.rejects(restarted.execute(open), { code: "sponsorship_not_found" });
  // Nor does it know what others paid for themselves.
  const stranger = new Ed25519Keypair();
  world.chain.mint(stranger.toSuiAddress(), "0x2::sui::SUI", 1_000_000_000n);
  const tx: Transaction = createAccount(world.deployment);
  const own = await world.client.core.signAndExecuteTransaction({
    transaction: tx,
    signer: stranger,
  });
  const digest = own.Transaction!.digest;
  await assert.rejects(restarted.execute({ digest, signature: new Uint8Array(97) }), {
    code: "sponsorship_not_found",
  });
});

Deno.test("a node that is down, overloaded or broken is told apart", async () => {
  await using world = new World();
  const { digest, signature } = await world.signed();
  const sender = new Ed25519Keypair().toSuiAddress();
  const kindBytes = await world.kind();
  const cases = [
    [{ kind: "down" }, "sponsor_upstream_error"],
    [{ kind: "status", status: 500 }, "sponsor_upstream_error"],
    [{ kind: "status", status: 429, retryAfter: 3 }, "sponsor_overloaded"],
  ] as const;
  for (const [fault, code] of cases) {
    world.faults.set("chain", fault);
    await assert.rejects(world.sponsor.sponsor({ sender, kindBytes }), { code });
    await assert.rejects(world.sponsor.execute({ digest, signature }), { code });
  }
  world.faults.clear();
  await world.sponsor.execute({ digest, signature });
  await world.sponsor.sponsor({ sender, kindBytes });
});

Deno.test("whoever leaves does not take a coin along", async () => {
  await using world = new World([60_000_000n]);
  const sender = new Ed25519Keypair().toSuiAddress();
  const kindBytes = await world.kind();
  world.faults.set("chain", { kind: "hang" });
  const leave = new AbortController();
  const asked = world.sponsor.sponsor({ sender, kindBytes }, { signal: leave.signal });
  leave.abort(new Error("left"));
  await assert.rejects(asked, /left/);
  world.faults.clear();
  // What the first one waited for ends as it did for others who waited for it.
  const again = () => world.sponsor.sponsor({ sender, kindBytes });
  assert.ok(await again().catch(again));
});
