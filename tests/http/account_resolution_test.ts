import assert from "node:assert/strict";
import { memoryAccounts } from "../../plugins/memory/accounts.ts";
import { memoryCipher } from "../../plugins/memory/cipher.ts";
import type { RelayerConfig } from "../../src/interfaces/config.ts";
import type { AccountListener, AccountRegistry } from "../../src/interfaces/mod.ts";
import {
  type SendOptions,
  startRelayer,
  TestClock,
  TestKey,
  type TestRelayer,
} from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { poll, turns } from "../within.ts";

/** Counts what it is asked, and can be down; without `watch` unless wanted. */
class Probe implements AccountRegistry {
  readonly #inner: AccountRegistry;
  readonly watch?: NonNullable<AccountRegistry["watch"]>;
  readonly admin: NonNullable<AccountRegistry["admin"]>;
  asked = "";
  down = false;
  /** Awaited by every look-up after the registry has answered. */
  gate: Promise<void> = Promise.resolve();

  constructor(clock: TestClock, watched: boolean) {
    this.#inner = memoryAccounts(clock.now);
    this.admin = this.#inner.admin!;
    if (watched) this.watch = (listener) => this.#inner.watch!(listener);
  }

  async #answer<T>(kind: string, answer: () => Promise<T>): Promise<T> {
    this.asked += kind;
    if (this.down) throw new Error("no route to 10.1.2.3:9000");
    const found = await answer();
    await this.gate;
    return found;
  }

  resolve: AccountRegistry["resolve"] = (publicKey) =>
    this.#answer("k", () => this.#inner.resolve(publicKey));

  get: AccountRegistry["get"] = (accountId) => this.#answer("a", () => this.#inner.get(accountId));

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]();
  }
}

async function start(
  config: Partial<RelayerConfig> = {},
  watched = false,
): Promise<{ readonly svc: TestRelayer; readonly registry: Probe }> {
  const clock = new TestClock();
  clock.freeze();
  const registry = new Probe(clock, watched);
  return { svc: await startRelayer({ config, clock, backends: { accounts: registry } }), registry };
}

/** `200`, or the code of the error. */
async function ask(svc: TestRelayer, options: SendOptions = {}): Promise<string> {
  const { status, body } = await svc.post("/api/stats", {}, options);
  return status === 200 ? "200" : body.code;
}

const REFUSED = "account_not_authorized";

Deno.test("a hint is looked up by id, and is final", async () => {
  verifies("4.5-2", "4.5-3", "4.5-6", "4.5-10", "1-3");
  const { svc, registry } = await start();
  await using _ = svc;
  const { account: other } = await svc.addAccount();
  assert.equal(await ask(svc, { accountId: svc.account.accountId }), "200");
  assert.equal(registry.asked, "a");
  const upper = `0x${svc.account.accountId.slice(2).toUpperCase()}`;
  assert.equal(await ask(svc, { accountId: upper }), "200", "signed as sent, compared as hex");
  assert.equal(await ask(svc, { accountId: other.accountId }), REFUSED);
  assert.equal(await ask(svc, { accountId: `0x${"0".repeat(64)}` }), REFUSED);
  assert.equal(await ask(svc, { accountId: svc.owner }), REFUSED, "the owner is no account");
  assert.equal(registry.asked, "aaaa", "no look-up by key");
  assert.equal(await ask(svc), "200");
  assert.equal(await ask(svc, { headers: { "x-account-id": "" } }), "200", "empty is absent");
  assert.equal(await ask(svc, { key: new TestKey() }), REFUSED);
  assert.equal(registry.asked, "aaaakk");
});

Deno.test("SVC_ACCOUNT_ID stands in for a missing hint, and is not final", async () => {
  verifies("4.5-4", "4.5-5");
  const clock = new TestClock();
  const registry = new Probe(clock, false);
  const owner = `0x${"7".repeat(64)}`;
  const { accountId } = await registry.admin.create(owner);
  await using svc = await startRelayer({
    clock,
    config: { defaultAccountId: accountId },
    backends: { accounts: registry },
  });
  const listed = await svc.addKey(["read"], { accountId });
  assert.equal(await ask(svc, { key: listed }), "200");
  assert.equal(registry.asked, "a");
  assert.equal(await ask(svc), "200", "another account's key");
  assert.equal(registry.asked, "aak");
  assert.equal(await ask(svc, { key: listed, accountId: svc.account.accountId }), REFUSED);
});

Deno.test("answers are kept by key and hint: 60 s, or 5 s when there is no account", async () => {
  verifies("4.5-1", "4.5-14", "4.5-15", "4.5-19");
  const { svc, registry } = await start({ accountLookupsPerMinute: 5 });
  await using _ = svc;
  const { accountId } = svc.account;
  for (let i = 0; i < 3; i++) assert.equal(await ask(svc), "200");
  for (let i = 0; i < 3; i++) assert.equal(await ask(svc, { accountId }), "200");
  assert.equal(registry.asked, "ka");
  svc.clock.advance(59_999);
  assert.equal(await ask(svc), "200");
  assert.equal(registry.asked, "ka");
  svc.clock.advance(1);
  assert.equal(await ask(svc), "200");
  assert.equal(registry.asked, "kak");

  const key = new TestKey();
  assert.equal(await ask(svc, { key }), REFUSED);
  await svc.backends.accounts.admin!.addKey(accountId, {
    publicKey: key.publicKey,
    label: "late",
    permissions: ["read"],
  });
  svc.clock.advance(4_999);
  assert.equal(await ask(svc, { key }), REFUSED, "nobody told of the change");
  assert.equal(registry.asked, "kakk");
  svc.clock.advance(1);
  assert.equal(await ask(svc, { key }), "200");
});

Deno.test("changes are seen at once where the registry tells of them", async () => {
  verifies("4.5-8", "4.5-11", "4.5-12", "4.5-13");
  const { svc } = await start({}, true);
  await using _ = svc;
  const admin = svc.backends.accounts.admin!;
  const { accountId } = svc.account;
  const key = new TestKey();
  const added = { publicKey: key.publicKey, label: "late", permissions: ["read"] as const };
  assert.equal(await ask(svc, { key }), REFUSED);
  await admin.addKey(accountId, added);
  assert.equal(await ask(svc, { key }), "200");
  await admin.setActive(accountId, false);
  assert.equal(await ask(svc, { key }), REFUSED);
  assert.equal(await ask(svc), REFUSED);
  await admin.setActive(accountId, true);
  assert.equal(await ask(svc, { key }), "200");
  await admin.removeKey(accountId, key.publicKey);
  assert.equal(await ask(svc, { key }), REFUSED);
  assert.equal(await ask(svc), "200");
});

Deno.test("an answer that was asked for before a change is not kept", async () => {
  verifies("4.5-12");
  const { svc, registry } = await start({}, true);
  await using _ = svc;
  const key = await svc.addKey();
  const gate = Promise.withResolvers<void>();
  registry.gate = gate.promise;
  const first = ask(svc, { key });
  await poll(() => registry.asked, (asked) => asked !== "");
  await registry.admin.removeKey(svc.account.accountId, key.publicKey);
  gate.resolve();
  await first;
  assert.equal(await ask(svc, { key }), REFUSED);
});

Deno.test("a key expires on time, cached or not", async () => {
  verifies("4.5-9", "2-15");
  const { svc } = await start();
  await using _ = svc;
  const expiresAt = svc.clock.now() + 10_000;
  const key = await svc.addKey(["read"], { expiresAt });
  assert.equal(await ask(svc, { key }), "200");
  const { body } = await svc.get("/api/account", { key });
  assert.equal(body.key.expires_at, new Date(expiresAt).toISOString());
  svc.clock.advance(9_999);
  assert.equal(await ask(svc, { key }), "200");
  svc.clock.advance(1);
  assert.equal(await ask(svc, { key }), REFUSED);
});

Deno.test("while the registry is down entries are served up to 300 s old, others get 503", async () => {
  verifies("4.5-16", "4.5-17", "5-18", "3-27");
  const { svc, registry } = await start();
  await using _ = svc;
  const stranger = await svc.addKey();
  const unknown = new TestKey();
  assert.equal(await ask(svc), "200");
  assert.equal(await ask(svc, { key: unknown }), REFUSED);
  registry.down = true;
  svc.clock.advance(299_999);
  assert.equal(await ask(svc), "200");
  for (const key of [stranger, unknown]) {
    const answer = await svc.post("/api/stats", {}, { key });
    assertError(answer, [503, "chain_unavailable"]);
    assert.equal(answer.headers.get("retry-after"), "5");
    assert.ok(!answer.text.includes("10.1.2.3"));
  }
  svc.clock.advance(1);
  assert.equal(await ask(svc), "chain_unavailable");
  registry.down = false;
  assert.equal(await ask(svc), "200");
});

Deno.test("known keys neither wait for a registry that failed nor use up the limit", async () => {
  verifies("4.5-16", "4.5-18");
  const { svc, registry } = await start({ accountLookupsPerMinute: 2 });
  await using _ = svc;
  assert.equal(await ask(svc), "200");
  registry.down = true;
  svc.clock.advance(60_000);
  for (let i = 0; i < 50; i++) {
    assert.equal(await ask(svc), "200");
    svc.clock.advance(1_000);
  }
  assert.equal(registry.asked.length, 11, "once in five seconds");
  const hangs = Promise.withResolvers<void>();
  registry.down = false;
  registry.gate = hangs.promise;
  for (let i = 0; i < 3; i++) assert.equal(await ask(svc), "200", "asked again beside");
  hangs.resolve();
  await turns();
  svc.clock.advance(20_000);
  for (let i = 0; i < 3; i++) assert.equal(await ask(svc), "200", "known anew");
  assert.equal(registry.asked.length, 12);
});

Deno.test("a change that is told while the registry hangs ends what was known", async () => {
  verifies("4.5-12", "4.5-16", "4.5-17");
  const { svc, registry } = await start({}, true);
  await using _ = svc;
  const key = await svc.addKey();
  assert.equal(await ask(svc, { key }), "200");
  svc.clock.advance(60_000);
  const gate = Promise.withResolvers<void>();
  registry.gate = gate.promise;
  registry.asked = "";
  const waiting = ask(svc, { key });
  await poll(() => registry.asked, (asked) => asked !== "");
  await registry.admin.removeKey(svc.account.accountId, key.publicKey);
  gate.reject(new Error("late"));
  assert.equal(await waiting, "chain_unavailable");
  registry.gate = Promise.resolve();
  assert.equal(await ask(svc, { key }), REFUSED);
});

Deno.test("where anything may have changed it is asked again, but not forgotten", async () => {
  verifies("4.5-16");
  const clock = new TestClock();
  clock.freeze();
  const registry = new Probe(clock, false);
  const listeners = new Set<AccountListener>();
  const watched = Object.assign(registry, {
    watch(listener: AccountListener): Disposable {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  });
  await using svc = await startRelayer({ clock, backends: { accounts: watched } });
  assert.equal(await ask(svc), "200");
  registry.asked = "";
  for (const listener of listeners) listener();
  registry.down = true;
  assert.equal(await ask(svc), "200", "nobody answers");
  for (const listener of listeners) listener();
  registry.down = false;
  assert.equal(await ask(svc), "200");
  assert.equal(await ask(svc), "200");
  assert.equal(registry.asked, "kk");
});

Deno.test("the cipher is told of changes, by account or of all", async () => {
  const clock = new TestClock();
  const told: (string | undefined)[] = [];
  const cipher = Object.assign(memoryCipher(), {
    accountChanged: (accountId?: string) => void told.push(accountId),
  });
  await using svc = await startRelayer({ clock, backends: { cipher } });
  told.length = 0;
  await svc.addKey();
  assert.deepEqual(told, [svc.account.accountId]);
});

Deno.test("look-ups are limited per client address, cached answers are not", async () => {
  verifies("4.5-18", "4.5-19", "7-13");
  const { svc, registry } = await start({ accountLookupsPerMinute: 3 });
  await using _ = svc;
  for (let i = 0; i < 10; i++) assert.equal(await ask(svc), "200");
  const keys = [new TestKey(), new TestKey()];
  for (const key of [...keys, ...keys]) assert.equal(await ask(svc, { key }), REFUSED);
  const answer = await svc.post("/api/stats", {}, { key: new TestKey() });
  assertError(answer, [429, "rate_limited"], {
    layer: "account_lookup_ip",
    limit: "3 weighted-requests/min",
  });
  assert.equal(answer.headers.get("retry-after"), "60");
  assert.equal(await ask(svc), "200", "cached");
  assert.equal(await ask(svc, { key: new TestKey(), peer: "192.0.2.1" }), REFUSED);
  assert.equal(registry.asked, "kkkk");
  // A signature that does not verify costs nobody a look-up.
  const headers = { "x-signature": "1".repeat(128) };
  const forged = await ask(svc, { key: new TestKey(), peer: "192.0.2.2", headers });
  assert.equal(forged, "signature_invalid");
  assert.equal(registry.asked, "kkkk");
});

Deno.test("changes of other accounts do not keep an answer from being kept", async () => {
  verifies("4.5-1");
  const { svc, registry } = await start({}, true);
  await using _ = svc;
  const other = await svc.addAccount();
  const gate = Promise.withResolvers<void>();
  registry.gate = gate.promise;
  registry.asked = "";
  const first = ask(svc);
  await poll(() => registry.asked, (asked) => asked !== "");
  await registry.admin.setActive(other.account.accountId, false);
  gate.resolve();
  assert.equal(await first, "200");
  assert.equal(await ask(svc), "200");
  assert.equal(registry.asked, "k");
});

Deno.test("a hundred first requests of a key at once ask the registry once", async () => {
  const { svc, registry } = await start({ unverifiedBodyBytes: 2 ** 30 }, true);
  await using _ = svc;
  const gate = Promise.withResolvers<void>();
  registry.gate = gate.promise;
  const answers = Array.from({ length: 100 }, () => ask(svc));
  const asked = async () => {
    await poll(() => registry.asked, (asked) => asked !== "");
    await turns(50);
  };
  await asked();
  assert.equal(registry.asked, "k");
  gate.resolve();
  assert.deepEqual(new Set(await Promise.all(answers)), new Set(["200"]));
  // Whoever comes after a change does not join a question from before it.
  registry.asked = "";
  const late = Promise.withResolvers<void>();
  registry.gate = late.promise;
  await registry.admin.setActive(svc.account.accountId, true);
  const before = ask(svc);
  await asked();
  await registry.admin.removeKey(svc.account.accountId, svc.key.publicKey);
  const after = ask(svc);
  late.resolve();
  await before;
  assert.equal(await after, REFUSED);
});
