import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  fileNameOf,
  fromMarkdown,
  type MarkdownMemory,
  toMarkdown,
} from "../../src/importers/mod.ts";
import { SvcAnswerError } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { replaceFile } from "../../src/replace_file.ts";
import { CommandError, EXIT } from "../io.ts";
import { systemReason } from "./output_file.ts";

function refused(path: string, error: unknown): CommandError {
  return new CommandError(
    EXIT.error,
    `${onOneLine(path)} cannot be written (${systemReason(error)}).`,
  );
}

/** A line of an export as a memory. @throws {SvcAnswerError} when it is none. */
function memoryOf(line: Readonly<Record<string, unknown>>): MarkdownMemory {
  const { memory_id, namespace, text, version = 1, importance = 0 } = line;
  const isMemory = typeof version === "number" && typeof importance === "number" &&
    typeof memory_id === "string" && /^[\w-]{1,128}$/.test(memory_id) &&
    typeof namespace === "string" && typeof text === "string";
  if (!isMemory) throw new SvcAnswerError("A line of the export is no memory", 200);
  return { ...line, memory_id, namespace, text };
}

/** Id of the memory in a file; `undefined` where there is none. */
async function idIn(path: string): Promise<string | undefined> {
  try {
    return fromMarkdown(await readFile(path, "utf8"))?.memory_id;
  } catch {
    return undefined;
  }
}

/** A folder with a Markdown file for each memory, which only its user may read. */
export class MarkdownFolder {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Makes the folder unless it is there; one that is there keeps its permissions.
   *
   * @throws {CommandError} when it cannot be made, or is something else.
   */
  static async open(path: string): Promise<MarkdownFolder> {
    try {
      const made = await mkdir(path, { recursive: true, mode: 0o700 });
      if (made === undefined && !(await stat(path)).isDirectory()) {
        throw Object.assign(new Error("No folder"), { code: "ENOTDIR" });
      }
      // The system may take more away from the mode, and nothing else adds to it.
      if (made !== undefined) await chmod(path, 0o700).catch(() => undefined);
    } catch (error) {
      throw refused(path, error);
    }
    return new MarkdownFolder(path);
  }

  /**
   * Writes a memory as a whole or not at all; one of an earlier export is replaced.
   *
   * @param line A line of an export.
   * @throws {CommandError} when the disk refuses.
   */
  async write(line: Readonly<Record<string, unknown>>): Promise<void> {
    const memory = memoryOf(line);
    const path = await this.#place(memory);
    const part = `${path}.part`;
    try {
      await rm(part, { force: true });
      // An exclusive creation follows no link.
      await writeFile(part, toMarkdown(memory), { flag: "wx", mode: 0o600 });
      await replaceFile(part, path);
    } catch (error) {
      throw refused(path, error);
    }
  }

  /** Two memories whose ids end in the same way have two files. */
  async #place(memory: MarkdownMemory): Promise<string> {
    const name = fileNameOf(memory);
    const path = join(this.#path, name);
    const id = await idIn(path);
    if (id === undefined || id === memory.memory_id) return path;
    return join(this.#path, name.replace(/[^-]*\.md$/, `${memory.memory_id}.md`));
  }
}
