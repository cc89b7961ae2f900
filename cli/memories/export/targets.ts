import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT } from "../../io.ts";
import { counted } from "../../output.ts";
import type { Session } from "../../session.ts";
import { OutputFile } from "../output_file.ts";
import type { Contents, ExportLine } from "./contents.ts";
import { MarkdownFolder } from "./markdown_folder.ts";

/** What a terminal would obey or hide, and JSON allows as it is. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** A line of NDJSON that says the same to a parser and nothing to a terminal. */
function jsonLine(line: ExportLine): string {
  const escaped = JSON.stringify(line).replace(
    UNSAFE,
    (odd) =>
      odd.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .join(""),
  );
  return `${escaped}\n`;
}

/** What a target has to say besides the count: members for machines, words for people. */
export interface Outcome {
  readonly members: object;
  readonly words: string;
}

/** Where an export goes. */
export interface Target {
  /** Takes a line. */
  take(line: ExportLine): void | Promise<void>;
  /** Everything came. */
  done(contents: Contents): Promise<Outcome | undefined>;
  /** It broke off; answers where what came so far is. */
  broken(): Promise<string | undefined>;
  /** It was refused before the first line. */
  unused(): Promise<void>;
  /** Where it is, for people; nothing: on standard output. */
  readonly place?: string;
}

function onOutput({ io }: Session): Target {
  return {
    take: (line) => io.write(jsonLine(line)),
    done: () => Promise.resolve(undefined),
    broken: () => Promise.resolve("What was written so far is no whole export."),
    unused: () => Promise.resolve(),
  };
}

async function inFile(path: string): Promise<Target> {
  const file = await OutputFile.open(path);
  return {
    take: (line) => file.write(jsonLine(line)),
    async done() {
      await file.commit();
      return undefined;
    },
    async broken() {
      await file.leave();
      return `What came so far is in ${onOneLine(file.partPath)}.`;
    },
    unused: () => file.discard(),
    place: onOneLine(path),
  };
}

async function inFolder(path: string, namespace: string | undefined): Promise<Target> {
  const folder = await MarkdownFolder.open(path);
  return {
    take: (line) => line.type === "memory" ? folder.write(line) : undefined,
    async done({ unopened }) {
      const { removed, changed } = await folder.finish({ namespace, unopened });
      const gone = removed === 0 ? "" : `Removed ${counted(removed, "file")} of earlier exports.\n`;
      const stay = changed === 0 ? "" : `${
        counted(
          changed,
          "file of a memory that is gone was",
          "files of memories that are gone were",
        )
      } changed, and not removed.\n`;
      return { members: { removed, changed }, words: gone + stay };
    },
    async broken() {
      await folder.leave();
      return `What came so far is in ${onOneLine(path)}.`;
    },
    unused: () => Promise.resolve(),
    place: onOneLine(path),
  };
}

/** Opens what the flags name. @throws {CommandError} when it cannot be written. */
export async function targetOf(session: Session): Promise<Target> {
  const { line: { texts: { output, markdown } }, settings: { namespace } } = session;
  if (output !== undefined && markdown !== undefined) {
    throw new CommandError(EXIT.usage, "--output and --markdown exclude each other.");
  }
  if (output !== undefined) return await inFile(output);
  return markdown === undefined ? onOutput(session) : await inFolder(markdown, namespace);
}
