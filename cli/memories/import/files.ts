import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT } from "../../io.ts";
import { systemReason } from "../output_file.ts";

/** Names of files that are read where a folder is named. */
const READABLE = /\.(?:md|markdown|txt|json|jsonl|ndjson)$/i;
/** Folders that hold programs, and none of somebody's notes. */
const PASSED_OVER = new Set(["node_modules"]);

/** A file to import. */
export interface ImportFile {
  /** Where it is, from the root: some products are recognised by their folders. */
  readonly path: string;
  /** As the user wrote it, on one line. */
  readonly shown: string;
  /** Whether it is what comes by standard input. */
  readonly isStandardInput?: true;
}

/** What `-` stands for. */
const STANDARD_INPUT: ImportFile = { path: "-", shown: "standard input", isStandardInput: true };

/** What the words of a command name. */
export interface Named {
  readonly files: readonly ImportFile[];
  /** Files in folders whose names say that they are something else. */
  readonly passedOver: number;
}

/** Files of a folder and of those in it, in the order of their names; hidden ones are left alone. */
async function* filesIn(folder: string): AsyncGenerator<string, void, undefined> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const entry of entries) {
    if (entry.name.startsWith(".") || PASSED_OVER.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    // A link may lead out of the folder that was named.
    else if (entry.isFile()) yield path;
  }
}

/**
 * The files that paths name; of a folder those with names of notes, JSON or NDJSON. A `-` is
 * standard input.
 *
 * @throws {CommandError} when one cannot be read, or a folder has none.
 */
export async function namedFiles(paths: readonly string[]): Promise<Named> {
  const files: ImportFile[] = [];
  let passedOver = 0;
  for (const path of paths) {
    const before = files.length;
    if (path === "-") {
      if (files.includes(STANDARD_INPUT)) {
        throw new CommandError(EXIT.usage, "Standard input can be read once only.");
      }
      files.push(STANDARD_INPUT);
      continue;
    }
    try {
      if (!(await stat(path)).isDirectory()) {
        files.push({ path: resolve(path), shown: onOneLine(path) });
        continue;
      }
      for await (const file of filesIn(path)) {
        if (READABLE.test(file)) files.push({ path: resolve(file), shown: onOneLine(file) });
        else passedOver++;
      }
    } catch (error) {
      const message = `${onOneLine(path)} cannot be read (${systemReason(error)}).`;
      throw new CommandError(EXIT.error, message);
    }
    if (files.length === before) {
      throw new CommandError(EXIT.error, `${onOneLine(path)} has no file that can be imported.`);
    }
  }
  return { files, passedOver };
}
