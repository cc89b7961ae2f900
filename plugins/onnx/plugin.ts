import { definePlugin, type Field, type Plugin } from "../../src/interfaces/plugin.ts";
import {
  DEFAULT_ONNX_MODEL,
  EMBEDDER_FIELDS,
  MODEL_DIR_FIELD,
} from "../../src/interfaces/shared_fields.ts";
import { LATER } from "../../src/later.ts";

/** Both loaded later: 140 MB are fetched when this embedder is chosen. */
const opening = (): Promise<typeof import("./open.ts")> => import(`./open.ts${LATER}`);
const library = (): Promise<typeof import("./library.ts")> => import(`./library.ts${LATER}`);

/** Settings of the plugin. */
export type OnnxFields = {
  /** Name of the model. */
  readonly embeddingModel: Field<string | undefined>;
  /** Length of the vectors. */
  readonly embeddingDimensions: Field<number | undefined>;
  /** Folder of models. */
  readonly modelDir: Field<string | undefined>;
};

/** The plugin `onnx` for the role `embedder`. */
const plugin: Plugin<OnnxFields> = definePlugin({
  name: "onnx",
  docs: "models.md",
  fields: {
    embeddingModel: EMBEDDER_FIELDS.embeddingModel,
    embeddingDimensions: EMBEDDER_FIELDS.embeddingDimensions,
    modelDir: MODEL_DIR_FIELD,
  },
  async permissions(_role, { embeddingModel = DEFAULT_ONNX_MODEL, modelDir = "" }) {
    return {
      read: [...(await library()).pathsToRead(), `${modelDir}/${embeddingModel}`],
      ...(Deno.build.os === "linux" ? { sys: ["getPriority", "setPriority"] } : {}),
    };
  },
  roles: {
    async embedder(
      { embeddingModel: model = DEFAULT_ONNX_MODEL, embeddingDimensions, modelDir = "" },
    ) {
      const { onnxEmbedder } = await opening();
      return await onnxEmbedder({ model, modelDir, dimensions: embeddingDimensions });
    },
  },
});

export default plugin;
