import assert from "node:assert/strict";
import { parseAddress, postgresStateStore } from "../../../plugins/postgres/mod.ts";
import { SvcError } from "../../../src/errors.ts";
import { onServer } from "./on_server.ts";

const SCOPE = { owner: `0x${"a".repeat(64)}`, namespace: "notes" };
const RECORDS = [1, 2, 3].map((value) => new Uint8Array(200_000).fill(value));
const ROUNDS = 40;

onServer((empty, server) => {
  Deno.test("words that are written and dropped at once are there or not, and nobody waits", async () => {
    const url = await empty();
    await using store = await postgresStateStore({ address: parseAddress(url) });
    const { owners, words } = store;
    await owners.take(SCOPE.owner, true);
    for (let round = 0; round < ROUNDS; round++) {
      const turn = await words.turn(SCOPE);
      const writing = words.write(SCOPE, turn, RECORDS).catch((error) => {
        assert.equal(SvcError.from(error).code, "overloaded");
      });
      // Each time at another moment of the writing.
      for (let i = 0; i < round % 8; i++) await words.turn(SCOPE);
      await Promise.all([writing, words.drop(SCOPE), owners.take(SCOPE.owner, true)]);
      assert.deepEqual(await words.read(SCOPE), []);
    }
    const count = "select count(*)::int as n from svc.words";
    assert.deepEqual(await server().run(url, count), [{ n: 0 }]);
  });
});
