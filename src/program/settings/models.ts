import { headerSecret, httpUrl, optionalText, text } from "../../interfaces/fields.ts";

/** Settings of the plugins `ollama` and `openai`, which read them again when they are chosen. */
export const MODELS = {
  openaiApiKey: headerSecret("SVC_OPENAI_API_KEY", "`openai`: API key"),
  openaiApiBase: httpUrl(
    "SVC_OPENAI_API_BASE",
    "https://api.openai.com/v1",
    "`openai`: address of a compatible endpoint, also a local one",
  ),
  chatModel: text("SVC_CHAT_MODEL", "gpt-4o-mini", "`openai`: model for chat"),
  ollamaUrl: httpUrl("SVC_OLLAMA_URL", "http://127.0.0.1:11434", "`ollama`: its address"),
  ollamaEmbeddingModel: optionalText("SVC_OLLAMA_EMBEDDING_MODEL", "`ollama`: embedding model"),
  ollamaChatModel: optionalText("SVC_OLLAMA_CHAT_MODEL", "`ollama`: model for chat"),
};
