import { onnxEmbedder } from "../../../plugins/onnx/mod.ts";
import type { Embedder } from "../../../src/interfaces/embedder.ts";
import { conform, embedderSuite } from "../../../testing/mod.ts";
import { ModelFolder, SMALL } from "./model_folder.ts";

/** What real models have, in few combinations: each opens a thread for each law. */
const SHAPES: readonly (readonly [string, Parameters<typeof ModelFolder.make>, number?])[] = [
  ["the mean of several texts at once", [{}, {}]],
  ["the first token, each text by itself, with types of tokens", [
    { pooling: "cls", alone: true, document: "" },
    { tokenTypes: true },
  ]],
  ["weights in a file of their own, a vector of the model's making, cut", [
    { pooling: "none", output: "sentence_embedding", shorter: [16], alone: true },
    { sentence: true, beside: "model.onnx_data" },
  ], 16],
];

for (const [name, made, dimensions] of SHAPES) {
  conform(embedderSuite, `onnx, ${name}`, async () => {
    const folder = await ModelFolder.make(...made);
    const { modelDir } = folder;
    const embedder = await onnxEmbedder({ model: SMALL, modelDir, dimensions });
    const dispose = embedder[Symbol.asyncDispose].bind(embedder);
    return Object.assign<Embedder, AsyncDisposable>(embedder, {
      async [Symbol.asyncDispose]() {
        await dispose();
        await folder[Symbol.asyncDispose]();
      },
    });
  });
}
