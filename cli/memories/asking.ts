import { type CliIo, CommandError, EXIT } from "../io.ts";

/** Longest answer that is read, in characters. */
const ANSWER_CHARACTERS = 1024;

/** Ctrl-C, which ends no program while typing is hidden. */
const INTERRUPT = "\u0003";
/** What ends a secret: the key Enter, Ctrl-C, Ctrl-D. */
// deno-lint-ignore no-control-regex -- keys of a terminal
const ENDS_SECRET = /\r\n?|[\n\u0003\u0004]/;

/** What was meant, where somebody typed backspaces, Ctrl-U, or keys without a character. */
function corrected(typed: string): string {
  let text: string[] = [];
  // deno-lint-ignore no-control-regex -- keys of a terminal
  for (const key of typed.replace(/\u001b(?:\[[\d;]*[A-Za-z~])?/g, "")) {
    if (key === "\u007f" || key === "\b") text.pop();
    else if (key === "\u0015") text = [];
    else if (key >= " ") text.push(key);
  }
  return text.join("");
}

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
    const [answer] = await this.#read(/\n/);
    return /^\s*y(es)?\s*$/i.test(answer);
  }

  /**
   * Asks on standard error for something that is not shown while it is typed.
   *
   * @throws {CommandError} when Ctrl-C is typed, or the terminal would show it.
   */
  async secret(question: string): Promise<string> {
    const { hideTyping } = this.#io;
    if (hideTyping === undefined) {
      throw new CommandError(EXIT.error, "This terminal would show what is typed.");
    }
    this.#io.writeError(`${question}: `);
    hideTyping(true);
    try {
      const [typed, end] = await this.#read(ENDS_SECRET);
      if (end === INTERRUPT) throw new CommandError(EXIT.error, "Given up.");
      return corrected(typed);
    } finally {
      hideTyping(false);
      this.#io.writeError("\n");
    }
  }

  /** What comes before the first end, and that end; nothing where the input ends. */
  async #read(ends: RegExp): Promise<[text: string, end: string]> {
    const reader = this.#io.stdin?.getReader();
    while (
      reader !== undefined && !ends.test(this.#typed) && this.#typed.length < ANSWER_CHARACTERS
    ) {
      const { done, value } = await reader.read();
      if (done) break;
      this.#typed += this.#decoder.decode(value, { stream: true });
    }
    reader?.releaseLock();
    const found = ends.exec(this.#typed);
    const end = found?.[0] ?? "";
    const text = this.#typed.slice(0, found?.index);
    this.#typed = found === null ? "" : this.#typed.slice(found.index + end.length);
    return [text, end];
  }
}
