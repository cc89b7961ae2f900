import assert from "node:assert/strict";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { SuiAccounts } from "../../../../plugins/sui/accounts/accounts.ts";
import type { RelayerConfig } from "../../../../src/interfaces/config.ts";
import { assertError } from "../../../http/case.ts";
import {
  type SendOptions,
  startRelayer,
  TestClock,
  TestKey,
  type TestRelayer,
} from "../../../relayer_fixture.ts";
import { verifies } from "../../../requirements.ts";
import { accountObject, type AccountParts, CONTRACT, FakeNode, id } from "./fake_node.ts";
import { poll } from "../../../within.ts";

const OWNER = id("1");
const REFUSED = "account_not_authorized";

interface Setting {
  readonly node: FakeNode;
  readonly svc: TestRelayer;
  readonly key: TestKey;
  readonly account: AccountParts;
}

/** A relayer whose accounts are on a chain with one account of one key. */
async function onChain(
  run: (setting: Setting) => Promise<void>,
  config: Partial<RelayerConfig> = {},
  timeoutMs = 10_000,
): Promise<void> {
  const key = new TestKey();
  const account = { id: id("5"), owner: OWNER, keys: [{ publicKey: key.publicKey }] };
  await using node = new FakeNode();
  node.put(account);
  const clock = new TestClock();
  const accounts = new SuiAccounts({
    client: openSui({ network: "localnet", url: node.url, timeoutMs }),
    ...CONTRACT,
    watch: { settleMs: 1, backoffMs: 1, maxBackoffMs: 5 },
    breaker: { failures: 1_000_000 },
  });
  await using svc = await startRelayer({
    clock,
    config: { ...CONTRACT, network: "testnet", ...config },
    backends: { accounts },
    existing: {
      key,
      account: { accountId: account.id, owner: OWNER, active: true, keys: [] },
    },
  });
  const connected = Promise.withResolvers<unknown>();
  using _ = accounts.watch(connected.resolve);
  await connected.promise;
  await run({ node, svc, key, account });
}

/** `200`, or the code of the error. */
async function ask(svc: TestRelayer, options: SendOptions = {}): Promise<string> {
  const { status, body } = await svc.post("/api/stats", {}, options);
  return status === 200 ? "200" : body.code;
}

/** Asks until the answer is this one. */
async function until(answer: string, ask: () => Promise<string>): Promise<void> {
  await poll(ask, (now) => now === answer);
}

Deno.test("a key on chain is known by hint and by index, and remembers and recalls", async () => {
  verifies("4.5-2", "4.5-3", "4.5-5", "4.5-6", "4.5-10");
  await onChain(async ({ node, svc, account }) => {
    assert.equal(await ask(svc, { accountId: account.id }), "200");
    assert.equal(node.batches.length, 1);
    assert.equal(await ask(svc), "200");
    assert.equal(node.batches.length, 3);
    await svc.remember("I like tea");
    assert.deepEqual(await svc.recall("tea"), ["I like tea"]);
    assert.equal(node.batches.length, 3, "from memory");
    assert.equal(await ask(svc, { key: new TestKey() }), REFUSED);
    const other = { id: id("6"), owner: id("2"), keys: [{ publicKey: new TestKey().publicKey }] };
    node.put(other);
    assert.equal(await ask(svc, { accountId: other.id }), REFUSED, "a wrong hint is final");
    assert.equal(await ask(svc, { accountId: id("7") }), REFUSED);
  });
});

Deno.test("SVC_ACCOUNT_ID stands in for a hint where it lists the key", async () => {
  verifies("4.5-4");
  await onChain(async ({ node, svc }) => {
    assert.equal(await ask(svc), "200");
    assert.equal(node.batches.length, 1);
    const key = new TestKey();
    node.put({ id: id("6"), owner: id("2"), keys: [{ publicKey: key.publicKey }] });
    assert.equal(await ask(svc, { key }), "200", "by the index");
  }, { defaultAccountId: id("5") });
});

Deno.test("the package is shown, the chain has a state, and owners have no routes", async () => {
  verifies("9-4", "9.2-1");
  await onChain(async ({ node, svc, account }) => {
    const { body } = await svc.get("/api/account");
    assert.deepEqual([body.account_id, body.package_id, body.owner], [
      account.id,
      CONTRACT.packageId,
      OWNER,
    ]);
    const config = (await svc.plain("GET", "/config")).body;
    assert.deepEqual([config.packageId, config.registryId, config.network], [
      CONTRACT.packageId,
      CONTRACT.registryId,
      "testnet",
    ]);
    for (const path of ["/challenge", "", `/${account.id}/keys`, `/${account.id}/deactivate`]) {
      assertError(await svc.plain("POST", `/accounts${path}`, {}), [404, "not_found"]);
    }
    const chain = async () => {
      svc.clock.advance(2_000);
      return (await svc.plain("GET", "/health")).body.dependencies.chain.status;
    };
    assert.equal(await chain(), "ok");
    node.status = 503;
    svc.clock.advance(60_000);
    assert.equal(await ask(svc), "200");
    assert.equal(await chain(), "degraded");
    node.status = undefined;
    await until("ok", chain);
  });
});

Deno.test("a removed key is refused as soon as the chain tells of it", async () => {
  verifies("4.5-11", "4.5-12", "4.5-13");
  await onChain(async ({ node, svc, key, account }) => {
    assert.equal(await ask(svc), "200");
    node.put({ ...account, active: false });
    assert.equal(await ask(svc), "200", "nobody told");
    node.emit(account.id, `${CONTRACT.packageId}::account::ActiveChanged`);
    await until(REFUSED, () => ask(svc));
    node.put(account);
    node.emit(account.id);
    await until("200", () => ask(svc));
    node.put({ ...account, keys: [] });
    node.objects.delete([...node.objects].find(([, one]) => one.owner?.kind === 2)![0]);
    node.emit(account.id);
    await until(REFUSED, () => ask(svc, { key }));
  });
});

Deno.test("a chain that is down or slow lets known keys on, and never answers 401", async () => {
  verifies("4.5-16", "4.5-17", "5-18");
  for (const trouble of ["status", "hangs"] as const) {
    await onChain(
      async ({ node, svc }) => {
        assert.equal(await ask(svc), "200");
        if (trouble === "status") node.status = 503;
        else node.hangs = true;
        svc.clock.advance(60_000);
        for (let i = 0; i < 20; i++) assert.equal(await ask(svc), "200");
        for (const options of [{ key: new TestKey() }, { accountId: id("5") }]) {
          const answer = await svc.post("/api/stats", {}, options);
          assertError(answer, [503, "chain_unavailable"]);
          assert.equal(answer.headers.get("retry-after"), "5");
          assert.ok(!/127\.0|10\.1/.test(answer.text));
        }
        svc.clock.advance(240_000);
        assert.equal(await ask(svc), "chain_unavailable", "too old");
        node.hangs = false;
        node.status = undefined;
        assert.equal(await ask(svc), "200", "recovers by itself");
      },
      {},
      trouble === "hangs" ? 500 : 10_000,
    );
  }
});

Deno.test("a node that lies authenticates nobody", async () => {
  verifies("4.5-7", "2-12");
  await onChain(async ({ node, svc, account }) => {
    const lookAlike = { ...accountObject(account), objectType: `${id("c")}::account::SvcAccount` };
    node.objects.set(account.id, lookAlike);
    for (const options of [{}, { accountId: account.id }]) {
      assertError(await svc.post("/api/stats", {}, options), [401, REFUSED]);
    }
    svc.clock.advance(10_000);
    const content = accountObject(account).contents!.value!;
    for (const value of [content.slice(1), content.slice(0, 40), new Uint8Array()]) {
      node.objects.set(account.id, { ...accountObject(account), contents: { value } });
      for (const options of [{}, { accountId: account.id }]) {
        assertError(await svc.post("/api/stats", {}, options), [503, "chain_unavailable"]);
      }
    }
    node.lie = ({ objects }) => void (objects.length = 0);
    assertError(await svc.post("/api/stats", {}), [503, "chain_unavailable"]);
    node.lie = () => {};
    node.put(account);
    assert.equal(await ask(svc), "200");
  });
});
