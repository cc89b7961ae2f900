import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  fileNameOf,
  fromMarkdown,
  type MarkdownMemory,
  toMarkdown,
} from "../../../src/importers/mod.ts";
import { SvcAnswerError } from "../../../src/client/mod.ts";
import { onOneLine } from "../../../src/printable.ts";
import { replaceFile } from "../../../src/replace_file.ts";
import { CommandError, EXIT } from "../../io.ts";
import { systemReason } from "../output_file.ts";
import { WrittenFiles } from "./written_files.ts";

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
  const content = await readFile(path, "utf8").catch(() => "");
  return memoryIn(content)?.memory_id;
}

/** Names that the file of a memory may have: the second where another memory has the first. */
function namesOf(memory: MarkdownMemory): readonly [string, string] {
  const name = fileNameOf(memory);
  return [name, name.replace(/[^-]*\.md$/, `${memory.memory_id}.md`)];
}

function memoryIn(content: string): MarkdownMemory | undefined {
  try {
    return fromMarkdown(content);
  } catch {
    return undefined;
  }
}

/** Which memories an export into a folder is about. */
interface Exported {
  /** Only this namespace; every one when absent. */
  readonly namespace: string | undefined;
  /** Ids of memories that are there, and that the export does not have. */
  readonly unopened: ReadonlySet<string>;
}

/** Whether a whole export would have written a memory's file again under its name. */
function isOver(memory: MarkdownMemory, { namespace, unopened }: Exported): boolean {
  return !unopened.has(memory.memory_id) &&
    (namespace === undefined || memory.namespace === namespace);
}

/** What became of files of earlier exports whose memories have other files now, or are gone. */
interface LeftOver {
  readonly removed: number;
  /** How many stay because somebody changed them. */
  readonly changed: number;
}

/** A folder with a Markdown file for each memory, which only its user may read. */
export class MarkdownFolder {
  readonly #path: string;
  readonly #written: WrittenFiles;

  private constructor(path: string, written: WrittenFiles) {
    this.#path = path;
    this.#written = written;
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
    return new MarkdownFolder(path, await WrittenFiles.read(path));
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
    const content = toMarkdown(memory);
    try {
      await rm(part, { force: true });
      // An exclusive creation follows no link.
      await writeFile(part, content, { flag: "wx", mode: 0o600 });
      await replaceFile(part, path);
    } catch (error) {
      throw refused(path, error);
    }
    this.#written.note(basename(path), content);
  }

  /**
   * Everything came: removes what earlier exports wrote and nobody changed, where the memory is gone
   * or has a file of another name.
   *
   * @throws {CommandError} when the disk refuses.
   */
  async finish(exported: Exported): Promise<LeftOver> {
    let [removed, changed] = [0, 0];
    for (const name of this.#written.leftOver) {
      const file = await this.#written.find(name);
      if (file === undefined) this.#written.drop(name);
      const memory = memoryIn(file?.content ?? "");
      if (file === undefined || memory === undefined || !isOver(memory, exported)) continue;
      if (file.isChanged) changed++;
      else if (namesOf(memory).includes(name)) {
        const path = join(this.#path, name);
        await rm(path).catch((error) => {
          throw refused(path, error);
        });
        this.#written.drop(name);
        removed++;
      }
    }
    await this.#written.save();
    return { removed, changed };
  }

  /** It broke off: what is there stays, and is known to the next export. */
  async leave(): Promise<void> {
    await this.#written.save();
  }

  /** Two memories whose ids end in the same way have two files. */
  async #place(memory: MarkdownMemory): Promise<string> {
    const [first, second] = namesOf(memory).map((name) => join(this.#path, name));
    const id = await idIn(first!);
    return id === undefined || id === memory.memory_id ? first! : second!;
  }
}
