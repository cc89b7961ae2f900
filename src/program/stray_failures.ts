import { errorFields, type Logger } from "../log.ts";

/**
 * Notes failures that nobody waits for, which would end the process. Libraries leave such behind:
 * of several reads at once that fail together, one is waited for. What is under way goes on; what
 * was accepted is on disk either way.
 */
export function noteStrayFailures(logger: Logger): Disposable {
  const note = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    logger.error("stray failure", { ...errorFields(event.reason) });
  };
  globalThis.addEventListener("unhandledrejection", note);
  return { [Symbol.dispose]: () => globalThis.removeEventListener("unhandledrejection", note) };
}
