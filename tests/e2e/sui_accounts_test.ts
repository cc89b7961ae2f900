import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { removeDelegateKeys } from "../../plugins/sui/accounts/transactions.ts";
import { type Env, Installation } from "../crash/installation.ts";
import { call, health, type Identity, idle, makeIdentity } from "../crash/wire.ts";
import { OnDevnet } from "../plugins/sui/accounts/on_devnet.ts";
import { TestKey } from "../relayer_fixture.ts";
import { poll } from "../within.ts";

/** Settings of a relayer whose accounts are on the devnet, and everything else here. */
function settings({ devnet }: OnDevnet, ttl: number): Env {
  return {
    SVC_EMBEDDER: "memory",
    SVC_ACCOUNTS: "sui",
    SVC_SUI_RPC_URL: devnet.rpcUrl,
    SVC_PACKAGE_ID: devnet.packageId,
    SVC_REGISTRY_ID: devnet.registryId,
    SVC_ACCOUNT_CACHE_TTL_SECONDS: String(ttl),
    SVC_ACCOUNT_NEGATIVE_TTL_SECONDS: "0",
    SVC_ACCOUNT_LOOKUPS_PER_IP_PER_MINUTE: "100000",
  };
}

const stats = async (url: string, identity: Identity) => {
  const { status, body } = await call(url, identity, { route: "POST /api/stats", body: {} });
  return status === 200 ? "200" : `${status} ${body.code}`;
};

Deno.test("a key of an account on chain remembers and recalls, until it is removed", async () => {
  await using chain = await OnDevnet.start();
  const owner = await chain.wallet();
  const accountId = await chain.account(owner);
  const key = await chain.key(owner, accountId, ["read", "write"]);
  const identity = await makeIdentity(key.seed.toHex(), accountId);
  await using installation = await Installation.create(settings(chain, 3600));
  await using relayer = await installation.start();
  const { url } = relayer;
  const body = { text: "The kettle is blue" };
  const written = await call(url, identity, { route: "POST /api/remember", body });
  strictEqual(written.status, 202);
  await idle(url);
  const query = { query: "kettle", limit: 1 };
  const found = await call(url, identity, { route: "POST /api/recall", body: query });
  deepStrictEqual(found.body.results.map(({ text }) => text), [body.text]);
  const reader = await chain.key(owner, accountId);
  const readOnly = await makeIdentity(reader.seed.toHex(), accountId);
  strictEqual(await stats(url, readOnly), "200");
  const refused = await call(url, readOnly, { route: "POST /api/remember", body });
  strictEqual(refused.body.code, "permission_denied");

  await chain.execute(owner, removeDelegateKeys(chain.deployment, accountId, [key.publicKey]));
  await poll(
    () => stats(url, identity),
    (answer) => answer === "401 account_not_authorized",
    5_000,
  );
  strictEqual(await stats(url, readOnly), "200");
});

Deno.test("while the chain is down known keys go on, and nobody gets a 401", async () => {
  await using chain = await OnDevnet.start();
  const { faults } = chain.devnet;
  const owner = await chain.wallet();
  const accountId = await chain.account(owner);
  const key = await chain.key(owner, accountId);
  const known = await makeIdentity(key.seed.toHex(), accountId);
  const unknown = await makeIdentity(new TestKey().seed.toHex(), accountId);
  await using installation = await Installation.create(settings(chain, 0));
  await using relayer = await installation.start();
  const { url } = relayer;
  strictEqual(await stats(url, known), "200");
  strictEqual(await stats(url, unknown), "401 account_not_authorized");
  faults.set("chain", { kind: "down" });
  for (let i = 0; i < 20; i++) {
    strictEqual(await stats(url, known), "200");
    strictEqual(await stats(url, unknown), "503 chain_unavailable");
  }
  const chainState = async () => {
    const { status, dependencies } = await health(url);
    const states: Readonly<Record<string, { readonly status: string } | undefined>> = dependencies;
    return [status, states["chain"]?.status];
  };
  ok(["degraded,down", "degraded,degraded"].includes(String(await chainState())));
  faults.set("chain", undefined);
  await poll(
    () => stats(url, unknown),
    (answer) => answer === "401 account_not_authorized",
    20_000,
  );
  await poll(chainState, (state) => String(state) === "ok,ok" || state[1] === "ok");
  strictEqual(await stats(url, known), "200");
});
