import assert from "node:assert/strict";
import { fakeKv, FakeTable, openGate } from "./fake_kv.ts";

/** The same writes and reads on a table. */
async function play(kv: Deno.Kv): Promise<unknown[]> {
  const bytes = Uint8Array.of(1, 2);
  await kv.atomic()
    .set(["due", 30, "c"], null).set(["due", 4, "b"], null).set(["due", 4, "a"], null)
    .set(["used", 1, bytes], bytes).set(["due"], "short").set(["duf", 1], 1)
    .commit();
  await kv.atomic().delete(["due", 4, "b"]).commit();
  const seen: unknown[] = [];
  const selectors: Deno.KvListSelector[] = [
    { prefix: ["due"] },
    { prefix: ["used"] },
    { start: ["due"], end: ["due", 5] },
    { start: ["due"], end: ["due", 31] },
  ];
  for (const selector of selectors) {
    for await (const { key, value } of kv.list(selector, { limit: 10 })) seen.push([key, value]);
  }
  const known = await kv.get(["due"]);
  seen.push(known.value, (await kv.get(["nothing"])).value);
  seen.push((await kv.getMany([["duf", 1], ["duf", 2]])).map(({ value }) => value));
  seen.push((await kv.atomic().check(known).set(["due"], "new").commit()).ok);
  seen.push((await kv.atomic().check(known).set(["due"], "newer").commit()).ok);
  seen.push((await kv.get(["due"])).value);
  return seen;
}

Deno.test("the table in memory answers as Deno KV does", async () => {
  const kv = await Deno.openKv(":memory:");
  const expected = await play(kv);
  kv.close();
  assert.deepEqual(await play(fakeKv(new FakeTable(), openGate)), expected);
});
