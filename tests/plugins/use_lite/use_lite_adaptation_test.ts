import assert from "node:assert/strict";
import { Adaptation } from "../../../plugins/use_lite/engine/adaptation.ts";
import weights from "../../../plugins/use_lite/engine/adaptation_weights.json" with {
  type: "json",
};
import { bestKernel, createKernel } from "../../../plugins/use_lite/engine/matrix_product.ts";
import { scratchFloats, takeScratch } from "../../../plugins/use_lite/engine/scratch.ts";
import { HeapRegions } from "../../../plugins/use_lite/engine/heap_regions.ts";

const ROWS = 256;

Deno.test("what was learned is added to its matrices, and to nothing else", () => {
  const factors = new Int8Array(Uint8Array.fromBase64(weights.factors).buffer);
  const scales = new Float32Array(Uint8Array.fromBase64(weights.scales).buffer);
  for (const name of new Set([bestKernel(), "js"] as const)) {
    const kernel = createKernel(scratchFloats(ROWS), name);
    const scratch = takeScratch(new HeapRegions(kernel.heap.length), ROWS);
    // Whatever is there before.
    kernel.heap.fill(7);
    const adaptation = new Adaptation(kernel, scratch);
    let [factorsAt, scalesAt] = [0, 0];
    for (const { name, inputs, outputs, rank } of weights.matrices) {
      const values = new Float32Array(inputs * outputs).fill(0.25);
      adaptation.apply({ name, shape: [1, inputs, outputs], values });
      for (const [i, j] of [[0, 0], [inputs - 1, outputs - 1], [inputs >> 1, 3], [257, 9]]) {
        let expected = 0.25;
        for (let k = 0; k < rank; k++) {
          expected += factors[factorsAt + k * inputs + i!]! * scales[scalesAt + k]! *
            factors[factorsAt + rank * inputs + k * outputs + j!]!;
        }
        if (i! < inputs) assert.ok(Math.abs(values[i! * outputs + j!]! - expected) < 1e-5);
      }
      factorsAt += rank * (inputs + outputs);
      scalesAt += rank;
    }
    assert.deepEqual([factorsAt, scalesAt], [factors.length, scales.length]);
    const other = new Float32Array(8).fill(1);
    adaptation.apply({ name: "some bias", shape: [8], values: other });
    assert.ok(other.every((value) => value === 1));
  }
});

Deno.test("matrices are those of the encoder, its embeddings among them", () => {
  assert.equal(weights.matrices.length, 11);
  const embeddings = weights.matrices.find(({ name }) => name === "module/Embeddings_en");
  assert.deepEqual([embeddings?.inputs, embeddings?.outputs], [8002, 256]);
  const places = takeScratch(new HeapRegions(scratchFloats(ROWS)), ROWS);
  for (const { rank, outputs } of weights.matrices) {
    assert.ok(rank * outputs <= places.wide - places.delta, "a factor fits its place");
  }
});
