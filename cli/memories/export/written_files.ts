import { createHash } from "node:crypto";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { OutputFile } from "../output_file.ts";

/** A hidden name, so that an import of the folder passes it over. */
const LIST_NAME = ".svc-export.sha256";
/** A line as sha256sum writes it; other names than those of memories are nobody's of ours. */
const LINE = /^([0-9a-f]{64}) {2}([\p{L}\p{N}\p{M}-]+\.md)$/u;
/** A memory has a text of at most 1 MiB and a little around it. */
const FILE_BYTES = 2_097_152;

function digestOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A file of an earlier export. */
interface LeftOverFile {
  readonly content: string;
  /** Whether it is another one than was written. */
  readonly isChanged: boolean;
}

/**
 * Which files the exports into a folder wrote, and a digest of each, kept in the folder: only so can
 * a file that an export wrote be told from one that somebody changed, or put there.
 */
export class WrittenFiles {
  readonly #folder: string;
  /** Digests by name. */
  readonly #earlier: Map<string, string>;
  readonly #now = new Map<string, string>();

  private constructor(folder: string, earlier: Map<string, string>) {
    this.#folder = folder;
    this.#earlier = earlier;
  }

  /** Reads the list of a folder; one that is missing or damaged names nothing. */
  static async read(folder: string): Promise<WrittenFiles> {
    const text = await readFile(join(folder, LIST_NAME), "utf8").catch(() => "");
    const earlier = new Map<string, string>();
    for (const line of text.split("\n")) {
      const [, digest, name] = LINE.exec(line) ?? [];
      if (digest !== undefined && name !== undefined) earlier.set(name, digest);
    }
    return new WrittenFiles(folder, earlier);
  }

  /** Notes a file that this export wrote. */
  note(name: string, content: string): void {
    this.#earlier.delete(name);
    this.#now.set(name, digestOf(content));
  }

  /** Names of files that earlier exports wrote, and this one did not. */
  get leftOver(): readonly string[] {
    return [...this.#earlier.keys()];
  }

  /** No longer lists a file of an earlier export. */
  drop(name: string): void {
    this.#earlier.delete(name);
  }

  /** What stands where an earlier export wrote a file; nothing where there is none any more. */
  async find(name: string): Promise<LeftOverFile | undefined> {
    const path = join(this.#folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) return undefined;
    if (!found.isFile() || found.size > FILE_BYTES) return { content: "", isChanged: true };
    const content = await readFile(path, "utf8");
    return { content, isChanged: digestOf(content) !== this.#earlier.get(name) };
  }

  /** Writes the list. @throws {CommandError} when the disk refuses. */
  async save(): Promise<void> {
    const file = await OutputFile.open(join(this.#folder, LIST_NAME));
    for (const files of [this.#earlier, this.#now]) {
      for (const [name, digest] of files) await file.write(`${digest}  ${name}\n`);
    }
    await file.commit();
  }
}
