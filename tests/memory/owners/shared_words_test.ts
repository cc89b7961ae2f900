import assert from "node:assert/strict";
import { memoryCipher } from "../../../plugins/memory/cipher.ts";
import type { TestRelayer } from "../../relayer_fixture.ts";
import { poll } from "../../within.ts";
import { intercepted } from "../intercepted.ts";
import { withRelayers } from "./several_relayers.ts";

const COUNT = 300;
let opened = 0;
const cipher = intercepted(memoryCipher(), {
  open(next, ...given) {
    opened += given[0].length;
    return next(...given);
  },
});

async function fill(relayer: TestRelayer): Promise<void> {
  for (let at = 0; at < COUNT; at += 20) {
    const items = Array.from({ length: 20 }, (_, i) => ({ text: `tea number ${at + i}` }));
    assert.equal((await relayer.post("/api/remember/bulk", { items })).status, 202);
  }
  await relayer.relayer.idle();
}

withRelayers(
  "another relayer takes the words of a namespace from the store, until something is deleted",
  { count: 2, backends: { cipher } },
  async ([one, two], [store]) => {
    await fill(one!);
    const scope = { owner: one!.owner, namespace: "default" };
    const ask = async (relayer: TestRelayer) =>
      (await relayer.post("/api/recall", { query: "number 7", limit: 5 })).body.results;
    const before = await ask(one!);
    await poll(() => store!.words.read(scope), (records) => records.length > 0);

    opened = 0;
    assert.deepEqual(await ask(two!), before);
    assert.ok(opened < 20, `opened ${opened}: the hits, the words, and little more`);
    const text = new TextDecoder();
    const records = await store!.words.read(scope);
    // In the clear they name each memory.
    assert.ok(records.every((record) => !text.decode(record).includes(before[0].memory_id)));

    assert.equal((await two!.send("DELETE", `/api/memories/${before[0].memory_id}`)).status, 200);
    assert.deepEqual(await store!.words.read(scope), []);
    opened = 0;
    const after = await ask(one!);
    assert.ok(
      !after.some(({ memory_id: id }: { memory_id: string }) => id === before[0].memory_id),
    );
    assert.ok(opened >= COUNT - 1, "words are opened again");
  },
);
