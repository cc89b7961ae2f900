import assert from "node:assert/strict";
import { LANGUAGES, languageStore, ranksOf } from "../../../eval/languages.ts";
import { print } from "../../../eval/print.ts";
import { quality } from "../../../cli/memories/eval/ranks.ts";
import { onnxEmbedder } from "../../../plugins/onnx/mod.ts";
import { modelNames } from "../../../plugins/onnx/models/folder.ts";
import { knownModel } from "../../../plugins/onnx/models/known.ts";
import { conform, embedderSuite } from "../../../testing/mod.ts";
import { live } from "../models/live.ts";

/** Least share of questions whose answer is among the first five, hybrid, of 100. */
const LEAST = 65;

const names = async (modelDir: string) =>
  (await modelNames(modelDir)).filter((name) => knownModel(name) !== undefined);

const dir = Deno.env.get("SVC_LIVE_MODEL_DIR") ?? "";
const found = dir === "" ? [] : await names(dir);

live("SVC_LIVE_MODEL_DIR", (modelDir) => {
  Deno.test("there is a model of the table in the folder", () => assert.ok(found.length > 0));
  for (const model of found) {
    conform(embedderSuite, model, () => onnxEmbedder({ model, modelDir }));
    if (knownModel(model)?.languages !== undefined) continue;
    Deno.test(`${model} finds in nine languages`, async (test) => {
      await using embedder = await onnxEmbedder({ model, modelDir });
      for (const language of LANGUAGES) {
        await test.step(language, async () => {
          const ranks = await ranksOf(embedder, await languageStore(language, false), () => {});
          const { hit1, hit5 } = quality(ranks.hybrid);
          const meaning = quality(ranks.meaning);
          const figures = `hybrid ${hit1} / ${hit5}, meaning ${meaning.hit1} / ${meaning.hit5}`;
          print(`${model} ${language}: ${figures}`);
          assert.ok(hit5 >= LEAST, figures);
        });
      }
    });
  }
});
