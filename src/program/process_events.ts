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

/** Calls back at the signals that end a program; dispose to stop. */
export function onStopSignal(stop: (signal: Deno.Signal) => void): Disposable {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM"];
  const listeners = signals.map((signal) => [signal, () => stop(signal)] as const);
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    },
  };
}
