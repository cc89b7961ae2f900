import { Buffer } from "node:buffer";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { replaceFile } from "../../src/replace_file.ts";
import { onOneLine } from "../../src/printable.ts";
import { CommandError, EXIT } from "../io.ts";

/** Characters or bytes that are written together. */
const PART_LENGTH = 262_144;

/** Why the system refuses a file, as its own code. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code === "" ? "unknown reason" : onOneLine(code);
}

/**
 * A file that only its user may read, and that is there as a whole or not at all: until it is done it
 * is called `<path>.part`.
 */
export class OutputFile {
  readonly #path: string;
  readonly #file: FileHandle;
  #parts: (string | Uint8Array)[] = [];
  #length = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /**
   * Starts one.
   *
   * @throws {CommandError} when it cannot be written.
   */
  static async open(path: string): Promise<OutputFile> {
    try {
      const there = await stat(path).catch(() => undefined);
      if (there?.isDirectory()) throw Object.assign(new Error("A folder"), { code: "EISDIR" });
      await rm(`${path}.part`, { force: true });
      // An exclusive creation follows no link.
      return new OutputFile(path, await open(`${path}.part`, "wx", 0o600));
    } catch (error) {
      throw refused(path, error);
    }
  }

  /** Where it is while it is not done. */
  get partPath(): string {
    return `${this.#path}.part`;
  }

  /** Adds a text or bytes. @throws {CommandError} when the disk refuses. */
  async write(part: string | Uint8Array): Promise<void> {
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length >= PART_LENGTH) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(
      this.#parts.map((part) => typeof part === "string" ? Buffer.from(part) : part),
    );
    this.#parts = [];
    this.#length = 0;
    try {
      for (let done = 0; done < bytes.length;) {
        done += (await this.#file.write(bytes, done, bytes.length - done)).bytesWritten;
      }
    } catch (error) {
      throw refused(this.#path, error);
    }
  }

  /** Makes it durable and gives it its name. @throws {CommandError} when the disk refuses. */
  async commit(): Promise<void> {
    try {
      await this.#flush();
      await this.#file.sync();
    } catch (error) {
      await this.#file.close();
      throw refused(this.#path, error);
    }
    await this.#file.close();
    try {
      await replaceFile(this.partPath, this.#path);
    } catch (error) {
      throw refused(this.#path, error);
    }
  }

  /** Leaves what was written under its other name. */
  async leave(): Promise<void> {
    await this.#flush().catch(() => undefined);
    await this.#file.close();
  }

  /** Removes it. */
  async discard(): Promise<void> {
    await this.#file.close();
    await rm(this.partPath, { force: true }).catch(() => undefined);
  }
}

function refused(path: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  return new CommandError(
    EXIT.error,
    `${onOneLine(path)} cannot be written (${systemReason(error)}).`,
  );
}

/** Writes a short file that only its user may read, as a whole or not at all. */
export async function writePrivateText(path: string, text: string): Promise<void> {
  const file = await OutputFile.open(path);
  await file.write(text);
  await file.commit();
}
