import { onnxEmbedder } from "../../../plugins/onnx/mod.ts";
import type { Embedder } from "../../../src/interfaces/embedder.ts";
import { conform, embedderSuite } from "../../../testing/mod.ts";
import { ModelFolder, SMALL } from "./model_folder.ts";

/** What real models have, in few combinations: each opens a thread for each law. */
const SHAPES: readonly (readonly [string, Parameters<typeof ModelFolder.make>, number?])[] = [
  ["as e5: the mean, several texts at once", [{}, {}]],
  ["as BERT: the first token, each text by itself", [
    { pooling: "cls", alone: true, document: "" },
    { tokenizer: "wordpiece", tokenTypes: true },
  ]],
  ["as Gemma: a vector of the model's making, cut, weights in two files", [
    { pooling: "none", output: "sentence_embedding", shorter: [16], alone: true },
    { tokenizer: "bpe", sentence: true, beside: "model.onnx_data" },
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
