import {
  definePlugin,
  type Field,
  headerSecret,
  httpUrl,
  type Plugin,
  type Secret,
  text,
} from "../../src/interfaces/plugin.ts";
import { EMBEDDER_FIELDS } from "../../src/interfaces/shared_fields.ts";
import { netEntry } from "../../src/wire/net_entry.ts";
import { LATER } from "../../src/later.ts";

/** Loaded later: the package is downloaded when a backend is opened. */
const backends = (): Promise<typeof import("./backends.ts")> => import(`./backends.ts${LATER}`);

/** Settings of the plugin. */
export type OpenAIFields = {
  /** API key. */
  readonly apiKey: Field<Secret | undefined>;
  /** Base of the routes. */
  readonly base: Field<string>;
  /** Embedding model. */
  readonly embeddingModel: Field<string | undefined>;
  /** Length of the vectors. */
  readonly embeddingDimensions: Field<number | undefined>;
  /** Model for chat. */
  readonly chatModel: Field<string>;
};

/** The plugin `openai` for the roles `embedder` and `languageModel`. */
const plugin: Plugin<OpenAIFields> = definePlugin({
  name: "openai",
  docs: "models.md",
  fields: {
    apiKey: headerSecret("SVC_OPENAI_API_KEY", "API key"),
    base: httpUrl(
      "SVC_OPENAI_API_BASE",
      "https://api.openai.com/v1",
      "Address of a compatible endpoint, also a local one",
    ),
    chatModel: text("SVC_CHAT_MODEL", "gpt-4o-mini", "Model for chat"),
    ...EMBEDDER_FIELDS,
  },
  permissions: (_role, { base }) => ({ net: [netEntry(base)] }),
  roles: {
    async embedder({ base, apiKey, embeddingModel, embeddingDimensions }, context) {
      const model = embeddingModel ?? "text-embedding-3-small";
      const { openaiEmbedder } = await backends();
      return openaiEmbedder({ base, apiKey, model, dimensions: embeddingDimensions, context });
    },
    async languageModel({ base, apiKey, chatModel }, context) {
      const { openaiLanguageModel } = await backends();
      return openaiLanguageModel({ base, apiKey, model: chatModel, context });
    },
  },
});

export default plugin;
