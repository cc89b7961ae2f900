import { SvcError } from "../errors.ts";
import type { ChatMessage, ChatOptions, LanguageModel } from "../interfaces/mod.ts";

/** What a chat needs besides its messages. */
export interface ChatControl extends Omit<ChatOptions, "signal"> {
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Rejects when the signal ends; a model need not look at it. */
function ended(signal: AbortSignal): { readonly promise: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return { promise, stop: () => signal.removeEventListener("abort", end) };
}

/**
 * One answer of the language model, trimmed.
 *
 * @throws {SvcError} `llm_unavailable`, whatever the model failed with.
 */
export async function chat(
  model: LanguageModel,
  messages: readonly ChatMessage[],
  control: ChatControl,
): Promise<string> {
  const end = ended(control.signal);
  try {
    // The signal may end before the call: nobody waits for this promise then.
    end.promise.catch(() => {});
    const said: unknown = await Promise.race([model.chat(messages, control), end.promise]);
    return typeof said === "string" ? said.trim() : "";
  } catch (cause) {
    if (cause instanceof SvcError && cause.code === "llm_unavailable") throw cause;
    throw new SvcError("llm_unavailable", undefined, { cause });
  } finally {
    end.stop();
  }
}

/** Runs work that ends after `ms` milliseconds or with the caller. */
export async function withinTime<T>(
  ms: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error("The model took too long")), ms);
  const signals = caller === undefined ? [timeout.signal] : [timeout.signal, caller];
  try {
    return await work(AbortSignal.any(signals));
  } finally {
    clearTimeout(timer);
  }
}
