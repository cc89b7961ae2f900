import { SvcError } from "../errors.ts";
import type { ChatMessage, ChatOptions, LanguageModel } from "../interfaces/mod.ts";
import { abortable } from "../deadline.ts";
import type { FairTurns } from "./fair_turns.ts";

/**
 * Characters of mark-up, chat templates and tool calls, and invisible ones. Strings hold them as
 * escapes, so that no text can look like the end of its block or like another speaker, or hide.
 */
const ESCAPED = /[<>[\]{}|&`\u2028\u2029]|\p{Cc}|\p{Cf}|\p{Co}/gu;
const STRING = /"(?:[^"\\]|\\.)*"/g;

function escapeUnits(text: string): string {
  let escaped = "";
  for (let i = 0; i < text.length; i++) {
    escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}

/** JSON on one line whose strings hold none of the characters of {@linkcode ESCAPED}. */
function escapedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    STRING,
    (literal) => literal.replace(ESCAPED, escapeUnits),
  );
}

/**
 * Data for a language model: JSON between two tags with a random name, which whoever wrote the data
 * cannot have known.
 */
export function dataBlock(value: unknown): string {
  const name = `data-${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
  return `<${name}>\n${escapedJson(value)}\n</${name}>`;
}

/** What a chat needs besides its messages. */
interface ChatControl extends Omit<ChatOptions, "signal"> {
  readonly signal: AbortSignal;
}

/** The thoughts some models write before their answer; cut off, no answer follows. */
const THOUGHTS = /^\s*<think>[^]*?(?:<\/think>|$)/;

/**
 * One answer of the language model, trimmed, without its thoughts. It counts among the calls under
 * way until the model has ended it, also when nobody waits any more; owners take turns.
 *
 * @throws {SvcError} `llm_unavailable`, whatever the model failed with; `overloaded` when no call
 * ended in time to make room for this one.
 */
export async function chat(
  { chats }: { readonly chats: FairTurns },
  model: LanguageModel,
  messages: readonly ChatMessage[],
  control: ChatControl,
  owner: string,
): Promise<string> {
  const leave = await chats.enter(control.signal, owner);
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
