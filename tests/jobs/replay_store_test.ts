import assert from "node:assert/strict";
import { mock } from "node:test";
import { KvWriter } from "../../src/jobs/staging.ts";
import { ReplayStore } from "../../src/jobs/replay.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { verifies } from "../requirements.ts";
import { keysOf } from "./setup.ts";

const KEY = new RelayerKey(new Uint8Array(32).fill(1));
const START = 1_800_000_000_000;
const NONCE = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";
const DAY = 86_400_000;

/** A replay store on a table, with clocks that the test moves. */
const sealerUnder = (secret?: string) => KEY.sealer(`kept answer ${secret ?? ""}`);

class Bench implements Disposable {
  now = START;
  elapsed = 0;
  readonly kv: Deno.Kv;
  store!: ReplayStore;
  writer!: KvWriter;

  constructor(kv: Deno.Kv) {
    this.kv = kv;
  }

  static async open(): Promise<Bench> {
    const bench = new Bench(await Deno.openKv(":memory:"));
    await bench.start();
    return bench;
  }

  async start(): Promise<void> {
    this.writer = new KvWriter(this.kv, { wakeUps: false, now: () => this.now });
    this.store = new ReplayStore(this.kv, this.writer, {
      now: () => this.now,
      elapsed: () => this.elapsed,
      hmac: KEY.hmac("replay"),
      sealer: sealerUnder,
      idempotencyHours: 24,
    });
    await this.store.open();
  }

  /** A new process on the same table; an unclean stop writes nothing any more. */
  async restart(clean: boolean): Promise<void> {
    if (!clean) {
      // Whatever this process still does is lost.
      this.writer.commit = () => Promise.resolve();
    }
    await this.store.close();
    await this.start();
  }

  /** Seconds of the clock. */
  get seconds(): number {
    return Math.floor(this.now / 1000);
  }

  /** Whether a nonce is refused as used. */
  used(nonce = NONCE, key = "a"): boolean {
    try {
      this.store.later(this.store.burn(key, nonce, this.seconds + 10));
      return false;
    } catch (error) {
      assert.equal((error as { code: string }).code, "nonce_reused");
      return true;
    }
  }

  [Symbol.dispose](): void {
    this.kv.close();
  }

  async stop(): Promise<void> {
    await this.store.close();
  }
}

Deno.test("a nonce is single-use per key, whatever its case", async () => {
  verifies("4.4-1", "4.4-8");
  using bench = await Bench.open();
  assert.equal(bench.used(), false);
  assert.equal(bench.used(), true);
  assert.equal(bench.used(NONCE.toUpperCase()), true);
  assert.equal(bench.used(NONCE, "b"), false);
  assert.equal(bench.used(crypto.randomUUID()), false);
  await bench.stop();
});

Deno.test("a nonce stays used for 600 s, also over a clean restart", async () => {
  verifies("4.4-2", "4.4-25");
  using bench = await Bench.open();
  bench.used();
  for (let i = 0; i < 6; i++) {
    bench.now += 100_000;
    bench.elapsed += 100_000;
    await bench.store.sweep();
    await bench.restart(true);
    assert.equal(bench.used(), true);
  }
  await bench.stop();
});

Deno.test("a clock that is set reopens no nonce", async () => {
  verifies("4.4-2");
  using bench = await Bench.open();
  for (const jump of [-400_000, -4_000_000, -DAY, 400_000, 4_000_000, DAY]) {
    const nonce = crypto.randomUUID();
    const before = bench.now;
    assert.equal(bench.used(nonce), false);
    bench.now += jump;
    await bench.store.sweep();
    assert.equal(bench.used(nonce), true, `after a jump of ${jump} ms`);
    await bench.restart(true);
    assert.equal(bench.used(nonce), true);
    bench.now = before;
    await bench.store.sweep();
    assert.equal(bench.used(nonce), true, `back from a jump of ${jump} ms`);
  }
  await bench.stop();
});

Deno.test("what is older than both windows is removed", async () => {
  using bench = await Bench.open();
  bench.used();
  await bench.store.flush();
  assert.equal((await keysOf(bench.kv, "nonces")).length, 1);
  bench.now += 1_800_000;
  bench.elapsed += 1_800_000;
  await bench.store.sweep();
  assert.equal((await keysOf(bench.kv, "nonces")).length, 0);
  assert.equal(bench.used(), false);
  await bench.stop();
});

Deno.test("after an unclean stop requests from before it are refused, later ones not", async () => {
  verifies("4.4-7");
  using bench = await Bench.open();
  const start = bench.seconds;
  await bench.restart(false);
  const late = { code: "timestamp_out_of_range" };
  assert.throws(() => bench.store.burn("a", NONCE, start - 300), late);
  assert.throws(() => bench.store.burn("a", NONCE, start + 1), late);
  bench.store.burn("a", NONCE, start + 2);
  // What was lost is lost after a clean stop too, until nobody takes its timestamp any more.
  await bench.restart(true);
  assert.throws(() => bench.store.burn("a", crypto.randomUUID(), start + 1), late);
  bench.store.burn("a", crypto.randomUUID(), start + 2);
  bench.now -= DAY;
  await bench.restart(true);
  bench.store.burn("a", crypto.randomUUID(), start - DAY / 1000 + 2);
  bench.now += DAY + 603_000;
  await bench.restart(true);
  await bench.restart(true);
  bench.store.burn("a", crypto.randomUUID(), start - 300);
  await bench.stop();
});

Deno.test("a nonce in memory is on disk after a flush, or in its commit", async () => {
  verifies("4.4-5", "4.4-6");
  using bench = await Bench.open();
  const [read, write, lost] = Array.from({ length: 3 }, () => crypto.randomUUID());
  bench.store.later(bench.store.burn("a", read!, bench.seconds));
  await bench.store.flush();
  await bench.writer.commit([bench.store.burn("a", write!, bench.seconds)]);
  bench.store.later(bench.store.burn("a", lost!, bench.seconds));
  await bench.restart(false);
  assert.equal(bench.used(read), true);
  assert.equal(bench.used(write), true);
  assert.equal(bench.used(lost), false);
  await bench.stop();
});

Deno.test("what is in memory only is written within a second", async () => {
  verifies("4.4-6");
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    using bench = await Bench.open();
    bench.used();
    mock.timers.tick(1000);
    // The writer is first in, first out: this commit comes after that of the timer.
    await bench.writer.commit([{ key: ["x", 1], value: 1 }]);
    assert.equal((await keysOf(bench.kv, "nonces")).length, 1);
    await bench.stop();
  } finally {
    mock.timers.reset();
  }
});

Deno.test("a flush that fails is tried again", async () => {
  using bench = await Bench.open();
  bench.used();
  const { commit } = bench.writer;
  bench.writer.commit = () => Promise.reject(new Error("down"));
  await assert.rejects(bench.store.flush());
  bench.writer.commit = commit;
  await bench.store.flush();
  assert.equal((await keysOf(bench.kv, "nonces")).length, 1);
  await bench.stop();
});

Deno.test("the first answer to a signed text is kept over restarts, sealed", async () => {
  verifies("4.4-26");
  using bench = await Bench.open();
  const answer = { status: 202, body: '{"job_id":"secret words"}' };
  assert.equal(bench.store.signedText("text a", "hash"), undefined);
  await bench.writer.commit([bench.store.keepText("text a", "hash", answer)]);
  assert.deepEqual(bench.store.signedText("text a", "hash"), answer);
  assert.equal(bench.store.signedText("text b", "hash"), undefined);
  for (const clean of [true, false]) {
    await bench.restart(clean);
    assert.deepEqual(bench.store.signedText("text a", "hash"), answer);
  }
  for await (const { value } of bench.kv.list({ prefix: ["used"] })) {
    assert.ok(value instanceof Uint8Array);
    assert.equal(new TextDecoder().decode(value).includes("secret"), false);
  }
  // A nonce has no answer.
  bench.used();
  assert.equal(bench.store.signedText(`nonce a ${NONCE}`, "hash"), undefined);
  await bench.stop();
});

Deno.test("a kept answer opens with the body of its request only", async () => {
  verifies("6-28");
  using bench = await Bench.open();
  const answer = { status: 202, body: '{"facts":["the spare key"]}' };
  await bench.writer.commit([
    bench.store.keepIdempotent("k", "hash", answer),
    bench.store.keepText("text a", "hash", answer),
  ]);
  const { value } = await bench.kv.get<{ answer: Uint8Array }>(
    (await keysOf(bench.kv, "idempotency"))[0]!,
  );
  const data = KEY.hmac("replay")("k").toBase64();
  assert.throws(() => sealerUnder().open(value!.answer, data), { code: "storage_unavailable" });
  assert.throws(() => sealerUnder("other").open(value!.answer, data));
  assert.equal(sealerUnder("hash").open(value!.answer, data).length, 4 + answer.body.length);
  assert.throws(() => bench.store.signedText("text a", "other"), { code: "storage_unavailable" });
  await bench.stop();
});

Deno.test("an answer that 0.1.0 kept is given again", async () => {
  using bench = await Bench.open();
  const digest = KEY.hmac("replay");
  const answer = sealerUnder().seal(
    new TextEncoder().encode('202 {"a":1}'),
    digest("k").toBase64(),
  );
  const value = { body: digest("body hash"), answer, until: bench.now + DAY };
  await bench.writer.commit([{ key: ["idempotency", digest("k")], value, bytes: 100 }]);
  assert.deepEqual(await bench.store.idempotent("k", "hash"), { status: 202, body: '{"a":1}' });
  await bench.stop();
});

Deno.test("a text whose commit failed is free again, also ten minutes later", async () => {
  using bench = await Bench.open();
  bench.store.keepText("text a", "hash", { status: 202, body: "{}" });
  bench.now += 600_000;
  bench.store.dropText("text a");
  assert.equal(bench.store.signedText("text a", "hash"), undefined);
  await bench.stop();
});

Deno.test("an idempotency key gives the first answer for its time", async () => {
  verifies("6-18");
  using bench = await Bench.open();
  const answer = { status: 202, body: '{"a":1}' };
  assert.equal(await bench.store.idempotent("k", "hash"), undefined);
  await bench.writer.commit([bench.store.keepIdempotent("k", "hash", answer)]);
  assert.deepEqual(await bench.store.idempotent("k", "hash"), answer);
  await assert.rejects(bench.store.idempotent("k", "other"), { code: "idempotency_conflict" });
  assert.equal(await bench.store.idempotent("l", "other"), undefined);
  bench.now += DAY - 1;
  await bench.restart(true);
  assert.deepEqual(await bench.store.idempotent("k", "hash"), answer);
  bench.now += 2;
  assert.equal(await bench.store.idempotent("k", "other"), undefined);
  await bench.stop();
});

Deno.test("requests that share a key run one after the other", async () => {
  verifies("4.4-22", "6-21");
  using bench = await Bench.open();
  const first = Promise.withResolvers<void>();
  const ran: string[] = [];
  const run = (name: string, keys: readonly string[], until?: Promise<void>) =>
    bench.store.once(keys, async () => {
      ran.push(name);
      await until;
      return name;
    });
  const runs = [run("a", ["x", "y"], first.promise), run("b", ["y"]), run("c", ["z"])];
  assert.equal(await runs[2], "c");
  assert.deepEqual(ran, ["a", "c"]);
  first.resolve();
  assert.deepEqual(await Promise.all(runs), ["a", "b", "c"]);
  assert.deepEqual(ran, ["a", "c", "b"]);
  await bench.stop();
});

Deno.test("who waits for one key holds the other one", async () => {
  using bench = await Bench.open();
  const first = Promise.withResolvers<void>();
  const ran: string[] = [];
  const run = (name: string, keys: readonly string[], until?: Promise<void>) =>
    bench.store.once(keys, async () => {
      ran.push(name);
      await until;
    });
  const runs = [
    run("a", ["x"], first.promise),
    run("b", ["x", "y"]),
    run("c", ["y", "z"]),
    run("d", ["z", "x"]),
  ];
  assert.deepEqual(ran, ["a"]);
  first.resolve();
  await Promise.all(runs);
  assert.deepEqual(ran, ["a", "b", "c", "d"]);
  await bench.stop();
});

Deno.test("requests that share both keys never wait for each other", async () => {
  using bench = await Bench.open();
  const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ran: string[] = [];
  const run = (name: string, keys: readonly string[], until?: Promise<void>) =>
    bench.store.once(keys, async () => {
      ran.push(name);
      await until;
    });
  const runs = [
    run("text", ["t"], one.promise),
    run("key", ["k"], two.promise),
    run("both", ["t", "k"]),
  ];
  one.resolve();
  await runs[0];
  runs.push(run("both again", ["t", "k"]));
  two.resolve();
  await Promise.all(runs);
  assert.deepEqual(ran, ["text", "key", "both", "both again"]);
  await bench.stop();
});

Deno.test("after an error the waiting request runs itself", async () => {
  verifies("6-22");
  using bench = await Bench.open();
  const first = Promise.withResolvers<never>();
  const failing = bench.store.once(["x"], () => first.promise);
  const second = bench.store.once(["x"], () => Promise.resolve("second"));
  first.reject(new Error("refused"));
  await assert.rejects(failing, { message: "refused" });
  assert.equal(await second, "second");
  await bench.stop();
});

Deno.test("who waited 30 s is told that the first is in progress", async () => {
  verifies("4.4-23");
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  try {
    using bench = await Bench.open();
    const first = Promise.withResolvers<void>();
    const running = bench.store.once(["x"], () => first.promise);
    const late = bench.store.once(["x"], () => Promise.reject(new Error("must not run")));
    const refused = assert.rejects(late, { code: "idempotency_in_progress", status: 409 });
    mock.timers.tick(30_000);
    await refused;
    first.resolve();
    await running;
    await bench.stop();
  } finally {
    mock.timers.reset();
  }
});

Deno.test("a table that cannot be used is said to be unavailable, never a replay", async () => {
  verifies("4.4-27");
  const bench = await Bench.open();
  await bench.stop();
  bench.kv.close();
  const unavailable = { code: "storage_unavailable", status: 503 };
  await assert.rejects(bench.store.idempotent("k", "hash"), unavailable);
  const answer = { status: 202, body: "{}" };
  const kept = bench.store.keepIdempotent("k", "hash", answer);
  await assert.rejects(bench.writer.commit([kept]), unavailable);
});
