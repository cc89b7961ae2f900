import { SvcError } from "../../../src/errors.ts";
import type { KeyWork, Request, Response, SentError } from "./calls.ts";
import { ThresholdKeys } from "./keys/threshold_keys.ts";

/** What is used of a worker's global scope. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Response): void;
}

// A worker's own global scope is not among the types of this program.
const scope = globalThis as unknown as WorkerScope;
/** What this thread was opened for. */
let work: KeyWork | undefined;

// The SDK prints what servers answer; the program logs by itself and in its own form.
globalThis.console.warn = () => {};

scope.onmessage = ({ data }) => {
  if (data.type === "open") {
    const note = (message: string) => scope.postMessage({ type: "note", message });
    work = new ThresholdKeys(data.options, { note });
  } else void answer(data);
};

async function answer(request: Request & { type: "call" }): Promise<void> {
  const { id } = request;
  try {
    scope.postMessage({ type: "done", id, value: await run(request) });
  } catch (thrown) {
    scope.postMessage({ type: "failed", id, error: sent(SvcError.from(thrown)) });
  }
}

function run(request: Request & { type: "call" }): Promise<unknown> {
  if (work === undefined) throw new SvcError("internal_error");
  switch (request.call) {
    case "account":
      return work.account(request.input);
    case "prove":
      return work.prove(request.input);
    case "wrap":
      return work.wrap(request.input);
    case "unwrap":
      return work.unwrap(request.input);
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
