import assert from "node:assert/strict";
import { parseAddress, postgresStateStore } from "../../../plugins/postgres/mod.ts";
import { DEFAULT_CONFIG } from "../../../src/interfaces/config.ts";
import { relayersOn } from "../../memory/owners/several_relayers.ts";
import { type Answer, TestKey, type TestRelayer } from "../../relayer_fixture.ts";
import { onServer } from "./on_server.ts";

const LIMIT = 20;
const LOOK_UPS = 9;
const PEER = "198.51.100.7";

onServer((empty, server) => {
  Deno.test("limits hold over relayers on one database, whichever is asked and lost", async () => {
    const url = await empty();
    const options = { address: parseAddress(url), connections: 4 };
    const stores = await Promise.all([1, 2, 3].map(() => postgresStateStore(options)));
    const relayers = await Array.fromAsync(relayersOn(stores, {
      rateLimit: { ...DEFAULT_CONFIG.rateLimit, keyPerMinute: LIMIT },
      accountLookupsPerMinute: LOOK_UPS,
    }));
    await using ending = new AsyncDisposableStack();
    for (const store of stores) ending.use(store);
    ending.use(relayers.at(-1)!);
    for (const { relayer } of relayers.slice(0, -1)) ending.use(relayer);
    const [one, two] = relayers;
    one!.clock.freeze();
    const at = (number: number): TestRelayer => relayers[number * 7 % 5 % 3]!;
    const ask = (relayer: TestRelayer) => relayer.post("/api/stats", { namespace: "telling" });
    const passed = (answers: readonly Answer[]) =>
      answers.filter(({ status }) => status === 200).length;

    const answers: Answer[] = [];
    for (let number = 0; number < LIMIT + 8; number++) answers.push(await ask(at(number)));
    assert.equal(passed(answers), LIMIT);

    one!.clock.advance(61_000);
    const before = await Promise.all(Array.from({ length: 15 }, () => ask(one!)));
    // As if it had stood still for longer than its lease lasts.
    await stores[0]!.owners.release(one!.owner);
    const after: Answer[] = [];
    for (let number = 0; number < LIMIT; number++) after.push(await ask(two!));
    const all = passed(before) + passed(after);
    assert.ok(all >= LIMIT && all <= LIMIT + LIMIT / 10, `${all} were let pass`);

    const strangers = await Promise.all(Array.from(
      { length: 25 },
      (_, number) => at(number).get("/api/namespaces", { key: new TestKey(), peer: PEER }),
    ));
    const lookedUp = strangers.filter(({ status }) => status === 401);
    assert.equal(lookedUp.length, LOOK_UPS);

    one!.clock.advance(61_000);
    const { body } = await one!.get("/api/account/activity");
    assert.ok(
      body.entries.some(({ namespace }: { namespace?: string }) => namespace === "telling"),
    );
    const dump = new TextDecoder().decode(await server().dump(url));
    for (const secret of ["telling", "/api/stats", PEER]) {
      const hex = new TextEncoder().encode(secret).toHex();
      assert.ok(!dump.includes(secret) && !dump.includes(hex), secret);
    }
  });
});
