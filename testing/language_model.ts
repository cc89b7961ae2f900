import { deepStrictEqual, ok } from "node:assert/strict";
import type { ChatMessage, LanguageModel } from "../src/interfaces/mod.ts";
import { abortLaw, law } from "./law.ts";
import type { Suite } from "./suite.ts";

const MESSAGES: readonly ChatMessage[] = [
  { role: "system", content: "You answer with one word." },
  { role: "user", content: "Which colour has the sky?" },
  { role: "assistant", content: "Blue." },
  { role: "user", content: "And the grass?" },
];

/** What every {@linkcode LanguageModel} promises; what it says is not judged. */
export const languageModelSuite: Suite<LanguageModel> = {
  name: "LanguageModel",
  cases: [
    law("has a name", (model) => {
      ok(model.model.length > 0);
      return Promise.resolve();
    }),
    law("answers a conversation with text", async (model) => {
      deepStrictEqual(typeof await model.chat(MESSAGES), "string");
    }),
    law("takes every option", async (model) => {
      const options = { temperature: 0, maxTokens: 16, signal: new AbortController().signal };
      deepStrictEqual(typeof await model.chat(MESSAGES, options), "string");
      const schema = { type: "object", properties: { colour: { type: "string" } } };
      for (const shape of [{ json: true }, { json: true, schema }]) {
        deepStrictEqual(typeof await model.chat(MESSAGES, { ...options, ...shape }), "string");
      }
    }),
    law("leaves the caller's messages as they are", async (model) => {
      const messages = MESSAGES.map((message) => ({ ...message }));
      await model.chat(messages);
      deepStrictEqual(messages, MESSAGES);
    }),
    law("answers several conversations at once", async (model) => {
      const answers = await Promise.all([1, 2, 3].map(() => model.chat(MESSAGES)));
      deepStrictEqual(answers.map((answer) => typeof answer), ["string", "string", "string"]);
    }),
    abortLaw<LanguageModel>((model, signal) => ({
      chat: () => model.chat(MESSAGES, { signal }),
    })),
  ],
};
