import assert from "node:assert/strict";
import { kernelModule } from "../../../build/use_lite_kernel.ts";
import { WEIGHTS_FOLDER } from "../../../plugins/use_lite/folders.ts";
import {
  bestKernel,
  createKernel,
  type Kernel,
} from "../../../plugins/use_lite/engine/matrix_product.ts";
import { loadModel, type Model } from "../../../plugins/use_lite/engine/model.ts";
import parity from "../../testdata/use_lite_parity.json" with { type: "json" };

// Loaded before the tests, which all share them.
const names = [...new Set([bestKernel(), "js"] as const)];
const models: Model[] = await Promise.all(
  names.map((kernel) => loadModel(WEIGHTS_FOLDER, { kernel, plain: true })),
);
const [fastest] = models;
assert.ok(fastest !== undefined);
const { tokenizer } = fastest;

function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  assert.equal(a.length, b.length);
  return Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - (b[i] ?? NaN))), 0);
}

Deno.test("the fastest kernel is the default, and plain script always works", () => {
  assert.equal(createKernel(1).name, fastest.kernel);
  assert.equal(names.at(-1), "js");
});

Deno.test("tokens are those of the reference", () => {
  parity.texts.forEach((text, i) =>
    assert.deepEqual([...tokenizer.encode(text)], parity.tokens[i])
  );
});

for (const { kernel, transformer, documentScratch } of models) {
  Deno.test(`vectors are those of the reference, kernel ${kernel}`, () => {
    const windows = parity.texts.map((text) => tokenizer.encode(text));
    const together = finish(transformer.run(documentScratch, windows));
    parity.vectors.forEach((vector, i) => {
      assert.ok(largestDifference(vector, together[i]!) < 1e-5);
      const [alone] = finish(transformer.run(documentScratch, [windows[i]!]));
      assert.ok(largestDifference(vector, alone!) < 1e-5);
    });
  });
}

Deno.test("kernels agree on windows of every kind of length", () => {
  const lengths = [1, 2, 3, 5, 6, 7, 8, 9, 12, 13, 17, 64, 127, 128];
  const windows = lengths.map((length) =>
    Uint16Array.from({ length }, (_, i) => (i * 131 + length * 17) % 8000)
  );
  const results = models.map(({ transformer, documentScratch }) =>
    finish(transformer.run(documentScratch, windows))
  );
  for (const vectors of results) {
    assert.equal(vectors.length, windows.length);
    vectors.forEach((vector, i) =>
      assert.ok(largestDifference(vector, results[0]![i]!) < 1e-4, `${lengths[i]} tokens`)
    );
  }
});

Deno.test("a window's vector depends neither on its batch nor on interleaved runs", () => {
  const { transformer, queryScratch, documentScratch } = fastest;
  const windows = [3, 128, 1, 40, 2, 128, 4].map((length, n) =>
    Uint16Array.from({ length }, (_, i) => (i * 37 + n * 101) % 8000)
  );
  const alone = windows.map((window) => finish(transformer.run(queryScratch, [window]))[0]!);
  const slow = transformer.run(documentScratch, windows);
  const [query] = windows;
  let step = slow.next();
  for (let n = 0; !step.done; n++) {
    if (n % 50 === 0) {
      const [again] = finish(transformer.run(queryScratch, [query!]));
      assert.deepEqual(again, alone[0]);
    }
    step = slow.next();
  }
  step.value.forEach((v, i) => assert.ok(largestDifference(v, alone[i]!) < 1e-5));
});

Deno.test("a window longer than the scratch area is refused", () => {
  const { transformer, queryScratch } = fastest;
  assert.throws(() => finish(transformer.run(queryScratch, [new Uint16Array(129)])), RangeError);
});

Deno.test("the product is right for every small number of rows", () => {
  const depth = 5;
  const columns = 16;
  for (const name of names) {
    for (let rows = 1; rows <= 20; rows++) {
      const kernel = createKernel(4096, name);
      const at = { a: 0, b: 1024, bias: 2048, c: 2560 };
      fillWithSmallIntegers(kernel);
      const { heap } = kernel;
      const expected = Array.from({ length: rows * columns }, (_, n) => {
        const i = Math.floor(n / columns);
        const j = n % columns;
        let sum = heap[at.bias + j]!;
        for (let p = 0; p < depth; p++) {
          const packed = Math.floor(j / 8) * depth * 8 + p * 8 + j % 8;
          sum += heap[at.a + i * 7 + p]! * heap[at.b + packed]!;
        }
        return sum;
      });
      kernel.multiply({ ...at, lda: 7, ldc: 20, rows, depth, columns });
      const actual = expected.map((_, n) =>
        heap[at.c + Math.floor(n / columns) * 20 + n % columns]
      );
      assert.deepEqual(actual, expected, `${name}, ${rows} rows`);
      if (rows >= 6) assert.equal(heap[at.c + rows * 20], smallInteger(at.c + rows * 20));
    }
  }
});

Deno.test("the committed kernel is what its source assembles to", async () => {
  const file = new URL("../../../plugins/use_lite/engine/kernel.ts", import.meta.url);
  const squeeze = (text: string) => text.replaceAll(/\s+/g, "");
  assert.equal(squeeze(await Deno.readTextFile(file)), squeeze(await kernelModule()));
});

Deno.test("weights that are missing or cut short are an error", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const url = new URL(`file://${folder}/`).href;
    await assert.rejects(loadModel(url), Deno.errors.NotFound);
    const weights = [{ name: "w", shape: [2, 2], dtype: "float32" }];
    const manifest = { weightsManifest: [{ paths: ["part1"], weights }] };
    await Deno.writeTextFile(`${folder}/model.json`, JSON.stringify(manifest));
    await Deno.writeTextFile(`${folder}/vocab.json`, "[]");
    await Deno.writeFile(`${folder}/part1`, new Uint8Array(15));
    await assert.rejects(loadModel(url), /shorter/);
    await Deno.writeFile(`${folder}/part1`, new Uint8Array(16));
    await assert.rejects(loadModel(url), /lack/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const smallInteger = (index: number) => (index * 7) % 11 - 5;

function fillWithSmallIntegers({ heap }: Kernel): void {
  for (let i = 0; i < heap.length; i++) heap[i] = smallInteger(i);
}
