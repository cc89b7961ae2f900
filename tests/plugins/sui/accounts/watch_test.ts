import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { SuiAccounts } from "../../../../plugins/sui/accounts/accounts.ts";
import type { WatchOptions } from "../../../../plugins/sui/accounts/account_watch.ts";
import { CONTRACT, FakeNode, frame, id } from "./fake_node.ts";

const KEY = "3a".repeat(32);
const ACCOUNT = { id: id("5"), keys: [{ publicKey: KEY }] };
const ALL = "all";

/** Waits that are over at once, and no second telling. */
const QUICK: WatchOptions = {
  settleMs: 5,
  backoffMs: 1,
  maxBackoffMs: 4,
  pollMs: 1,
  againMs: 3_600_000,
};

interface Setting extends WatchOptions {
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly notes?: string[];
}

function open(node: FakeNode, setting: Setting = {}): SuiAccounts {
  const { timeoutMs = 5_000, idleMs = 60_000, notes = [], ...watch } = setting;
  return new SuiAccounts({
    client: openSui({ network: "localnet", url: node.url, timeoutMs, idleMs, maxBytes: 4096 }),
    ...CONTRACT,
    watch: { ...QUICK, ...watch },
    log: (message) => void notes.push(message),
  });
}

/** What a listener was told, to be waited for. */
class Told {
  readonly all: string[] = [];
  #more = Promise.withResolvers<void>();
  #read = 0;

  readonly listener = (accountId?: string): void => {
    this.all.push(accountId ?? ALL);
    this.#more.resolve();
    this.#more = Promise.withResolvers<void>();
  };

  /** The next that was told. */
  async next(): Promise<string> {
    while (this.all.length <= this.#read) await this.#more.promise;
    return this.all[this.#read++]!;
  }
}

Deno.test("changes are told as the node pushes them, by account", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  strictEqual(node.methods.length, 0, "nobody listens");
  const told = new Told();
  using _ = accounts.watch(told.listener);
  strictEqual(await told.next(), ALL, "what changed before is not known");
  node.emit(id("5"));
  node.emit(id("7"), `${CONTRACT.packageId}::account::SomethingOfLater`);
  node.progress();
  node.emit(id("8"), `${id("c")}::account::KeyRemoved`);
  node.emit("0x55");
  deepStrictEqual([await told.next(), await told.next(), await told.next()], [
    id("5"),
    id("7"),
    ALL,
  ]);
  deepStrictEqual(node.methods, ["SubscribeEvents"]);
  deepStrictEqual(accounts.health(), { status: "ok" });
});

Deno.test("a change is told again, for nodes that lag behind", async () => {
  await using node = new FakeNode();
  await using accounts = open(node, { againMs: 20 });
  const told = new Told();
  using _ = accounts.watch(told.listener);
  await told.next();
  node.emit(id("5"));
  deepStrictEqual([await told.next(), await told.next()], [id("5"), id("5")]);
});

Deno.test("after a gap any account may have changed; while there is one nothing is told", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  const told = new Told();
  using _ = accounts.watch(told.listener);
  await told.next();
  node.status = 503;
  node.cut();
  const calls = node.methods.length;
  await node.until(() => node.methods.length > calls + 3);
  deepStrictEqual(told.all, [ALL], "what is known must outlast a node that is down");
  strictEqual(accounts.health().status, "degraded");
  node.status = undefined;
  strictEqual(await told.next(), ALL);
  node.emit(id("5"));
  strictEqual(await told.next(), id("5"));
  deepStrictEqual(accounts.health(), { status: "ok" });
});

Deno.test("a silent subscription is a broken one, and messages are bounded", async () => {
  await using node = new FakeNode();
  await using accounts = open(node, { idleMs: 60 });
  const told = new Told();
  using _ = accounts.watch(told.listener);
  await told.next();
  strictEqual(await told.next(), ALL, "connected again");
  const huge = frame(0, new Uint8Array()).slice();
  new DataView(huge.buffer).setUint32(1, 5000);
  node.send(huge);
  strictEqual(await told.next(), ALL, "connected again");
  node.send(new Uint8Array(64).fill(0x7f));
  strictEqual(await told.next(), ALL, "connected again");
});

Deno.test("the deadline of calls does not end a subscription", async () => {
  await using node = new FakeNode();
  await using accounts = open(node, { timeoutMs: 40 });
  const told = new Told();
  using _ = accounts.watch(told.listener);
  await told.next();
  node.hangs = true;
  await rejects(accounts.get(ACCOUNT.id), { code: "chain_unavailable" });
  node.hangs = false;
  node.emit(id("5"));
  strictEqual(await told.next(), id("5"));
  deepStrictEqual(node.methods, ["SubscribeEvents", "BatchGetObjects"]);
});

Deno.test("where the node pushes nothing it is asked, from now on and page by page", async () => {
  await using node = new FakeNode();
  node.missing = ["SubscribeEvents"];
  node.emit(id("1"));
  await using accounts = open(node);
  const told = new Told();
  using _ = accounts.watch(told.listener);
  strictEqual(await told.next(), ALL);
  for (const digit of ["5", "6", "7", "8", "9"]) node.emit(id(digit));
  for (const digit of ["5", "6", "7", "8", "9"]) strictEqual(await told.next(), id(digit));
  deepStrictEqual(accounts.health(), { status: "ok" });
  node.status = 503;
  const calls = node.methods.length;
  await node.until(() => node.methods.length > calls + 4);
  strictEqual(accounts.health().status, "degraded");
  node.status = undefined;
  strictEqual(await told.next(), ALL);
});

Deno.test("where the node tells nothing at all the operator is told once", async () => {
  await using node = new FakeNode();
  node.missing = ["SubscribeEvents", "ListEvents"];
  const notes: string[] = [];
  // A refusal that takes longer than that would pass for a connection.
  await using accounts = open(node, { notes, settleMs: 1000 });
  const told = new Told();
  using _ = accounts.watch(told.listener);
  await node.until(() => node.methods.length > 12);
  deepStrictEqual(notes, ["sui: the node tells no changes of accounts just now"]);
  deepStrictEqual(told.all, []);
  strictEqual(accounts.health().status, "degraded");
});

Deno.test("a node that does not answer a subscription is asked for events instead", async () => {
  await using node = new FakeNode();
  node.hangs = true;
  await using accounts = open(node, { timeoutMs: 30 });
  const told = new Told();
  using _ = accounts.watch(told.listener);
  await node.until(() => node.methods.includes("GetServiceInfo"));
  node.hangs = false;
  strictEqual(await told.next(), ALL, "recovers by itself");
});

Deno.test("one connection serves all listeners, and ends with the last", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  const [one, two] = [new Told(), new Told()];
  const first = accounts.watch(one.listener);
  const second = accounts.watch(two.listener);
  await Promise.all([one.next(), two.next()]);
  strictEqual(node.subscribers, 1);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  node.emit(id("5"));
  strictEqual(await two.next(), id("5"));
  deepStrictEqual(one.all, [ALL]);
  second[Symbol.dispose]();
  await node.until(() => node.subscribers === 0);
  using _ = accounts.watch(one.listener);
  strictEqual(await one.next(), ALL);
});

Deno.test("who asks after a change does not get an answer from before", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  const told = new Told();
  using _ = accounts.watch(told.listener);
  await told.next();
  const gate = Promise.withResolvers<void>();
  node.gate = gate.promise;
  const before = accounts.get(ACCOUNT.id);
  await node.until(() => node.batches.length === 1);
  node.put({ ...ACCOUNT, keys: [] });
  node.emit(ACCOUNT.id);
  await told.next();
  const after = accounts.get(ACCOUNT.id);
  gate.resolve();
  strictEqual((await before)?.keys.length, 1);
  strictEqual((await after)?.keys.length, 0);
  ok(node.batches.length === 2);
});
