import "../checked_relayers.ts";
import assert from "node:assert/strict";
import { local } from "../../plugins/local/mod.ts";
import { memory, memoryBackends } from "../../plugins/memory/mod.ts";
import type { SvcClient } from "../../src/client/mod.ts";
import { DEFAULT_CONFIG, type RelayerConfig } from "../../src/interfaces/config.ts";
import type { AccountRegistry } from "../../src/interfaces/mod.ts";
import { createRelayer, type Relayer } from "../../src/relayer.ts";
import { filesHold, folderForTests } from "../plugins/sealer_for_tests.ts";

/** Waits until what was accepted is recallable, and answers what a recall finds. */
async function found(account: SvcClient, query: string): Promise<string[]> {
  return (await account.recall(query)).results.map(({ text }) => text);
}

function start(config: Partial<RelayerConfig> = {}): Promise<Relayer> {
  return createRelayer({ backends: memory(), config });
}

/** A relayer on a folder, on the embedded backends. */
function durable(dataDir: string, relayerKey = new Uint8Array(32).fill(7)): Promise<Relayer> {
  return createRelayer({ dataDir, relayerKey, backends: [memory(), local()] });
}

Deno.test("an account in the process remembers, recalls, lists and forgets", async () => {
  await using relayer = await start();
  const ada = await relayer.account("ada");
  const { job_id } = await ada.remember("I am allergic to peanuts");
  assert.deepEqual(await found(ada, "peanuts"), ["I am allergic to peanuts"]);
  await ada.waitFor(job_id, { until: "done" });
  const items = [{ text: "I like tea" }, { text: "My dog is called Biscuit" }];
  await ada.waitForAll((await ada.rememberBulk(items)).job_ids);
  assert.equal((await ada.memories()).total, 3);
  const asked = await ada.ask("What is my dog called?");
  assert.equal(asked.answer_mode, "quotes");
  assert.equal((await ada.forget("default")).deleted, 3);
  assert.deepEqual(await found(ada, "peanuts"), []);
});

Deno.test("two names are two walls, and one name is one account", async () => {
  await using relayer = await start();
  const names = ["ada", "Ada", "ada ", "a\u030a", "\u00e5", "x".repeat(64)];
  const accounts = await Promise.all(names.map((name) => relayer.account(name)));
  for (const [i, account] of accounts.entries()) await account.remember(`tea of ${i}`);
  for (const [i, name] of names.entries()) {
    const again = await relayer.account(name);
    assert.equal((await again.account()).account_id, (await accounts[i]!.account()).account_id);
    assert.deepEqual(await found(again, "tea"), [`tea of ${i}`]);
  }
  const listed = await relayer.backends.accounts.admin!.list();
  assert.deepEqual(listed.map(({ keys }) => keys.length), names.map(() => 1));
  assert.deepEqual(new Set(listed.map(({ keys }) => keys[0]!.label)), new Set(names));
});

Deno.test("opened at once, an account is made once", async () => {
  await using relayer = await start();
  await Promise.all(Array.from({ length: 5 }, () => relayer.account("ada")));
  const [account, ...others] = await relayer.backends.accounts.admin!.list();
  assert.deepEqual([account!.keys.length, others.length], [1, 0]);
});

Deno.test("a name that is none is refused", async () => {
  await using relayer = await start();
  const names = ["", "x".repeat(65), "é".repeat(33), "a\nb", "a\u0000", "\ud800", undefined];
  for (const name of names) {
    await assert.rejects(relayer.account(name as string), {
      code: "invalid_parameter",
      field: "name",
    });
  }
  assert.deepEqual(await relayer.backends.accounts.admin!.list(), []);
});

Deno.test("a restart finds the account and its memories, and the folder no key of it", async () => {
  await using folder = await folderForTests();
  const dataDir = `${folder.path}/new/data`;
  {
    await using relayer = await durable(dataDir);
    const ada = await relayer.account("ada");
    await ada.waitFor((await ada.remember("I am allergic to peanuts")).job_id, { until: "done" });
  }
  assert.equal((await Deno.stat(dataDir)).mode! & 0o777, 0o700);
  {
    await using relayer = await durable(dataDir);
    const ada = await relayer.account("ada");
    assert.deepEqual(await found(ada, "peanuts"), ["I am allergic to peanuts"]);
    assert.deepEqual(await found(await relayer.account("bob"), "peanuts"), []);
  }
  assert.equal(await filesHold(dataDir, new TextEncoder().encode("peanuts")), false);
  await assert.rejects(durable(dataDir, new Uint8Array(32).fill(8)), { code: "invalid_parameter" });
});

Deno.test("after an unclean stop an account is there at once", async () => {
  await using folder = await folderForTests();
  const [dataDir, left] = [`${folder.path}/data`, `${folder.path}/left`];
  const start = Date.now();
  const now = () => start;
  const open = (dataDir: string) => {
    const backends = [memory(), local()];
    return createRelayer({ dataDir, relayerKey: new Uint8Array(32), backends, now });
  };
  await using relayer = await open(dataDir);
  const ada = await relayer.account("ada");
  await ada.waitFor((await ada.remember("tea")).job_id, { until: "done" });
  await Deno.mkdir(left);
  for await (const { name } of Deno.readDir(dataDir)) {
    if (!name.endsWith("-shm")) await Deno.copyFile(`${dataDir}/${name}`, `${left}/${name}`);
  }
  await using restarted = await open(left);
  // The clock stands still: a call that waits for the relayer's third second waits in vain.
  assert.deepEqual(await found(await restarted.account("ada"), "tea"), ["tea"]);
});

Deno.test("rate limits, quotas and validation are those of signed requests", async () => {
  const rateLimit = { ...DEFAULT_CONFIG.rateLimit, accountPerHour: 20 };
  await using relayer = await start({ rateLimit, quotaBytes: 2_000 });
  const [ada, bob] = [await relayer.account("ada"), await relayer.account("bob")];
  await assert.rejects(ada.remember(""), { code: "empty_text" });
  await assert.rejects(ada.recall("tea", { limit: -1 }), { code: "invalid_request" });
  const { job_id } = await bob.remember("tea");
  await assert.rejects(ada.job(job_id), { code: "job_not_found" });
  await assert.rejects(bob.remember("tea ".repeat(1_000)), { code: "quota_exceeded" });
  const calls = Array.from({ length: 20 }, () => ada.recall("tea"));
  await assert.rejects(Promise.all(calls), { code: "rate_limited" });
  await Promise.allSettled(calls);
  const { status } = await relayer.fetch(new Request("http://localhost/api/account"));
  assert.equal(status, 401);
});

Deno.test("an account that was shut out stays so", async () => {
  await using relayer = await start();
  const admin = relayer.backends.accounts.admin!;
  const ada = await relayer.account("ada");
  const { account_id: accountId } = await ada.account();
  await admin.setActive(accountId, false);
  const refusal = { code: "account_not_authorized" };
  for (const account of [ada, await relayer.account("ada")]) {
    await assert.rejects(account.recall("tea"), refusal);
  }
  await admin.setActive(accountId, true);
  await ada.recall("tea");
  // Another key took its place.
  await admin.addKey(accountId, {
    publicKey: (await (await relayer.account("key")).publicKey()).replace(/^../, "ab"),
    label: "phone",
    permissions: ["read"],
  });
  await admin.removeKey(accountId, await ada.publicKey());
  await assert.rejects((await relayer.account("ada")).recall("tea"), refusal);
});

Deno.test("an account that a crash left without its key gets it", async () => {
  await using relayer = await start();
  const ada = await relayer.account("ada");
  const admin = relayer.backends.accounts.admin!;
  await admin.removeKey((await ada.account()).account_id, await ada.publicKey());
  await (await relayer.account("ada")).recall("tea");
});

Deno.test("accounts that are managed elsewhere are opened by nobody", async () => {
  const { admin: _admin, ...elsewhere } = memoryBackends().accounts;
  const accounts: AccountRegistry = elsewhere;
  await using relayer = await createRelayer({ backends: [memory(), { accounts }] });
  await assert.rejects(relayer.account("ada"), {
    code: "invalid_parameter",
    message: "Accounts are managed outside of this relayer: it opens none by name",
  });
});
