import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import {
  removeDelegateKeys,
  setAccountActive,
} from "../../../../plugins/sui/accounts/transactions.ts";
import { SvcError } from "../../../../src/errors.ts";
import { accountRegistrySuite, conform } from "../../../../testing/mod.ts";
import { offerOwnership, ownerCall } from "./contract_calls.ts";
import { OnDevnet } from "./on_devnet.ts";
import { poll } from "../../../within.ts";
import { startDevnet } from "../../../../devnet/mod.ts";
import { WalletAccounts } from "../../../../plugins/sui/accounts/wallet.ts";
import { keyProofText } from "../../../../src/wire/signing/signing.ts";
import { TestKey } from "../../../relayer_fixture.ts";
import { verifies } from "../../../requirements.ts";

Deno.test("an account's whole life on chain is seen", async () => {
  await using chain = await OnDevnet.start();
  const { accounts, deployment } = chain;
  const owner = await chain.wallet();
  const heir = await chain.wallet();
  const accountId = await chain.account(owner);
  deepStrictEqual(await accounts.get(accountId), {
    accountId,
    owner: owner.toSuiAddress(),
    active: true,
    keys: [],
  });
  const key = await chain.key(owner, accountId);
  const account = await accounts.resolve(key.publicKey);
  deepStrictEqual(account, await accounts.get(accountId));
  const { createdAt, ...listed } = account!.keys[0]!;
  deepStrictEqual(listed, {
    publicKey: key.publicKey,
    address: key.address,
    label: "Laptop",
    permissions: ["read"],
  });
  ok(Math.abs(createdAt - chain.devnet.clock.now()) < 60_000);

  await chain.execute(owner, setAccountActive(deployment, accountId, false));
  strictEqual((await accounts.get(accountId))?.active, false);
  await chain.execute(owner, setAccountActive(deployment, accountId, true));
  await chain.execute(owner, offerOwnership(deployment, accountId, heir.toSuiAddress()));
  await chain.execute(heir, ownerCall("accept_ownership", deployment, accountId));
  strictEqual((await accounts.resolve(key.publicKey))?.owner, heir.toSuiAddress());
  strictEqual(await accounts.ofOwner(owner.toSuiAddress()), undefined);
  await rejects(chain.execute(owner, removeDelegateKeys(deployment, accountId, [key.publicKey])));
  await chain.execute(heir, removeDelegateKeys(deployment, accountId, [key.publicKey]));
  strictEqual(await accounts.resolve(key.publicKey), undefined);
  await chain.execute(heir, ownerCall("close_account", deployment, accountId));
  strictEqual(await accounts.get(accountId), undefined);
  strictEqual(await accounts.ofOwner(heir.toSuiAddress()), undefined);
});

Deno.test("every change on chain is told", async () => {
  await using chain = await OnDevnet.start();
  const { accounts, deployment } = chain;
  const owner = await chain.wallet();
  const told: (string | undefined)[] = [];
  let more = Promise.withResolvers<void>();
  using _ = accounts.watch((accountId) => {
    told.push(accountId);
    more.resolve();
    more = Promise.withResolvers<void>();
  });
  const next = async () => {
    while (told.length === 0) await more.promise;
    return told.shift();
  };
  strictEqual(await next(), undefined, "connected");
  const accountId = await chain.account(owner);
  strictEqual(await next(), accountId);
  const key = await chain.key(owner, accountId);
  strictEqual(await next(), accountId);
  for (
    const change of [
      setAccountActive(deployment, accountId, false),
      setAccountActive(deployment, accountId, true),
      removeDelegateKeys(deployment, accountId, [key.publicKey]),
      ownerCall("close_account", deployment, accountId),
    ]
  ) {
    await chain.execute(owner, change);
    strictEqual(await next(), accountId);
  }
});

Deno.test("a chain that is down, slow or hangs is unavailable, and recovers by itself", async () => {
  await using chain = await OnDevnet.start(1_000);
  const { accounts, devnet } = chain;
  const owner = await chain.wallet();
  const accountId = await chain.account(owner);
  const key = await chain.key(owner, accountId);
  for (
    const fault of [
      { kind: "down" },
      { kind: "hang" },
      { kind: "slow", ms: 1_500 },
      { kind: "status", status: 500 },
    ] as const
  ) {
    devnet.faults.set("chain", fault);
    const thrown = await accounts.resolve(key.publicKey).catch((error) => error);
    ok(thrown instanceof SvcError && thrown.code === "chain_unavailable", fault.kind);
    devnet.faults.set("chain", undefined);
    const account = await poll(
      () => accounts.resolve(key.publicKey).catch(() => undefined),
      (found) => found !== undefined,
      10_000,
    );
    strictEqual(account?.accountId, accountId);
  }
  devnet.faults.set("chain", { kind: "wrong" });
  for (let i = 0; i < 5; i++) {
    const found = await accounts.resolve(key.publicKey).catch((error) => {
      ok(error instanceof SvcError && error.code === "chain_unavailable");
    });
    ok(found === undefined || found.accountId === accountId);
  }
});

Deno.test("a wallet binds a key to namespaces, where the package is not too old", async () => {
  verifies("10.17-8");
  for (const contract of [2n, 1n]) {
    await using devnet = await startDevnet({ contract });
    const { packageId, registryId, rpcUrl } = devnet;
    const seed = new Uint8Array(32).fill(7);
    await using accounts = new WalletAccounts({
      network: "localnet",
      rpcUrl,
      packageId,
      registryId,
      seed,
    });
    const { admin, address = "" } = accounts;
    await devnet.fund(address);
    const { accountId } = await admin.create(address);
    const newKey = () => {
      const key = new TestKey();
      const proof = key.sign(keyProofText(accountId));
      const permissions = ["read"] as const;
      return { publicKey: key.publicKey, proof, permissions, label: "Ada" };
    };
    const free = newKey();
    await admin.addKey(accountId, free);
    const bound = { ...newKey(), namespaces: ["work", "notes/", "work"] };
    const adding = admin.addKey(accountId, bound);
    if (contract === 1n) {
      await rejects(adding, { code: "invalid_parameter", message: /of an earlier version/ });
      strictEqual(await accounts.resolve(bound.publicKey), undefined);
    } else {
      deepStrictEqual((await adding).keys[1]?.namespaces, ["work", "notes/"]);
      for (const namespaces of [[], [""], ["x".repeat(257)], Array(33).fill("a"), ["a\n"]]) {
        const wrong = { ...newKey(), namespaces };
        await rejects(admin.addKey(accountId, wrong), { code: "invalid_parameter" });
      }
    }
    const { keys } = (await accounts.resolve(free.publicKey))!;
    strictEqual(keys[0]?.namespaces, undefined);
    await admin.removeKey(accountId, free.publicKey);
  }
});

conform(accountRegistrySuite, "sui on the devnet", async () => {
  const chain = await OnDevnet.start();
  const { accounts } = chain;
  // Its owners are whoever holds the keys: cases that change accounts run on a node made for them.
  return {
    resolve: (publicKey, options) => accounts.resolve(publicKey, options),
    get: (accountId, options) => accounts.get(accountId, options),
    [Symbol.asyncDispose]: () => chain[Symbol.asyncDispose](),
  };
});
