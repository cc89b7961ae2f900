import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { Aggregators, sha256Of } from "../../../../plugins/sui/walrus/aggregator/aggregators.ts";
import { race } from "../../../../plugins/sui/walrus/aggregator/race.ts";
import { Standing } from "../../../../plugins/sui/walrus/aggregator/standing.ts";
import { type Clock, SYSTEM_CLOCK } from "../../../../plugins/sui/walrus/clock.ts";
import { aggregatorUrls } from "../../../../plugins/sui/walrus/networks.ts";
import { SvcError } from "../../../../src/errors.ts";

const BYTES = Uint8Array.from({ length: 300 }, (_, n) => n & 255);
const OTHER = new Uint8Array(300).fill(9);
const MISSING = () => Response.json({ error: { code: 404 } }, { status: 404 });
const FOUND = () => new Response(BYTES);

type Answer = (request: Request) => Response | Promise<Response>;

/** Some aggregators; answers can be changed, and requests are counted. */
class Servers implements AsyncDisposable {
  readonly urls: string[];
  readonly calls: number[];
  readonly answers: Answer[];
  readonly #servers: Deno.HttpServer<Deno.NetAddr>[];
  readonly #hang = Promise.withResolvers<void>();

  constructor(...answers: Answer[]) {
    this.answers = answers;
    this.calls = answers.map(() => 0);
    this.#servers = answers.map((_, n) =>
      Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
        this.calls[n]!++;
        return this.answers[n]!(request);
      })
    );
    this.urls = this.#servers.map(({ addr }) => `http://127.0.0.1:${addr.port}`);
  }

  /** Answers only when all is over. */
  readonly hang: Answer = () => this.#hang.promise.then(MISSING);

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hang.resolve();
    await Promise.all(this.#servers.map((server) => server.shutdown()));
  }
}

/** Time that passes only when told to, and waits that end by it. */
class ManualClock {
  time = 1_000_000;
  readonly slept: number[] = [];
  readonly now = () => this.time;
  readonly sleep = (ms: number) => {
    this.time += ms;
    this.slept.push(ms);
    return Promise.resolve();
  };
}

const atOnce: Clock["after"] = (_ms, start) => SYSTEM_CLOCK.after(0, start);
const never = () => () => {};

interface Setup {
  readonly after?: Clock["after"];
  readonly clock?: ManualClock;
  readonly timeoutMs?: number;
}

function open({ urls }: Servers, { after = never, clock = new ManualClock(), ...rest }: Setup) {
  const { now, sleep } = clock;
  return new Aggregators({ urls, raceAfterMs: 150, clock: { now, after }, sleep, ...rest });
}

const MAX = { maxBytes: 1000 };
const unavailable = { name: "SvcError", code: "storage_unavailable" };

Deno.test("the first aggregator alone is asked while it answers", async () => {
  await using servers = new Servers(FOUND, FOUND);
  const reads = open(servers, {});
  deepStrictEqual(await reads.blob("id", MAX), { bytes: BYTES, proof: "unchecked" });
  deepStrictEqual(servers.calls, [1, 0]);
  deepStrictEqual(reads.health, { status: "ok" });
});

Deno.test("paths are those of the aggregators' API", async () => {
  const paths: string[] = [];
  await using servers = new Servers((request) => {
    paths.push(new URL(request.url).pathname);
    return FOUND();
  });
  const reads = open(servers, {});
  await reads.blob("a", MAX);
  await reads.patch("b", MAX);
  deepStrictEqual(paths, ["/v1/blobs/a", "/v1/blobs/by-quilt-patch-id/b"]);
});

Deno.test("the next one is asked at once when one fails", async () => {
  const failures: Answer[] = [
    () => new Response("no", { status: 500 }),
    () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:9/" } }),
    () => new Response(new Uint8Array(1001)),
  ];
  for (const failure of failures) {
    await using servers = new Servers(failure, FOUND);
    const read = await open(servers, {}).blob("id", MAX);
    deepStrictEqual(read?.bytes, BYTES);
    deepStrictEqual(servers.calls, [1, 1]);
  }
});

Deno.test("the next one is asked when one takes long, and the slow one is given up", async () => {
  await using servers = new Servers(() => MISSING(), FOUND);
  servers.answers[0] = servers.hang;
  const reads = open(servers, { after: atOnce });
  for (let n = 0; n < 3; n++) deepStrictEqual((await reads.blob("id", MAX))?.bytes, BYTES);
  deepStrictEqual(servers.calls, [3, 3]);
  // After three lost races it is asked behind the other.
  await reads.blob("id", MAX);
  deepStrictEqual(servers.calls[1], 4);
});

Deno.test("one that hangs is given up by its deadline", async () => {
  await using servers = new Servers(() => MISSING(), FOUND);
  servers.answers[0] = servers.hang;
  const read = await open(servers, { timeoutMs: 20 }).blob("id", MAX);
  deepStrictEqual(read?.bytes, BYTES);
});

Deno.test("one that is down is not asked first, later not at all, and then tried again", async () => {
  await using servers = new Servers(() => new Response("", { status: 503 }), FOUND);
  const clock = new ManualClock();
  const reads = open(servers, { clock });
  for (let n = 0; n < 5; n++) await reads.blob("id", MAX);
  // Behind the other from the first failure on.
  deepStrictEqual(servers.calls, [1, 5]);
  servers.answers[1] = MISSING;
  for (let n = 0; n < 2; n++) await rejects(reads.blob("id", MAX), unavailable);
  deepStrictEqual(servers.calls, [3, 7]);
  deepStrictEqual(reads.health.status, "degraded");
  await rejects(reads.blob("id", MAX), unavailable);
  deepStrictEqual(servers.calls, [3, 8]);
  servers.answers[0] = FOUND;
  clock.time += 60_000;
  deepStrictEqual((await reads.blob("id", MAX))?.bytes, BYTES);
  deepStrictEqual(reads.health, { status: "ok" });
});

Deno.test("a pause that is asked for is kept, and told when there is nobody else", async () => {
  for (const status of [429, 503]) {
    await using servers = new Servers(
      () => new Response("", { status, headers: { "retry-after": "7" } }),
    );
    const clock = new ManualClock();
    const reads = open(servers, { clock });
    await rejects(reads.blob("id", MAX), { ...unavailable, retryAfter: 7, retryable: true });
    await rejects(reads.blob("id", MAX), unavailable);
    deepStrictEqual(servers.calls, [1]);
    clock.time += 7_000;
    servers.answers[0] = FOUND;
    ok(await reads.blob("id", MAX));
  }
});

Deno.test("a blob is missing when every aggregator says so", async () => {
  await using servers = new Servers(MISSING, MISSING, MISSING);
  strictEqual(await open(servers, {}).blob("id", MAX), undefined);
  deepStrictEqual(servers.calls, [1, 1, 1]);
  servers.answers[1] = () => new Response("", { status: 500 });
  await rejects(open(servers, {}).blob("id", MAX), unavailable);
  servers.answers[2] = FOUND;
  ok(await open(servers, {}).blob("id", MAX));
});

Deno.test("a fresh blob that no aggregator has yet is asked for again", async () => {
  let left = 2;
  await using servers = new Servers(() => left-- > 0 ? MISSING() : FOUND());
  const clock = new ManualClock();
  const reads = open(servers, { clock });
  deepStrictEqual((await reads.blob("id", { ...MAX, fresh: true }))?.bytes, BYTES);
  deepStrictEqual(clock.slept, [250, 500]);
  servers.answers[0] = MISSING;
  strictEqual(await reads.blob("id", { ...MAX, fresh: true }), undefined);
  deepStrictEqual(clock.slept.length, 7);
});

Deno.test("bytes of another SHA-256 are not taken, and who sent them is not trusted", async () => {
  await using servers = new Servers(() => new Response(OTHER), FOUND);
  const reads = open(servers, {});
  const options = { ...MAX, sha256: sha256Of(BYTES) };
  deepStrictEqual(await reads.blob("id", options), { bytes: BYTES, proof: "digest" });
  await reads.blob("id", options);
  deepStrictEqual(servers.calls, [1, 2]);
  servers.answers[1] = () => new Response(OTHER);
  // Also when all of them agree.
  await rejects(reads.blob("id", options), unavailable);
});

Deno.test("bytes that cannot be understood are taken when two aggregators agree", async () => {
  await using servers = new Servers(() => new Response(OTHER), FOUND, () => new Response(OTHER));
  const accepts = (bytes: Uint8Array) => bytes[1] === 1;
  deepStrictEqual((await open(servers, {}).blob("id", { ...MAX, accepts }))?.proof, "form");
  servers.answers[1] = () => new Response(new Uint8Array(5));
  const read = await open(servers, {}).blob("id", { ...MAX, accepts });
  deepStrictEqual(read, { bytes: OTHER, proof: "agreed" });
  servers.answers[2] = () => new Response(new Uint8Array(6));
  await rejects(open(servers, {}).blob("id", { ...MAX, accepts }), unavailable);
});

Deno.test("a read ends with the reason of its signal, and of closing", async () => {
  await using servers = new Servers(() => MISSING());
  servers.answers[0] = servers.hang;
  const reads = open(servers, {});
  const reason = new Error("enough");
  const controller = new AbortController();
  const read = reads.blob("id", { ...MAX, signal: controller.signal });
  controller.abort(reason);
  await rejects(read, reason);
  deepStrictEqual(reads.health, { status: "ok" });
  const other = reads.blob("id", MAX);
  reads.close(new SvcError("storage_unavailable", "The store is closed"));
  await rejects(other, { message: "The store is closed" });
  await rejects(reads.blob("id", MAX), { message: "The store is closed" });
});

Deno.test("nobody can be asked without an aggregator", async () => {
  const reads = new Aggregators({ urls: [], raceAfterMs: 0, clock: SYSTEM_CLOCK });
  await rejects(reads.blob("id", MAX), unavailable);
  deepStrictEqual(reads.health, { status: "ok" });
});

Deno.test("a race waits for the others, and has one winner", async () => {
  const order: string[] = [];
  const runs = await race(["a", "b", "c"], (runner, signal) => {
    order.push(runner);
    if (runner === "c") return Promise.resolve(true);
    return new Promise<boolean>((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(new Error("aborted")))
    );
  }, { afterMs: 0, wins: (answer) => answer, after: atOnce });
  deepStrictEqual(order, ["a", "b", "c"]);
  deepStrictEqual(runs, [
    { runner: "a", outrun: true },
    { runner: "b", outrun: true },
    { runner: "c", answer: true },
  ]);
});

Deno.test("pauses grow to a minute, and end with an answer", () => {
  const clock = new ManualClock();
  const standing = new Standing(["a"], clock.now);
  const waits: number[] = [];
  for (let n = 0; n < 12; n++) {
    standing.failed("a", 0);
    waits.push(standing.waitMs);
    clock.time += standing.waitMs;
  }
  deepStrictEqual(waits.slice(0, 5), [0, 0, 1000, 2000, 4000]);
  strictEqual(waits.at(-1), 60_000);
  deepStrictEqual(standing.health.status, "down");
  standing.answered("a");
  deepStrictEqual(standing.health.status, "ok");
});

Deno.test("without a list the network's public aggregators are read", () => {
  ok(aggregatorUrls("mainnet", []).length > 1);
  deepStrictEqual(aggregatorUrls("mainnet", ["https://a.example"]), ["https://a.example"]);
  deepStrictEqual(aggregatorUrls("localnet", []), []);
});

Deno.test("bytes are compared with another aggregator's where that is asked for", async () => {
  const options = { ...MAX, accepts: (bytes: Uint8Array) => bytes.length === 300, compare: true };
  await using servers = new Servers(FOUND, () => new Response(OTHER), FOUND);
  deepStrictEqual(await open(servers, {}).blob("id", options), { bytes: BYTES, proof: "agreed" });
  deepStrictEqual(servers.calls, [1, 1, 1]);
  // Nobody to compare with: the others are down.
  servers.answers[1] = servers.answers[2] = () => new Response("", { status: 500 });
  deepStrictEqual(await open(servers, {}).blob("id", options), { bytes: BYTES, proof: "form" });
  servers.answers[1] = () => new Response(OTHER);
  await rejects(open(servers, {}).blob("id", options), unavailable);
});

Deno.test("who only confirms is not waited for", async () => {
  await using servers = new Servers(FOUND, FOUND);
  servers.answers[1] = servers.hang;
  const options = { ...MAX, accepts: () => true, compare: true };
  const reads = open(servers, { after: atOnce });
  deepStrictEqual(await reads.blob("id", options), { bytes: BYTES, proof: "form" });
});

Deno.test("of two that differ the one that is proven is taken", async () => {
  await using servers = new Servers(() => new Response(OTHER), FOUND);
  const proves = (bytes: Uint8Array) => Promise.resolve(bytes[1] === 1);
  const options = { ...MAX, accepts: () => true, compare: true, proves };
  const reads = open(servers, {});
  deepStrictEqual(await reads.blob("id", options), { bytes: BYTES, proof: "proven" });
  // Who lied is asked behind the other.
  await reads.blob("id", MAX);
  deepStrictEqual(servers.calls, [1, 2]);
  servers.answers[1] = () => new Response(OTHER);
  servers.answers[0] = MISSING;
  strictEqual((await reads.blob("id", options))?.proof, "form");
  await rejects(reads.blob("id", { ...options, provesAlways: true }), unavailable);
});
