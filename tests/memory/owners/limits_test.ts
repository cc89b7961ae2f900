import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../../src/interfaces/config.ts";
import { type Answer, TestKey, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { withRelayers } from "./several_relayers.ts";

const LIMIT = 20;
/** A tenth of it may be spent without being noted. */
const UNNOTED = LIMIT / 10;

const limited = (rateLimit: Partial<typeof DEFAULT_CONFIG.rateLimit>) => ({
  rateLimit: { ...DEFAULT_CONFIG.rateLimit, ...rateLimit },
});

/** Numbers from 0 to below a bound that look random and come again. */
function* numbersBelow(bound: number): Generator<number, never> {
  for (let state = 7;;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield Math.floor(state / 65_536) % bound;
  }
}

/** Weighs 1. */
const ask = (relayer: TestRelayer, key?: TestKey) =>
  relayer.post("/api/stats", {}, key === undefined ? {} : { key });

withRelayers(
  "whoever asks one relayer after the other spends no more than with one",
  { count: 4, config: limited({ keyPerMinute: LIMIT }) },
  async (relayers) => {
    verifies("7-9", "7-29");
    const [first] = relayers;
    first!.clock.freeze();
    const turns = numbersBelow(relayers.length);
    const answers: Answer[] = [];
    for (let asked = 0; asked < LIMIT + 6; asked++) {
      answers.push(await ask(relayers[turns.next().value]!));
    }
    assert.equal(answers.filter(({ status }) => status === 200).length, LIMIT);
    assert.deepEqual(answers.slice(LIMIT).map(({ status }) => status), Array(6).fill(429));
    assert.equal(answers[4]!.headers.get("ratelimit")?.split(",")[0], '"delegate_key";r=15;t=60');
    first!.clock.advance(61_000);
    for (const relayer of relayers.slice(2)) assert.equal((await ask(relayer)).status, 200);
  },
);

withRelayers(
  "an owner's keys share the owner's hour at whichever relayer, and have minutes of their own",
  { count: 2, config: limited({ keyPerMinute: 6, accountPerHour: 8 }) },
  async ([one, two]) => {
    verifies("7-11", "7-17");
    one!.clock.freeze();
    const other = await one!.addKey(["read", "write"]);
    for (let asked = 0; asked < 5; asked++) assert.equal((await ask(one!)).status, 200);
    for (let asked = 0; asked < 3; asked++) assert.equal((await ask(two!, other)).status, 200);
    for (const relayer of [one!, two!]) {
      const denied = await ask(relayer, other);
      assert.deepEqual([denied.status, denied.body.layer], [429, "account_sustained"]);
    }
  },
);

withRelayers(
  "a relayer that is lost forgets a tenth of a limit at most, and what it spent comes back by time",
  { count: 2, config: limited({ keyPerMinute: LIMIT }) },
  async ([one, two], [store]) => {
    verifies("7-29");
    one!.clock.freeze();
    for (let asked = 0; asked < 15; asked++) assert.equal((await ask(one!)).status, 200);
    // As if it had stood still for longer than its lease lasts.
    await store!.owners.release(one!.owner);
    let accepted = 15;
    while ((await ask(two!)).status === 200) accepted++;
    assert.ok(accepted <= LIMIT + UNNOTED, `${accepted} were accepted`);
    two!.clock.advance(61_000);
    assert.equal((await ask(two!)).status, 200);
  },
);

withRelayers(
  "polls beyond ten a second weigh something at whichever relayer",
  { count: 2, config: limited({ keyPerMinute: 2 }) },
  async ([one, two]) => {
    verifies("7-8");
    one!.clock.freeze();
    const poll = (relayer: TestRelayer) => relayer.get("/api/namespaces");
    for (let asked = 0; asked < 10; asked++) await poll(one!);
    for (let asked = 0; asked < 2; asked++) assert.equal((await poll(two!)).status, 200);
    assert.equal((await poll(two!)).status, 429);
  },
);

withRelayers(
  "a quota holds at whichever relayer",
  { count: 2, config: { quotaBytes: 2000 } },
  async ([one, two]) => {
    verifies("7-18", "7-19");
    const texts = Array.from({ length: 40 }, (_, number) => `Tea of the kind ${number}, please.`);
    let accepted = 0;
    for (const text of texts) {
      const relayer = accepted % 2 === 0 ? one! : two!;
      const { status } = await relayer.post("/api/remember", { text });
      if (status !== 202) break;
      accepted++;
    }
    assert.ok(accepted > 2 && accepted < 20, `${accepted} were accepted`);
    for (const relayer of [one!, two!]) {
      const denied = await relayer.post("/api/remember", { text: "One more." });
      assert.equal(denied.body.code, "quota_exceeded");
    }
    await one!.post("/api/forget", { namespace: "default" });
    assert.equal((await two!.post("/api/remember", { text: "One more." })).status, 202);
  },
);

withRelayers("when a key was used is known to every relayer", { count: 2 }, async ([one, two]) => {
  one!.clock.freeze();
  const other = await one!.addKey(["read"]);
  await ask(one!, other);
  one!.clock.advance(60_000);
  await ask(one!, other);
  const at = new Date(one!.clock.now()).toISOString();
  one!.clock.advance(60_000);
  const { body } = await two!.get("/api/account/keys");
  const used = new Map(
    body.keys.map((key: Record<string, string>) => [key.public_key, key.last_used_at]),
  );
  assert.equal(used.get(other.publicKey), at);
  await ask(two!, other);
  const again = await one!.get("/api/account/keys");
  const times = again.body.keys.map((key: Record<string, string>) => key.last_used_at);
  assert.deepEqual(times.sort(), Array(2).fill(new Date(one!.clock.now()).toISOString()));
});

withRelayers(
  "whoever is known by an address only is counted by all relayers together",
  { count: 3, config: { accountLookupsPerMinute: 8 } },
  async (relayers) => {
    verifies("7-30");
    const peer = "198.51.100.7";
    const strange = (relayer: TestRelayer) =>
      relayer.get("/api/namespaces", { key: new TestKey(), peer });
    const turns = numbersBelow(relayers.length);
    const asked = Array.from({ length: 20 }, () => strange(relayers[turns.next().value]!));
    const answers = await Promise.all(asked);
    const passed = answers.filter(({ body }) => body.code === "account_not_authorized");
    assert.equal(passed.length, 8);
    for (const relayer of relayers) {
      const { status, body } = await strange(relayer);
      assert.deepEqual([status, body.layer], [429, "account_lookup_ip"]);
      assert.ok(body.retry_after_seconds > 50 && body.retry_after_seconds <= 61);
    }
    const other = await relayers[0]!.get("/api/namespaces", {
      key: new TestKey(),
      peer: "198.51.100.8",
    });
    assert.equal(other.body.code, "account_not_authorized");
  },
);

withRelayers(
  "a key that asks many times at once is looked up and counted once",
  { count: 2, config: { accountLookupsPerMinute: 1 } },
  async (relayers) => {
    const [one] = relayers;
    const other = await one!.addKey(["read"]);
    const asked = Array.from(
      { length: 12 },
      () => one!.post("/api/stats", {}, { key: other, peer: "198.51.100.9" }),
    );
    const answers = await Promise.all(asked);
    assert.deepEqual(answers.map(({ status }) => status), Array(12).fill(200));
  },
);
