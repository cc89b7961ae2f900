import type { CliIo } from "../io.ts";

/** Longest answer that is read, in characters. */
const ANSWER_CHARACTERS = 1024;

/** Whether somebody is there to answer a question. */
export function isAsked({ isTerminal, isInputTerminal = isTerminal ?? false }: CliIo): boolean {
  return isTerminal === true && isInputTerminal;
}

/** Questions to whoever sits at the terminal; what is typed ahead answers the next one. */
export class Questions {
  readonly #io: CliIo;
  readonly #decoder = new TextDecoder();
  #typed = "";

  /** Nothing is read yet. */
  constructor(io: CliIo) {
    this.#io = io;
  }

  /** Asks on standard error and reads one line; the end of the input is a no. */
  async isYes(question: string): Promise<boolean> {
    this.#io.writeError(`${question} [y/N] `);
    const reader = this.#io.stdin?.getReader();
    while (
      reader !== undefined && !this.#typed.includes("\n") &&
      this.#typed.length < ANSWER_CHARACTERS
    ) {
      const { done, value } = await reader.read();
      if (done) break;
      this.#typed += this.#decoder.decode(value, { stream: true });
    }
    reader?.releaseLock();
    const end = this.#typed.indexOf("\n");
    const answer = end < 0 ? this.#typed : this.#typed.slice(0, end);
    this.#typed = end < 0 ? "" : this.#typed.slice(end + 1);
    return /^\s*y(es)?\s*$/i.test(answer);
  }
}
