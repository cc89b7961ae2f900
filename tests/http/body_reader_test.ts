import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { BodyReader } from "../../src/http/body_reader.ts";
import { SIGNED_BODY_BYTES } from "../../src/wire/limits.ts";
import { verifies } from "../requirements.ts";

const MIB = 1_048_576;
const SMALL = 65_536;
const BUDGET = 16 * MIB;

/** A body that has come up to a length and ends when it is told to. */
async function partly(reader: BodyReader, address: string, bytes: number) {
  const taken = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(bytes)),
    async pull(controller) {
      taken.resolve();
      await ended.promise;
      controller.close();
    },
  }, { highWaterMark: 0 });
  const request = new Request("http://relayer/", { method: "POST", body });
  const read = reader.read(request, SIGNED_BODY_BYTES, address);
  const outcome = read.then(() => "read", (error) => SvcError.from(error).code);
  const state = await Promise.race([taken.promise.then(() => "held"), outcome]);
  return { state, end: async () => (ended.resolve(), await outcome) };
}

type Held = Awaited<ReturnType<typeof partly>>;

async function fill(
  reader: BodyReader,
  address: (n: number) => string,
  bytes: number,
): Promise<Held[]> {
  const held: Held[] = [];
  for (let n = 0;; n++) {
    const body = await partly(reader, address(n), bytes);
    if (body.state !== "held") {
      assert.equal(body.state, "overloaded");
      return held;
    }
    held.push(body);
  }
}

async function endAll(bodies: readonly Held[]): Promise<void> {
  for (const body of bodies) assert.equal(await body.end(), "read");
}

Deno.test("one address holds at most a quarter of the budget of unverified bodies", async () => {
  verifies("4.3-24");
  const reader = new BodyReader(BUDGET, 60_000);
  const greedy = await fill(reader, () => "203.0.113.1", 2 * MIB);
  assert.equal(greedy.length, 2);
  // The addresses of one IPv6 network are one client.
  const network = await fill(reader, (n) => `2001:db8::${n + 1}`, 2 * MIB);
  assert.equal(network.length, 2);
  await endAll([...greedy, ...network]);
  const again = await fill(reader, () => "203.0.113.1", 2 * MIB);
  assert.equal(again.length, 2);
  await endAll(again);
});

Deno.test("strangers leave room to known addresses, and those to small bodies", async () => {
  verifies("4.3-24");
  let now = 0;
  const reader = new BodyReader(BUDGET, 60_000, () => now);
  const strangers = await fill(reader, (n) => `203.0.113.${n}`, 2 * MIB);
  assert.equal(strangers.length, 4);
  for (let n = 0; n < 4; n++) reader.know(`198.51.100.${n}`);
  const known = await fill(reader, (n) => `198.51.100.${n}`, 2 * MIB);
  assert.equal(known.length, 3);
  assert.equal((await partly(reader, "203.0.113.77", SMALL)).state, "overloaded");
  const small = await fill(reader, () => "198.51.100.1", SMALL);
  assert.equal(small.length, 2 * MIB / SMALL);
  await endAll([...small, ...known]);
  // Who signed nothing for ten minutes is a stranger again.
  now = 600_000;
  assert.equal((await partly(reader, "198.51.100.0", 2 * MIB)).state, "overloaded");
  const smallStill = await partly(reader, "198.51.100.0", SMALL);
  assert.equal(smallStill.state, "held");
  await endAll([smallStill, ...strangers]);
});

Deno.test("a crowd of small bodies leaves room to known addresses", async () => {
  verifies("4.3-24");
  const reader = new BodyReader(BUDGET, 60_000);
  reader.know("198.51.100.1");
  const crowd = await fill(reader, (n) => `203.0.113.${n % 200}`, SMALL);
  assert.equal(crowd.length, 12 * MIB / SMALL);
  const large = await partly(reader, "198.51.100.1", 2 * MIB);
  assert.equal(large.state, "held");
  const small = await fill(reader, () => "198.51.100.1", SMALL);
  assert.equal(small.length, 2 * MIB / SMALL);
  await endAll([...crowd, large, ...small]);
});

Deno.test("a body of the largest size fits into any budget that holds one", async () => {
  const reader = new BodyReader(SIGNED_BODY_BYTES, 60_000);
  const body = await partly(reader, "203.0.113.1", SIGNED_BODY_BYTES);
  assert.equal(body.state, "held");
  await endAll([body]);
});
