import assert from "node:assert/strict";
import { ASPECTS } from "../../../plugins/use_lite/engine/aspects.ts";
import {
  QUESTIONS,
  RANK,
  SCALE,
  STATEMENTS,
} from "../../../plugins/use_lite/engine/aspects_weights.ts";
import { WorkerEmbedder } from "../../../plugins/use_lite/embedder.ts";

Deno.test("aspects are products with the rows of their maps", () => {
  const vector = Float32Array.from({ length: 512 }, (_, i) => Math.sin(i) / 16);
  for (const [name, base64] of [["statement", STATEMENTS], ["question", QUESTIONS]] as const) {
    const rows = new Int8Array(Uint8Array.fromBase64(base64).buffer);
    assert.equal(rows.length, RANK * vector.length);
    const mapped = ASPECTS[name](vector);
    assert.equal(mapped.length, RANK);
    for (const row of [0, RANK - 1]) {
      const own = rows.subarray(row * vector.length, (row + 1) * vector.length);
      const expected = SCALE * vector.reduce((sum, value, i) => sum + value * own[i]!, 0);
      assert.ok(Math.abs(mapped[row]! - expected) < 1e-4);
    }
  }
});

Deno.test("what was learned for adapted vectors is not there for those of the package", async () => {
  const spawn = () => ({ postMessage() {}, terminate() {} }) as unknown as Worker;
  await using adapted = new WorkerEmbedder({ spawn });
  await using plain = new WorkerEmbedder({ spawn, plain: true });
  assert.deepEqual([adapted.aspects, plain.aspects], [ASPECTS, undefined]);
});
