import assert from "node:assert/strict";
import { LoadTurns } from "../../src/index/load_turns.ts";
import { within } from "../within.ts";

Deno.test("a load waits while it is held up, and looks again when it is told to", async () => {
  const turns = new LoadTurns();
  const turn = turns.wait();
  await turn(() => false);
  let isHeldUp = true;
  let looks = 0;
  let isOver = false;
  const waiting = turn(() => {
    looks++;
    return isHeldUp;
  }).then(() => isOver = true);
  for (let i = 0; i < 2; i++) {
    turns.tell();
    await new Promise((resolve) => setTimeout(resolve));
  }
  assert.deepEqual([looks, isOver], [3, false]);
  isHeldUp = false;
  turns.tell();
  await waiting;
});

Deno.test("a load that has waited for long goes on, and does not wait again", async () => {
  const turn = new LoadTurns().wait(30);
  const begin = performance.now();
  await within(turn(() => true), () => "it waits for ever");
  assert.ok(performance.now() - begin >= 29);
  let looks = 0;
  await turn(() => {
    looks++;
    return true;
  });
  assert.equal(looks, 0);
});
