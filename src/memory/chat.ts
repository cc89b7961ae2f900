import { SvcError } from "../errors.ts";
import type { ChatMessage, ChatOptions, LanguageModel } from "../interfaces/mod.ts";
import { abortable } from "../deadline.ts";
import type { BoundedCalls } from "./bounded_calls.ts";

/** What a chat needs besides its messages. */
interface ChatControl extends Omit<ChatOptions, "signal"> {
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** What some models think before they answer; nothing follows where it was cut off. */
const THOUGHTS = /^\s*<think>[^]*?(?:<\/think>|$)/;

/**
 * One answer of the language model, trimmed, without its thoughts. It counts among the calls under
 * way until the model has ended it, also when nobody waits any more.
 *
 * @throws {SvcError} `llm_unavailable`, whatever the model failed with; `overloaded` when no call
 * ended in time to make room for this one.
 */
export async function chat(
  { chats }: { readonly chats: BoundedCalls },
  model: LanguageModel,
  messages: readonly ChatMessage[],
  control: ChatControl,
): Promise<string> {
  const leave = await chats.enter(control.signal);
  const call = (async () => await model.chat(messages, control))();
  call.then(leave, leave);
  try {
    const said: unknown = await abortable(call, control.signal);
    return typeof said === "string" ? said.replace(THOUGHTS, "").trim() : "";
  } catch (cause) {
    if (cause instanceof SvcError && cause.code === "llm_unavailable") throw cause;
    throw new SvcError("llm_unavailable", undefined, { cause });
  }
}
