import type { Env } from "../../interfaces/fields.ts";

/** The world outside of a command. */
export interface CommandIo {
  /** The environment. */
  readonly env: Env;
  /** What relative paths are relative to. */
  readonly cwd: string;
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes to standard error. */
  writeError(text: string): void;
}
