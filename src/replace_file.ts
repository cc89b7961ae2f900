import { rename as renameNow } from "node:fs/promises";
import { platform } from "node:process";

/** What a file that another process has open answers on Windows, for a moment. */
const HELD = ["EACCES", "EBUSY", "EPERM"];
/** Tries of a rename; the pauses between them make some two seconds. */
const RENAME_TRIES = 9;

/** What a rename is made with, for tests. */
export interface RenameOptions {
  readonly rename?: (from: string, to: string) => Promise<void>;
  readonly isWindows?: boolean;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * Renames a file or folder, over a file that is there. On Windows that fails while a program has one
 * of them open, as virus scanners and indexers do for a moment: it is tried again.
 */
export async function replaceFile(
  from: string,
  to: string,
  options: RenameOptions = {},
): Promise<void> {
  const { rename = renameNow, isWindows = platform === "win32" } = options;
  const { pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)) } = options;
  for (let tries = 1;; tries++) {
    try {
      return await rename(from, to);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (!isWindows || tries === RENAME_TRIES || !HELD.includes(code)) throw error;
      await pause(2 ** tries * 4);
    }
  }
}
