import type { SvcClientOptions } from "../src/client/mod.ts";
import { suggest } from "../src/suggestion.ts";

/**
 * The world outside of a command: nothing else is read or written, but the credentials file and the
 * configuration that `install` is about.
 */
export interface CliIo extends Pick<SvcClientOptions, "fetch" | "sleep"> {
  /** The environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `-` and answers to questions are read from. */
  readonly stdin?: ReadableStream<Uint8Array>;
  /** Writes to standard output. */
  write(text: string): void;
  /** Whether standard output is a terminal that somebody looks at; default: it is none. */
  readonly isTerminal?: boolean;
  /** How many columns it has; absent where that is not known, and lines are never cut. */
  readonly columns?: number | undefined;
  /** Writes to standard error. */
  writeError(text: string): void;
  /** Whether standard error is a terminal, so that progress is shown; default: it is none. */
  readonly isErrorTerminal?: boolean;
  /** Whether standard input is a terminal, so that questions are asked; default: as the output. */
  readonly isInputTerminal?: boolean;
  /** Keeps the terminal from showing what is typed, or has it shown again; default: it cannot. */
  readonly hideTyping?: (isHidden: boolean) => void;
  /** Opens an address in a browser, if there is one; default: the user's. */
  readonly openBrowser?: (url: string) => boolean;
  /** Commands of the program besides those of this package, and words that may follow each. */
  readonly furtherCommands?: Readonly<Record<string, readonly string[]>>;
  /** What the user calls the program, in help and hints; default: `svc-mcp`. */
  readonly program?: string;
}

/** What the user calls the program. */
export function programOf({ program = "svc-mcp" }: Pick<CliIo, "program">): string {
  return program;
}

/** Exit codes (docs/protocol.md#13.4). */
export const EXIT = {
  /** It worked. */
  success: 0,
  /** It did not. */
  error: 1,
  /** The command line is not valid. */
  usage: 2,
  /** There are no credentials, or the relayer rejected them. */
  notSignedIn: 3,
  /** The relayer cannot be reached. */
  unreachable: 4,
} as const;

/** One of {@linkcode EXIT}. */
export type ExitCode = typeof EXIT[keyof typeof EXIT];

/** Ends a command with a message and an exit code. */
export class CommandError extends Error {
  /** What the process ends with. */
  readonly exitCode: ExitCode;

  /** Constructs the error; the message is for people. */
  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** ` Did you mean "…"?` for the closest word, or nothing when none is close. */
export function suggestion(word: string, words: readonly string[]): string {
  const meant = word.length > 64 ? undefined : suggest(word, words);
  return meant === undefined ? "" : ` Did you mean "${meant}"?`;
}
