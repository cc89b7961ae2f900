import type { ChatMessage, LanguageModel } from "../../src/interfaces/mod.ts";
import { Gate } from "./gate.ts";

/** A language model that answers with the caller's function: scripted conversations for tests. */
export function memoryLanguageModel(
  answer: (messages: readonly ChatMessage[]) => string | Promise<string>,
): LanguageModel {
  const gate = new Gate("llm_unavailable");
  return {
    model: "scripted",
    async chat(messages, options) {
      await gate.pass(options?.signal);
      const said = await answer(structuredClone(messages));
      options?.signal?.throwIfAborted();
      return said;
    },
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}
