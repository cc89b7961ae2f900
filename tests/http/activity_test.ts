import assert from "node:assert/strict";
import { localAccounts } from "../../plugins/local/mod.ts";
import { folderForTests } from "../plugins/sealer_for_tests.ts";
import {
  type Json,
  startRelayer,
  TestClock,
  TestKey,
  type TestRelayer,
} from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { keyParams, ownerCall } from "./owner.ts";
import { ed25519Wallet } from "./wallet.ts";

const MINUTE_MS = 60_000;

async function entries(svc: TestRelayer, query = "", key = svc.key): Promise<Json[]> {
  const { status, body, text } = await svc.get(`/api/account/activity${query}`, { key });
  assert.equal(status, 200, text);
  return body.entries;
}

/** Entries as short lines, without those of asking for them. */
function lines(list: readonly Json[]): string[] {
  return list.filter(({ action }) => !action.endsWith("/activity")).map((entry) =>
    [entry.action, entry.namespace, entry.via, entry.from, entry.outcome, entry.count].join(" ")
  );
}

Deno.test("an account's reader sees what each key did, and no text of it", async () => {
  verifies("10.13-1", "10.13-2", "10.13-3");
  await using svc = await startRelayer();
  const writer = await svc.addKey(["write"]);
  svc.clock.freeze(Date.parse("2026-03-01T09:00:10Z"));
  const memory = await svc.remember("My canary sings", { namespace: "pets" });
  await svc.post("/api/recall", { query: "Which canary sings?", namespace: "pets" });
  await svc.post("/api/recall", { query: "Which canary?", namespace: "pets" });
  await svc.get(`/api/memories/${memory}`);
  await svc.get("/api/memories?namespace=birds", { peer: "198.51.100.7" });
  await svc.post("/api/recall", { query: "canary" }, { key: writer, peer: "192.168.1.5" });
  const items = [{ text: "a" }, { text: "b", namespace: "pets" }, { text: "c" }];
  await svc.post("/api/remember/bulk", { items }, { key: writer });
  await svc.post("/api/recall", { query: "" });

  const list = await entries(svc);
  assert.deepEqual(lines(list), [
    "POST /api/recall  http this_machine empty_query 1",
    "POST /api/remember/bulk pets http this_machine ok 1",
    "POST /api/remember/bulk default http this_machine ok 1",
    "POST /api/recall  http private_network permission_denied 1",
    "GET /api/memories birds http internet ok 1",
    "GET /api/memories/:id  http this_machine ok 1",
    "POST /api/recall pets http this_machine ok 2",
    "POST /api/remember pets http this_machine ok 1",
  ]);
  assert.equal(list.at(-1).first_at, "2026-03-01T09:00:10.000Z");
  const all = JSON.stringify(list);
  for (const secret of ["canary", memory, "198.51.100.7", "192.168.1.5"]) {
    assert.ok(!all.includes(secret), secret);
  }
  const own = await entries(svc, `?key=${writer.publicKey.toUpperCase()}`);
  assert.deepEqual([...new Set(own.map(({ key }) => key))], [writer.publicKey]);
  assert.equal(own.length, 3);

  svc.clock.advance(MINUTE_MS);
  await svc.post("/api/recall", { query: "Which canary?", namespace: "pets" });
  const [, , latest] = await entries(svc);
  assert.equal(latest.action, "POST /api/recall");
  assert.equal(latest.count, 1);
});

Deno.test("nobody else shows in the entries of an account", async () => {
  verifies("10.13-4");
  await using svc = await startRelayer();
  const other = await svc.addAccount();
  await svc.remember("mine");
  await svc.get("/api/memories", { key: other.key });
  // A stranger's key, and a signature that is not the key's.
  await svc.get("/api/memories", { key: new TestKey() });
  const forged = svc.request("GET", "/api/namespaces");
  forged.headers.set("x-signature", "00".repeat(64));
  assert.equal((await svc.fetch(forged)).status, 401);
  assert.deepEqual(lines(await entries(svc)), [
    "POST /api/remember default http this_machine ok 1",
  ]);
  assert.deepEqual(lines(await entries(svc, "", other.key)), [
    "GET /api/memories default http this_machine ok 1",
  ]);
  const { body } = await svc.get("/api/account/activity?limit=1");
  const path = `/api/account/activity?cursor=${body.next_cursor}`;
  assertError(await svc.get(path, { key: other.key }), [400, "invalid_cursor"], {
    field: "cursor",
  });
});

Deno.test("pages of activity follow each other, and end", async () => {
  verifies("10.13-7");
  await using svc = await startRelayer();
  svc.clock.freeze(Date.parse("2026-03-01T09:00:10Z"));
  for (let n = 0; n < 7; n++) await svc.post("/api/stats", { namespace: `n${n}` });
  const seen: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 9; pages++) {
    const { body } = await svc.get(`/api/account/activity?limit=2&cursor=${cursor}`);
    seen.push(...body.entries.map(({ namespace }: Json) => namespace ?? "itself"));
    if (body.next_cursor === undefined) break;
    cursor = body.next_cursor;
  }
  assert.deepEqual(seen, ["n6", "n5", "n4", "n3", "n2", "n1", "n0"]);
  for (const limit of ["0", "501", "x"]) {
    const answer = await svc.get(`/api/account/activity?limit=${limit}`);
    assertError(answer, [400, "invalid_parameter"], { field: "limit" });
  }
  assertError(await svc.get("/api/account/activity?cursor=AAAA"), [400, "invalid_cursor"], {
    field: "cursor",
  });
});

Deno.test("the wallet's acts are entries, and every key goes in one of them", async () => {
  verifies("9.2-32", "10.13-6");
  await using folder = await folderForTests();
  const clock = new TestClock();
  const accounts = localAccounts({ dataDir: folder.path, now: clock.now });
  await using svc = await startRelayer({ clock, backends: { accounts } });
  const wallet = ed25519Wallet();
  const { body: { account_id } } = await ownerCall(svc, wallet, "open", "/accounts/open");
  const path = `/accounts/${account_id}/keys`;
  const [first, second] = [new TestKey(), new TestKey()];
  for (const key of [first, second]) {
    const added = await ownerCall(svc, wallet, "add_key", path, keyParams(account_id, key));
    assert.equal(added.status, 200, added.text);
  }
  const again = await ownerCall(svc, wallet, "add_key", path, keyParams(account_id, first));
  assertError(again, [409, "key_exists"]);
  assert.equal((await svc.post("/api/stats", {}, { key: second })).status, 200);
  clock.advance(MINUTE_MS);
  const removed = await ownerCall(svc, wallet, "remove_all_keys", `${path}/remove_all`);
  assert.deepEqual([removed.status, removed.body.keys], [200, []]);
  for (const key of [first, second]) {
    assertError(await svc.post("/api/stats", {}, { key }), [401, "account_not_authorized"]);
  }
  const none = await ownerCall(svc, wallet, "remove_all_keys", `${path}/remove_all`);
  assert.equal(none.status, 200);

  clock.advance(MINUTE_MS);
  const reader = new TestKey();
  await ownerCall(svc, wallet, "add_key", path, keyParams(account_id, reader));
  const list = await entries(svc, "?key=owner", reader);
  assert.ok(list.every(({ key }) => key === "owner"));
  assert.deepEqual(list.map(({ action, outcome, count }) => `${action} ${outcome} ${count}`), [
    "add_key ok 1",
    "remove_all_keys ok 2",
    "add_key key_exists 1",
    "add_key ok 2",
    "open ok 1",
  ]);
});

Deno.test("activity outlives a restart, and shows nothing on the disk", async () => {
  verifies("10.13-8");
  await using folder = await folderForTests();
  const relayerKey = crypto.getRandomValues(new Uint8Array(32));
  const clock = new TestClock();
  const dataDir = folder.path;
  const first = await startRelayer({ dataDir, relayerKey, clock });
  const { key, account, backends } = first;
  await first.post("/api/stats", { namespace: "a-telling-name" });
  await first.relayer[Symbol.asyncDispose]();
  for await (const { name } of Deno.readDir(dataDir)) {
    const bytes = await Deno.readFile(`${dataDir}/${name}`).catch(() => new Uint8Array());
    const text = new TextDecoder("latin1").decode(bytes);
    assert.ok(!text.includes("a-telling-name"), name);
  }
  const existing = { key, account };
  await using second = await startRelayer({ dataDir, relayerKey, clock, existing, backends });
  assert.deepEqual(lines(await entries(second)), [
    "POST /api/stats a-telling-name http this_machine ok 1",
  ]);
});
