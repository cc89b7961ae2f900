import { SvcError } from "../../src/errors.ts";
import {
  definePlugin,
  type Field,
  httpUrl,
  optionalText,
  type Plugin,
} from "../../src/interfaces/plugin.ts";
import { EMBEDDER_FIELDS } from "../../src/interfaces/shared_fields.ts";
import { netEntry } from "../../src/wire/net_entry.ts";
import { LATER } from "../../src/later.ts";

/** Loaded later: the package is downloaded when a backend is opened. */
const backends = (): Promise<typeof import("./backends.ts")> => import(`./backends.ts${LATER}`);

function required(model: string | undefined, variables: string): string {
  if (model !== undefined) return model;
  throw new SvcError("invalid_parameter", `ollama needs the name of a model: set ${variables}`);
}

/** Settings of the plugin. */
export type OllamaFields = {
  /** Address of the server. */
  readonly url: Field<string>;
  /** Embedding model. */
  readonly embeddingModel: Field<string | undefined>;
  /** Embedding model where the one above is not set. */
  readonly anyEmbeddingModel: Field<string | undefined>;
  /** Length of the vectors. */
  readonly embeddingDimensions: Field<number | undefined>;
  /** Model for chat. */
  readonly chatModel: Field<string | undefined>;
};

/** The plugin `ollama` for the roles `embedder` and `languageModel`. */
const plugin: Plugin<OllamaFields> = definePlugin({
  name: "ollama",
  docs: "models.md",
  fields: {
    url: httpUrl("SVC_OLLAMA_URL", "http://127.0.0.1:11434", "Address of the server"),
    embeddingModel: {
      ...optionalText("SVC_OLLAMA_EMBEDDING_MODEL", "Embedding model"),
      fallbackText: "SVC_EMBEDDING_MODEL",
    },
    chatModel: optionalText("SVC_OLLAMA_CHAT_MODEL", "Model for chat"),
    anyEmbeddingModel: EMBEDDER_FIELDS.embeddingModel,
    embeddingDimensions: EMBEDDER_FIELDS.embeddingDimensions,
  },
  permissions: (_role, { url }) => ({ net: [netEntry(url)] }),
  roles: {
    async embedder({ url, embeddingModel, anyEmbeddingModel, embeddingDimensions }, context) {
      const model = required(
        embeddingModel ?? anyEmbeddingModel,
        "SVC_OLLAMA_EMBEDDING_MODEL or SVC_EMBEDDING_MODEL",
      );
      const { ollamaEmbedder } = await backends();
      return ollamaEmbedder({ url, model, dimensions: embeddingDimensions, context });
    },
    async languageModel({ url, chatModel }, context) {
      const model = required(chatModel, "SVC_OLLAMA_CHAT_MODEL");
      return (await backends()).ollamaLanguageModel({ url, model, context });
    },
  },
});

export default plugin;
