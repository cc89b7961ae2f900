import type { CommandIo } from "./io.ts";

const WIDTH = 24;

/** A bar that grows while work goes on. */
export interface ProgressBar extends Disposable {
  /** Shows how much is done, 0 to 1. */
  readonly show: (done: number) => void;
}

/** A bar on standard error where that is a terminal; elsewhere nothing is written. */
export function progressBar(
  io: Pick<CommandIo, "writeError" | "isErrorTerminal">,
  title: string,
): ProgressBar {
  if (!io.isErrorTerminal) return { show() {}, [Symbol.dispose]() {} };
  return {
    show(done) {
      const full = Math.round(WIDTH * Math.min(1, done));
      const bar = "█".repeat(full) + "░".repeat(WIDTH - full);
      io.writeError(`\r${title} ${bar} ${String(Math.round(100 * done)).padStart(3)} %`);
    },
    [Symbol.dispose]: () => io.writeError("\r\x1b[K"),
  };
}
