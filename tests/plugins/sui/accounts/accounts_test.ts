import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { checkBinds } from "../../../../plugins/sui/chain/account_object.ts";
import { verifies } from "../../../requirements.ts";
import { SuiAccounts } from "../../../../plugins/sui/accounts/accounts.ts";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import type { CircuitBreakerOptions } from "../../../../plugins/shared/circuit_breaker.ts";
import { SvcError } from "../../../../src/errors.ts";
import { addressOf } from "../../../../src/wire/keys.ts";
import { accountRegistrySuite, conform } from "../../../../testing/mod.ts";
import { AccountsOnNode } from "./accounts_on_node.ts";
import { CONTRACT, FakeNode, id } from "./fake_node.ts";

const KEY = "3a".repeat(32);
const ACCOUNT = { id: id("5"), keys: [{ publicKey: KEY }] };

interface Bounds {
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly breaker?: CircuitBreakerOptions;
}

function open(node: FakeNode, { timeoutMs, maxBytes, breaker }: Bounds = {}): SuiAccounts {
  const client = openSui({
    network: "localnet",
    url: node.url,
    timeoutMs: timeoutMs ?? 5_000,
    maxBytes: maxBytes ?? 1024 * 1024,
  });
  return new SuiAccounts({ client, ...CONTRACT, ...(breaker === undefined ? {} : { breaker }) });
}

const down = (error: unknown) =>
  error instanceof SvcError && error.code === "chain_unavailable" &&
  !/127\.0|10\.1/.test(error.message);

conform(accountRegistrySuite, "sui", () => new AccountsOnNode());

Deno.test("an account is one read by id, and two by key or owner", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  const other = "4b".repeat(32);
  const far = 2n ** 64n - 1n;
  node.put({
    ...ACCOUNT,
    owner: id("9"),
    active: false,
    generation: 4,
    keys: [
      { publicKey: KEY, permissions: ["write"], expiresAt: 1_800_000_000_000n },
      { publicKey: other, expiresAt: far },
    ],
  });
  const found = await accounts.get(ACCOUNT.id);
  strictEqual(node.batches.length, 1);
  const createdAt = 1_700_000_000_000;
  const label = "Laptop";
  deepStrictEqual(found, {
    accountId: ACCOUNT.id,
    owner: id("9"),
    active: false,
    keys: [{
      publicKey: KEY,
      address: addressOf(KEY),
      label,
      permissions: ["write"],
      createdAt,
      expiresAt: 1_800_000_000_000,
    }, {
      publicKey: other,
      address: addressOf(other),
      label,
      permissions: ["read", "write"],
      createdAt,
      expiresAt: 8.64e15,
    }],
  });
  ok(new Date(found?.keys[1]?.expiresAt ?? NaN).toISOString(), "every time can be shown");
  deepStrictEqual(await accounts.resolve(KEY.toUpperCase()), found);
  strictEqual(node.batches.length, 3);
  deepStrictEqual(await accounts.ofOwner(id("9")), found);
  deepStrictEqual(await accounts.get(ACCOUNT.id.toUpperCase().replace("X", "x")), found);
  strictEqual(await accounts.ofOwner(id("8")), undefined);
  const asked = node.batches.length;
  for (const odd of ["", "0x5", KEY, id("g")]) strictEqual(await accounts.get(odd), undefined);
  for (const odd of ["", "zz", id("5")]) strictEqual(await accounts.resolve(odd), undefined);
  strictEqual(node.batches.length, asked, "what cannot be an id is not asked for");
});

Deno.test("reads of one turn are one call of at most 50, and equal ones are one read", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  const ids = Array.from({ length: 120 }, (_, i) => `0x${String(i).padStart(64, "0")}`);
  const answers = await Promise.all(
    [...ids, ...ids, ACCOUNT.id, ACCOUNT.id].map((one) => accounts.get(one)),
  );
  deepStrictEqual(node.batches.map(({ length }) => length).sort(), [21, 50, 50]);
  deepStrictEqual(answers.filter((account) => account !== undefined).length, 2);
  const keys = Array.from({ length: 10 }, () => accounts.resolve(KEY));
  await Promise.all(keys);
  deepStrictEqual(node.batches.slice(3).map(({ length }) => length), [1, 1]);
});

Deno.test("who gives up takes nothing from those who wait", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  const gate = Promise.withResolvers<void>();
  node.gate = gate.promise;
  const leaving = new AbortController();
  const [left, stayed] = [accounts.get(ACCOUNT.id, leaving), accounts.get(ACCOUNT.id)];
  const reason = new Error("gone");
  leaving.abort(reason);
  await rejects(left, (error) => error === reason);
  gate.resolve();
  strictEqual((await stayed)?.accountId, ACCOUNT.id);
  strictEqual(node.batches.length, 1);
});

Deno.test("large objects that somebody names do not take the others' answers away", async () => {
  await using node = new FakeNode();
  await using accounts = open(node, { maxBytes: 4096 });
  node.put(ACCOUNT);
  const large = ["c", "d", "e", "f"].map(id);
  for (const one of large) {
    node.objects.set(one, {
      objectId: one,
      objectType: "0x2::bag::Bag",
      owner: { kind: 3 },
      contents: { value: new Uint8Array(3000) },
    });
  }
  const answers = await Promise.all([...large, ACCOUNT.id].map((one) => accounts.get(one)));
  deepStrictEqual(answers.map((one) => one?.accountId), [
    ...large.map(() => undefined),
    ACCOUNT.id,
  ]);
  deepStrictEqual(accounts.health(), { status: "ok" });
});

Deno.test("a node that is down, slow or broken is unavailable, and left alone for a while", async () => {
  const port = await (async () => {
    await using node = new FakeNode();
    return node.port;
  })();
  let now = 0;
  const breaker = { failures: 3, pauseMs: 1_000, maxPauseMs: 4_000, now: () => now };
  const client = openSui({ network: "localnet", url: `http://127.0.0.1:${port}`, timeoutMs: 200 });
  await using accounts = new SuiAccounts({ client, ...CONTRACT, breaker });
  deepStrictEqual(accounts.health(), { status: "ok" });
  await rejects(accounts.get(ACCOUNT.id), down);
  strictEqual(accounts.health().status, "degraded");
  await using node = new FakeNode(port);
  node.put(ACCOUNT);
  node.hangs = true;
  await rejects(accounts.resolve(KEY), down);
  node.hangs = false;
  node.status = 429;
  await rejects(accounts.get(ACCOUNT.id), down);
  deepStrictEqual(accounts.health(), {
    status: "down",
    reason: "The chain's node asks for a pause",
  });
  const asked = node.methods.length;
  await rejects(accounts.get(ACCOUNT.id), { code: "chain_unavailable", retryAfter: 1 });
  strictEqual(node.methods.length, asked, "not asked while the breaker is open");
  now += 1_000;
  node.status = 503;
  await rejects(accounts.get(ACCOUNT.id), down);
  now += 2_000;
  node.status = undefined;
  strictEqual((await accounts.resolve(KEY))?.accountId, ACCOUNT.id, "recovers by itself");
  deepStrictEqual(accounts.health(), { status: "ok" });
});

Deno.test("after disposal calls reject, also those under way", async () => {
  await using node = new FakeNode();
  const accounts = open(node);
  node.hangs = true;
  const call = accounts.get(ACCOUNT.id);
  const seen = rejects(call, down);
  await node.until(() => node.methods.length === 1);
  await accounts[Symbol.asyncDispose]();
  await seen;
  await rejects(accounts.resolve(KEY), down);
});

Deno.test("a key is bound to namespaces where the contract keeps them", () => {
  verifies("10.17-8");
  throws(() => checkBinds(1), {
    code: "invalid_parameter",
    field: "namespaces",
    message: /earlier version.*publish this version/,
  });
  checkBinds(2);
});

Deno.test("accounts of both versions of the contract are read", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put({ ...ACCOUNT, version: 1 });
  const first = await accounts.get(ACCOUNT.id);
  deepStrictEqual(first?.keys.map(({ namespaces }) => namespaces), [undefined]);
  node.put({ ...ACCOUNT, keys: [{ publicKey: KEY, namespaces: ["work", "notes/", "é"] }] });
  const { keys: [key] } = (await accounts.resolve(KEY))!;
  deepStrictEqual(key?.namespaces, ["work", "notes/", "é"]);
});
