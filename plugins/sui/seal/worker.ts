import { SvcError } from "../../../src/errors.ts";
import type { WorkerScope } from "../../../src/threads.ts";
import type { Answer, KeyWork, Open, Request, SentError } from "./calls.ts";
import { ThresholdKeys } from "./keys/threshold_keys.ts";

const scope = globalThis as unknown as WorkerScope<Open | Request, Answer>;
let work: KeyWork | undefined;

// The SDK prints what servers answer; the program logs by itself and in its own form.
globalThis.console.warn = () => {};

scope.onmessage = ({ data }) => {
  if ("options" in data) {
    const note = (message: string) => scope.postMessage({ id: 0, note: message });
    work = new ThresholdKeys(data.options, note);
  } else void answer(data);
};

async function answer({ id, call, input }: Request): Promise<void> {
  try {
    if (work === undefined) throw new SvcError("internal_error");
    const run = work[call] as (input: unknown) => Promise<unknown>;
    scope.postMessage({ id, value: await run.call(work, input) });
  } catch (thrown) {
    scope.postMessage({ id, error: sent(SvcError.from(thrown)) });
  }
}

function sent({ code, message, retryable, retryAfter, cause }: SvcError): SentError {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : cause;
  return {
    code,
    message,
    retryable,
    retryAfter,
    cause: text === undefined ? undefined : String(text).slice(0, 300),
  };
}
