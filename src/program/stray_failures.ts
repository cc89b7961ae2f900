import { errorFields, type Logger } from "../log.ts";

/**
 * Logs rejections that nobody handles, which would end the process. Libraries leave some behind: of
 * several reads that fail together, only one is awaited. What was accepted is on disk either way.
 */
export function noteStrayFailures(logger: Logger): Disposable {
  const note = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    logger.error("stray failure", { ...errorFields(event.reason) });
  };
  globalThis.addEventListener("unhandledrejection", note);
  return { [Symbol.dispose]: () => globalThis.removeEventListener("unhandledrejection", note) };
}
