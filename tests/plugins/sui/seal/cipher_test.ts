import assert from "node:assert/strict";
import { SealCipher } from "../../../../plugins/sui/seal/cipher.ts";
import { SvcError } from "../../../../src/errors.ts";
import type {
  DecryptCredential,
  SealContext,
  Sealed,
  SealedItem,
} from "../../../../src/interfaces/mod.ts";
import { cipherSuite, conform } from "../../../../testing/mod.ts";
import { verifies } from "../../../requirements.ts";
import { KeysForTests } from "../../sealer_for_tests.ts";
import { FAKE_SERVERS, FakeWork, stateOf, withCredential } from "./fake_work.ts";

const OWNER = "a".repeat(64);
const STRANGER = "e".repeat(64);
const CONTEXT: SealContext = {
  accountId: "0x" + "1".repeat(64),
  owner: "0x" + OWNER,
  namespace: "notes",
  memoryId: "m",
};
const { accountId } = CONTEXT;
const TEXT = new TextEncoder().encode("I moved to Lisbon");
const credential: DecryptCredential = { delegateKey: OWNER };
const MINUTE = 60_000;

/** A cipher on a fake chain and key servers, with a clock. */
function setUp(keys = new KeysForTests(), work = new FakeWork()) {
  const clock = { now: 1_000_000_000_000 };
  work.accounts.set(accountId, stateOf([`0x${OWNER}`]));
  const cipher = new SealCipher({ keys, work, servers: FAKE_SERVERS, now: () => clock.now });
  const seal = (context: Partial<SealContext> = {}) =>
    cipher.seal(TEXT, { ...CONTEXT, ...context });
  const open = (sealed: Sealed, by: DecryptCredential = credential, context = {}) =>
    cipher.open([{ memoryId: "m", ...sealed }], { ...CONTEXT, ...context, credential: by });
  return { cipher, work, keys, clock, seal, open };
}

const opened = [{ status: "fulfilled", value: TEXT }];

/** Code and retryability of what a single item was rejected with. */
function refusal([result]: PromiseSettledResult<Uint8Array>[]): unknown {
  assert.equal(result?.status, "rejected");
  const { code, retryable } = result.reason as SvcError;
  return { code, retryable };
}

conform(cipherSuite, "seal, fake key servers", () => {
  const work = new FakeWork();
  const { cipher } = setUp(new KeysForTests(), work);
  work.accounts.set("0x" + "2".repeat(64), stateOf([`0x${OWNER}`]));
  return withCredential(cipher, credential);
});

Deno.test("opening needs a credential, sealing none, and a restart neither", async () => {
  const keys = new KeysForTests();
  const before = setUp(keys);
  const sealed = await before.seal();
  await assert.rejects(
    before.cipher.open([{ memoryId: "m", ...sealed }], CONTEXT),
    { code: "decrypt_credential_required" },
  );
  await before.cipher[Symbol.asyncDispose]();
  const after = setUp(keys);
  await using _ = after.cipher;
  const next = await after.seal();
  assert.notEqual(next.keyId, sealed.keyId);
  assert.equal(after.work.calls.unwrap, 0);
  assert.deepEqual(await after.open(sealed), opened);
  assert.deepEqual(await after.open(next), opened);
});

Deno.test("a fresh machine opens records by what they carry, and keeps it", async () => {
  const { cipher, seal } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  const fresh = setUp();
  await using __ = fresh.cipher;
  const { record, keyId } = sealed;
  const without = await fresh.cipher.open([{ memoryId: "m", record }], { ...CONTEXT, credential });
  assert.deepEqual(refusal(without), { code: "storage_unavailable", retryable: false });
  assert.deepEqual(await fresh.open(sealed), opened);
  assert.equal(fresh.keys.kept[0]?.keyId, keyId);
  fresh.cipher.accountChanged();
  assert.deepEqual(
    await fresh.cipher.open([{ memoryId: "m", record }], { ...CONTEXT, credential }),
    opened,
  );
});

Deno.test("altered, exchanged and foreign wrapped keys are refused without a question", async () => {
  const { cipher, seal } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  const other = await seal({ namespace: "other" });
  const fresh = setUp();
  await using __ = fresh.cipher;
  const wrong: Uint8Array[] = [...sealed.wrappedKey.keys()].map((at) =>
    sealed.wrappedKey.with(at, sealed.wrappedKey[at]! ^ 1)
  );
  wrong.push(other.wrappedKey, sealed.wrappedKey.slice(0, 60), new Uint8Array());
  for (const wrappedKey of wrong) {
    const result = await fresh.open({ ...sealed, wrappedKey });
    assert.deepEqual(refusal(result), { code: "storage_unavailable", retryable: false });
  }
  const elsewhere = await fresh.open(sealed, credential, { namespace: "other" });
  assert.deepEqual(refusal(elsewhere), { code: "storage_unavailable", retryable: false });
  assert.equal(fresh.work.calls.unwrap, 0);
  assert.equal(fresh.keys.kept.length, 0);
});

Deno.test("a stranger and a removed delegate open nothing that is open for others", async () => {
  const { cipher, work, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  const delegate: DecryptCredential = { delegateKey: "d".repeat(64) };
  work.accounts.set(accountId, stateOf([`0x${OWNER}`, `0x${delegate.delegateKey}`]));
  cipher.accountChanged(accountId);
  assert.deepEqual(await open(sealed), opened);
  assert.deepEqual(await open(sealed, delegate), opened);
  const { unwrap } = work.calls;
  const invalid = { code: "decrypt_credential_invalid", status: 400 };
  await assert.rejects(open(sealed, { delegateKey: STRANGER }), invalid);
  work.accounts.set(accountId, stateOf([`0x${OWNER}`], { generation: 2 }));
  cipher.accountChanged(accountId);
  await assert.rejects(open(sealed, delegate), invalid);
  assert.equal(work.calls.unwrap, unwrap, "no key server was asked");
  assert.deepEqual(await open(sealed), opened);
  const next = await seal();
  assert.equal(next.wrappedKey[20], 2, "sealed under the new generation");
});

Deno.test("a removed delegate is refused within a quarter of a minute without being told", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  assert.deepEqual(await open(sealed), opened);
  work.accounts.set(accountId, stateOf([]));
  clock.now += 15_000;
  await assert.rejects(open(sealed), { code: "decrypt_credential_invalid" });
});

Deno.test("a clock that is put back lets nobody in for longer, and keeps nobody out", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  assert.deepEqual(await open(sealed), opened);
  work.accounts.set(accountId, stateOf([]));
  clock.now -= 86_400_000;
  await assert.rejects(open(sealed), { code: "decrypt_credential_invalid" });
  work.accounts.set(accountId, stateOf([`0x${OWNER}`]));
  cipher.accountChanged(accountId);
  work.failing.unwrap = new SvcError("key_service_unavailable");
  for (let i = 0; i < 3; i++) assert.equal((await open(sealed))[0]?.status, "rejected");
  delete work.failing.unwrap;
  clock.now -= 86_400_000;
  assert.deepEqual(await open(sealed), opened, "the pause is over");
});

Deno.test("a generation that a node made up blocks an account for minutes, not for good", async () => {
  const { cipher, work, clock, seal } = setUp();
  await using _ = cipher;
  work.accounts.set(accountId, stateOf([`0x${OWNER}`], { generation: 9 }));
  await seal();
  work.accounts.set(accountId, stateOf([`0x${OWNER}`]));
  clock.now += 60_000;
  await assert.rejects(seal(), { code: "chain_unavailable", retryable: true });
  clock.now += 10 * MINUTE;
  assert.equal((await seal()).wrappedKey[20], 1);
});

Deno.test("an address added a moment ago may open", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  clock.now += 1_000;
  work.accounts.set(accountId, stateOf([`0x${STRANGER}`]));
  assert.deepEqual(await open(sealed, { delegateKey: STRANGER }), opened);
});

Deno.test("a bound key opens its own namespaces, and nothing that is open for others", async () => {
  verifies("10.17-9");
  const { cipher, work, seal, open } = setUp();
  await using _ = cipher;
  const [owner, bound] = [CONTEXT.owner, `0x${STRANGER}`];
  const readers = [{ address: owner }, { address: bound, namespaces: ["work/", "notes"] }];
  work.accounts.set(accountId, stateOf([], { readers }));
  const by = { delegateKey: STRANGER };
  const secret = { namespace: "secret" };
  const sealed = { notes: await seal(), secret: await seal(secret) };
  assert.deepEqual(await open(sealed.secret, credential, secret), opened);
  await assert.rejects(open(sealed.secret, by, secret), { code: "decrypt_credential_invalid" });
  assert.deepEqual(await open(sealed.notes, by), opened);
  cipher.accountChanged(accountId);
  await assert.rejects(open(sealed.secret, by, secret), { code: "decrypt_credential_invalid" });
  assert.deepEqual(await open(sealed.notes, by), opened);
  assert.deepEqual(await open(sealed.secret, credential, secret), opened);
  // Who is bound says to the key servers which namespace it is; nobody else has to.
  const named = work.unwraps.map((input) => [input.credential.delegateKey, input.named]);
  assert.deepEqual(named, [
    [STRANGER, { owner, namespace: "notes" }],
    [OWNER, undefined],
  ]);
});

Deno.test("a node that is behind is not believed, one that is ahead is asked again", async () => {
  const { cipher, work, seal, open, clock } = setUp();
  await using _ = cipher;
  const ahead = setUp(new KeysForTests(), new FakeWork());
  await using __ = ahead.cipher;
  ahead.work.accounts.set(accountId, stateOf([`0x${OWNER}`], { generation: 2 }));
  const sealed = await ahead.seal();
  await seal();
  const early = await open(sealed);
  assert.deepEqual(refusal(early), { code: "storage_unavailable", retryable: false });
  work.accounts.set(accountId, stateOf([`0x${OWNER}`], { generation: 2 }));
  clock.now += 1_000;
  assert.deepEqual(await open(sealed), opened);
  work.accounts.set(accountId, stateOf([`0x${OWNER}`]));
  cipher.accountChanged(accountId);
  await assert.rejects(seal(), { code: "chain_unavailable", retryable: true });
});

Deno.test("keys and sessions that ended and inactive accounts open nothing", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  const session = { session: `0x${OWNER} ${clock.now + MINUTE}` };
  assert.deepEqual(await open(sealed, session), opened);
  const invalid = { code: "decrypt_credential_invalid" };
  clock.now += MINUTE;
  await assert.rejects(open(sealed, session), invalid);
  const readers = [{ address: `0x${OWNER}`, expiresAt: clock.now }];
  work.accounts.set(accountId, stateOf([], { readers }));
  await assert.rejects(open(sealed), invalid);
  work.accounts.set(accountId, stateOf([`0x${OWNER}`], { active: false }));
  cipher.accountChanged(accountId);
  await assert.rejects(open(sealed), invalid);
});

Deno.test("the session wins over the key", async () => {
  const { cipher, clock, seal, open } = setUp();
  await using _ = cipher;
  const both = { delegateKey: OWNER, session: `0x${STRANGER} ${clock.now + MINUTE}` };
  await assert.rejects(open(await seal(), both), { code: "decrypt_credential_invalid" });
});

Deno.test("a scope is wrapped once; its later keys open with one unwrapping", async () => {
  const { cipher, work, clock, keys, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await Promise.all(Array.from({ length: 10 }, () => seal()));
  assert.equal(new Set(sealed.map(({ keyId }) => keyId)).size, 1);
  for (let i = 0; i < 20; i++) {
    clock.now += 5 * MINUTE;
    sealed.push(await seal());
  }
  assert.equal(new Set(sealed.map(({ keyId }) => keyId)).size, 21);
  assert.deepEqual([work.calls.wrap, keys.kept.length], [1, 21]);
  cipher.accountChanged(accountId);
  const items = sealed.map((one) => ({ memoryId: "m", ...one }));
  const results = await cipher.open(items, { ...CONTEXT, credential });
  assert.ok(results.every(({ status }) => status === "fulfilled"));
  assert.deepEqual([work.calls.unwrap, work.unwraps[0]?.items.length], [1, 1]);
  assert.deepEqual(await open(sealed[3]!), opened);
  assert.equal(work.calls.unwrap, 1);
});

Deno.test("a chain ends and another begins", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  let last = await seal();
  for (let i = 0; i < 256; i++) {
    clock.now += 5 * MINUTE;
    last = await seal();
  }
  assert.equal(work.calls.wrap, 2);
  assert.deepEqual(await open(last), opened);
});

Deno.test("what is open is erased after five minutes, and by a change", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  assert.deepEqual(await open(sealed), opened);
  assert.equal(work.calls.unwrap, 0);
  clock.now += 5 * MINUTE;
  assert.deepEqual(await open(sealed), opened);
  assert.equal(work.calls.unwrap, 1);
  clock.now += 5 * MINUTE - 1;
  assert.deepEqual(await open(sealed), opened);
  assert.equal(work.calls.unwrap, 1);
  cipher.accountChanged("0x" + "9".repeat(64));
  assert.deepEqual(await open(sealed), opened);
  assert.equal(work.calls.unwrap, 1);
  cipher.accountChanged();
  assert.deepEqual(await open(sealed), opened);
  assert.equal(work.calls.unwrap, 2);
});

Deno.test("what was asked for before a change is not kept after it", async () => {
  const { cipher, work, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  cipher.accountChanged();
  const gate = Promise.withResolvers<void>();
  work.held.unwrap = gate.promise;
  const waiting = open(sealed);
  while (work.calls.unwrap === 0) await Promise.resolve();
  cipher.accountChanged();
  gate.resolve();
  assert.deepEqual(await waiting, opened);
  assert.deepEqual(await open(sealed), opened);
  assert.equal(work.calls.unwrap, 2);
});

Deno.test("a key that came with a record is kept whatever changes meanwhile", async () => {
  const { cipher: elsewhere, seal } = setUp();
  await using _ = elsewhere;
  const { wrappedKey, ...sealed } = await seal();
  const { wrappedKey: another, ...other } = await seal({ namespace: "other" });
  const work = new FakeWork();
  const { cipher } = setUp(new KeysForTests(), work);
  await using __ = cipher;
  const gate = Promise.withResolvers<void>();
  work.held.unwrap = gate.promise;
  const open = (item: SealedItem, context = {}) =>
    cipher.open([item], { ...CONTEXT, ...context, credential });
  const first = open({ memoryId: "m", ...sealed, ...(wrappedKey && { wrappedKey }) });
  const namespace = "other";
  const second = open({ memoryId: "m", ...other, ...(another && { wrappedKey: another }) }, {
    namespace,
  });
  while (work.unwraps.length < 2) await Promise.resolve();
  cipher.accountChanged(accountId);
  await cipher.destroy(other.keyId);
  gate.resolve();
  assert.deepEqual([await first, await second], [opened, opened]);
  // As an index keeps it: the key does not travel with it.
  assert.deepEqual(await open({ memoryId: "m", ...sealed }), opened);
  const gone = await open({ memoryId: "m", ...other }, { namespace });
  assert.deepEqual(refusal(gone), { code: "storage_unavailable", retryable: false });
});

Deno.test("a key that is destroyed while it is asked for is not kept", async () => {
  const { cipher, work, seal, open } = setUp();
  await using _ = cipher;
  const { wrappedKey: __, ...sealed } = await seal();
  cipher.accountChanged();
  const gate = Promise.withResolvers<void>();
  work.held.unwrap = gate.promise;
  const openIt = () => cipher.open([{ memoryId: "m", ...sealed }], { ...CONTEXT, credential });
  const waiting = openIt();
  while (work.calls.unwrap === 0) await Promise.resolve();
  await cipher.destroy(sealed.keyId);
  gate.resolve();
  await waiting;
  assert.deepEqual(refusal(await openIt()), { code: "storage_unavailable", retryable: false });
  assert.deepEqual(await open(await seal()), opened);
});

Deno.test("a key that is wrapped while its account changes is not used", async () => {
  const { cipher, work, seal } = setUp();
  await using _ = cipher;
  const gate = Promise.withResolvers<void>();
  work.held.wrap = gate.promise;
  const waiting = seal();
  while (work.calls.wrap === 0) await Promise.resolve();
  work.accounts.set(accountId, stateOf([`0x${OWNER}`], { generation: 2 }));
  cipher.accountChanged(accountId);
  gate.resolve();
  assert.equal((await waiting).wrappedKey[20], 2, "sealed under the new generation");
  assert.equal(work.calls.wrap, 2);
});

Deno.test("an account that is read while it changes is read again", async () => {
  const { cipher, work, seal, open } = setUp();
  await using _ = cipher;
  const delegate: DecryptCredential = { delegateKey: "d".repeat(64) };
  work.accounts.set(accountId, stateOf([`0x${OWNER}`, `0x${delegate.delegateKey}`]));
  const sealed = await seal();
  cipher.accountChanged(accountId);
  const gate = Promise.withResolvers<void>();
  work.held.account = gate.promise;
  const { account } = work.calls;
  const sealing = seal();
  const refused = assert.rejects(open(sealed, delegate), { code: "decrypt_credential_invalid" });
  while (work.calls.account === account || work.calls.prove === 0) await Promise.resolve();
  work.accounts.set(accountId, stateOf([`0x${OWNER}`], { generation: 2 }));
  cipher.accountChanged(accountId);
  gate.resolve();
  assert.equal((await sealing).wrappedKey[20], 2, "sealed under the new generation");
  await refused;
  assert.equal(work.calls.unwrap, 0, "no key server was asked");
});

Deno.test("a chain that is down keeps memories waiting and lets nobody in for long", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  work.failing.account = new SvcError("chain_unavailable");
  const down = { code: "chain_unavailable", retryable: true };
  await assert.rejects(seal(), down);
  delete work.failing.account;
  const sealed = await seal();
  work.failing.account = new SvcError("chain_unavailable");
  clock.now += MINUTE - 1;
  assert.deepEqual(await open(sealed), opened);
  clock.now += 1;
  await assert.rejects(open(sealed), down);
  await assert.rejects(seal(), down);
  delete work.failing.account;
  assert.deepEqual(await open(sealed), opened);
});

Deno.test("an account that is not on chain yet keeps its memories waiting", async () => {
  const { cipher, seal } = setUp();
  await using _ = cipher;
  await assert.rejects(seal({ accountId: "0x" + "7".repeat(64) }), {
    code: "chain_unavailable",
    retryable: true,
  });
});

Deno.test("key servers that are down affect the records whose keys they hold", async () => {
  const { cipher, work, clock, seal, open } = setUp();
  await using _ = cipher;
  const old = await seal();
  clock.now += 5 * MINUTE;
  const young = await seal();
  assert.deepEqual(cipher.health(), { status: "ok" });
  work.failing.unwrap = new SvcError("key_service_unavailable");
  const items = [old, young].map((one) => ({ memoryId: "m", ...one }));
  const results = await cipher.open(items, { ...CONTEXT, credential });
  assert.deepEqual(refusal(results), { code: "key_service_unavailable", retryable: true });
  assert.deepEqual(results[1], opened[0]);
  assert.equal(cipher.health().status, "degraded");

  await open(old);
  await open(old);
  assert.equal(cipher.health().status, "down");
  const { unwrap } = work.calls;
  const [paused] = await open(old);
  assert.equal(paused?.status === "rejected" && paused.reason.retryAfter, 1);
  assert.equal(work.calls.unwrap, unwrap, "not asked during a pause");
  delete work.failing.unwrap;
  clock.now += 1_000;
  assert.deepEqual(await open(old), opened);
  assert.deepEqual(cipher.health(), { status: "ok" });
});

Deno.test("callers with one credential share an unwrapping, others do not", async () => {
  const { cipher, work, seal, open } = setUp();
  await using _ = cipher;
  work.accounts.set(accountId, stateOf([`0x${OWNER}`, `0x${STRANGER}`]));
  const sealed = await seal();
  cipher.accountChanged();
  const all = await Promise.all([
    open(sealed),
    open(sealed),
    open(sealed, { delegateKey: STRANGER }),
  ]);
  for (const one of all) assert.deepEqual(one, opened);
  assert.equal(work.calls.unwrap, 2);
});

Deno.test("one who gives up does not spoil it for others", async () => {
  const { cipher, work, seal, open } = setUp();
  await using _ = cipher;
  const sealed = await seal();
  cipher.accountChanged();
  const gate = Promise.withResolvers<void>();
  work.held.unwrap = gate.promise;
  const stop = new AbortController();
  const reason = new Error("enough");
  const gone = assert.rejects(
    open(sealed, credential, { signal: stop.signal }),
    (e) => e === reason,
  );
  const waiting = open(sealed);
  while (work.calls.unwrap === 0) await Promise.resolve();
  stop.abort(reason);
  await gone;
  gate.resolve();
  assert.deepEqual(await waiting, opened);
});

Deno.test("a closed cipher refuses", async () => {
  const { cipher, seal, open } = setUp();
  const sealed = await seal();
  await cipher[Symbol.asyncDispose]();
  for (
    const call of [seal, () => open(sealed), () => cipher.rotate("0x"), () => cipher.destroy("k")]
  ) await assert.rejects(call(), { code: "storage_unavailable" });
});
