import type { Env } from "../../interfaces/fields.ts";

export interface CommandIo {
  readonly env: Env;
  /** What relative paths are relative to. */
  readonly cwd: string;
  write(text: string): void;
  writeError(text: string): void;
}
