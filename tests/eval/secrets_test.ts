import assert from "node:assert/strict";
import { measure, ordinaryTexts, secretTexts } from "../../eval/secrets.ts";

Deno.test("57 of 60 secrets are found, and no more than 1 of 1,000 ordinary texts is taken for one", async () => {
  const ordinary = await ordinaryTexts();
  assert.ok(ordinary.length >= 2000);
  const { alarms } = measure([], ordinary);
  assert.ok(alarms.length <= ordinary.length / 1000, alarms.join("\n"));
  for (const seed of [1, 2, 3, 4, 5]) {
    const { secrets, kinds, found, missed } = measure(secretTexts(seed), []);
    assert.ok(secrets >= 60 && kinds >= 15);
    assert.ok(found / secrets >= 57 / 60, missed.map(({ text }) => text).join("\n"));
  }
});
