import type { CliIo } from "../io.ts";

/** Least time between two lines, in milliseconds. */
const EVERY_MS = 100;

/** One line on standard error that says how far something is; nothing where that is no terminal. */
export class Progress {
  readonly #io: CliIo;
  readonly #isShown: boolean;
  #isOpen = false;
  #next = 0;

  /** Nothing is written yet. */
  constructor(io: CliIo) {
    this.#io = io;
    this.#isShown = io.isErrorTerminal === true && io.env.TERM !== "dumb";
  }

  /** Replaces the line, unless the one before is still new. */
  show(text: string): void {
    if (!this.#isShown || Date.now() < this.#next) return;
    this.#next = Date.now() + EVERY_MS;
    this.#isOpen = true;
    this.#io.writeError(`\r${text}\u001b[K`);
  }

  /** Takes the line away, before something else is written. */
  clear(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#next = 0;
    this.#io.writeError("\r\u001b[K");
  }
}
