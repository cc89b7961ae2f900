import { memoryLanguageModel } from "../../plugins/memory/mod.ts";
import { conform, languageModelSuite } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

const make = () => memoryLanguageModel((messages) => messages.at(-1)?.content ?? "");

conform(languageModelSuite, "memory", make);

mutants(languageModelSuite, make, [
  {
    name: "answers nothing at all",
    fails: ["answers a conversation with text", "takes every option"],
    change: () => ({ chat: () => Promise.resolve(undefined as unknown as string) }),
  },
  {
    name: "adds its answer to the caller's messages",
    fails: ["leaves the caller's messages as they are"],
    change: (model) => ({
      async chat(messages, options) {
        const content = await model.chat(messages, options);
        (messages as unknown[]).push({ role: "assistant", content });
        return content;
      },
    }),
  },
  {
    name: "ignores the signal",
    fails: ["rejects with the reason of an aborted signal"],
    change: (model) => ({ chat: (messages) => model.chat(messages) }),
  },
]);
