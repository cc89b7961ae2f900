import assert from "node:assert/strict";
import { uniform } from "../../bench/statistics.ts";
import { Fifo } from "../../src/jobs/job_queue.ts";

Deno.test("a queue gives what an array gives", () => {
  const random = uniform(11);
  for (const growth of [0.45, 0.5, 0.7]) {
    const [queue, array] = [new Fifo<number>(), [] as number[]];
    for (let i = 0; i < 20_000; i++) {
      if (random() < growth) {
        queue.push(i);
        array.push(i);
      } else assert.equal(queue.shift(), array.shift());
      assert.equal(queue.size, array.length);
    }
    while (array.length > 0) assert.equal(queue.shift(), array.shift());
    assert.equal(queue.shift(), undefined);
    assert.equal(queue.size, 0);
  }
});
