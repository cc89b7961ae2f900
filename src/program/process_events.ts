import { errorFields, type Logger } from "../log.ts";

/** Whether an error was thrown and left uncaught by the platform alone, with nothing of ours running. */
function isPlatforms(thrown: unknown): boolean {
  const frames = thrown instanceof Error ? thrown.stack?.match(/^ +at .*$/gm) ?? [] : [];
  return frames.length > 0 && frames.every((frame) => /[ (]ext:/.test(frame));
}

/**
 * Logs rejections that nobody handles, which would end the process. Libraries leave some behind: of
 * several reads that fail together, only one is awaited. What was accepted is on disk either way. So
 * are errors that the platform throws at itself, as sockets of Node did at what strangers sent.
 */
export function noteStrayFailures(logger: Logger): Disposable {
  const note = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    logger.error("stray failure", { ...errorFields(event.reason) });
  };
  const noteThrown = (event: ErrorEvent) => {
    if (!isPlatforms(event.error)) return;
    event.preventDefault();
    logger.error("stray failure", { ...errorFields(event.error) });
  };
  globalThis.addEventListener("unhandledrejection", note);
  globalThis.addEventListener("error", noteThrown);
  return {
    [Symbol.dispose]() {
      globalThis.removeEventListener("unhandledrejection", note);
      globalThis.removeEventListener("error", noteThrown);
    },
  };
}

/** The signals that end a program: Windows has no SIGTERM, and nobody may listen to it there. */
export function stopSignals(os: string = Deno.build.os): readonly Deno.Signal[] {
  return os === "windows" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM"];
}

/** Calls back at the signals that end a program; dispose to stop. */
export function onStopSignal(stop: (signal: Deno.Signal) => void): Disposable {
  const listeners = stopSignals().map((signal) => [signal, () => stop(signal)] as const);
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    },
  };
}
