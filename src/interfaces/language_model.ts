import type { BackendHealth, CallOptions } from "./common.ts";

/** One message of a conversation. */
export interface ChatMessage {
  /** Who speaks. */
  readonly role: "system" | "user" | "assistant";
  /** What is said. */
  readonly content: string;
}

/** Options of {@linkcode LanguageModel.chat}. */
export interface ChatOptions extends CallOptions {
  /** 0 (most likely words) to 2. */
  readonly temperature?: number;
  /** Longest answer in tokens. */
  readonly maxTokens?: number;
  /** Asks for a JSON object. */
  readonly json?: boolean;
  /**
   * JSON schema of the object asked for; set together with `json`. A model that cannot be bound to
   * it may ignore it: callers check what they get.
   */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** Chat for analyze and ask. */
export interface LanguageModel extends AsyncDisposable {
  /** Name of the model. */
  readonly model: string;
  /** The assistant's next message; empty when the model says nothing. */
  chat(messages: readonly ChatMessage[], options?: ChatOptions): Promise<string>;
  /** What the last calls say about its server; absent where there is none. */
  health?(): BackendHealth;
}
