import { SvcError } from "../../../src/errors.ts";
import type {
  BackendHealth,
  ChatMessage,
  ChatOptions,
  LanguageModel,
} from "../../../src/interfaces/mod.ts";
import type { GuardedCalls, GuardOptions } from "./guarded_calls.ts";
import { UpstreamFailure } from "../upstream_failure.ts";

/** Bounds of calls for chat where a plugin sets none: local models think for minutes. */
export const CHAT_BOUNDS: GuardOptions = { timeoutMs: 120_000, maxBytes: 1024 * 1024 };

/** Longest wait at the start for a server that is asked about its model, in milliseconds. */
export const START_MS = 10_000;

/** One call of a server: the assistant's text as the server gave it, whatever it is. */
export type Chat = (
  messages: readonly ChatMessage[],
  options: ChatOptions,
  fetch: typeof globalThis.fetch,
) => Promise<unknown>;

/** Chat through a server, with checked answers. */
export class RemoteLanguageModel implements LanguageModel {
  readonly model: string;
  readonly #chat: Chat;
  readonly #calls: GuardedCalls;

  /** `calls` belong to the language model from here on. */
  constructor(chat: Chat, calls: GuardedCalls, model: string) {
    this.#chat = chat;
    this.#calls = calls;
    this.model = model;
  }

  health(): BackendHealth {
    return this.#calls.health;
  }

  /**
   * The assistant's next message; empty when the model says nothing.
   * @throws {SvcError} `llm_unavailable`.
   */
  async chat(messages: readonly ChatMessage[], options: ChatOptions = {}): Promise<string> {
    const copies = messages.map(({ role, content }) => ({ role, content }));
    return await this.#calls.run(async (fetch) => {
      const text = await this.#chat(copies, options, fetch);
      if (text === null || text === undefined) return "";
      if (typeof text !== "string") throw new UpstreamFailure("The model server gave no text");
      return text;
    }, { signal: options.signal });
  }

  /** Ends the calls under way. */
  [Symbol.asyncDispose](): Promise<void> {
    const text = "The language model is closed";
    this.#calls.close(new SvcError("llm_unavailable", text, { retryable: false }));
    return Promise.resolve();
  }
}
