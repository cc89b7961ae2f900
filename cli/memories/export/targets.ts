import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT } from "../../io.ts";
import { counted } from "../../output.ts";
import { notSignedIn, type Session } from "../../session.ts";
import { Questions } from "../asking.ts";
import { BundleWriter } from "../bundle/bundle_writer.ts";
import { lockOf } from "../bundle/secrets.ts";
import { OutputFile } from "../output_file.ts";
import type { Contents, ExportLine } from "./contents.ts";
import { MarkdownFolder } from "./markdown_folder.ts";

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);

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

async function inBundle(path: string, session: Session): Promise<Target> {
  const { credentials } = session;
  if (credentials === undefined) throw new CommandError(EXIT.notSignedIn, notSignedIn(session));
  const lock = await lockOf(session, new Questions(session.io));
  const bundle = await BundleWriter.open(path, lock);
  let format = "";
  return {
    take(line) {
      if (line.type === "header") format = String(line.format);
      return bundle.write(jsonLine(line));
    },
    async done({ memories, versions, lostVersions, unopened }) {
      const errors = unopened.size + lostVersions;
      await bundle.commit(credentials, format, { memories, versions, errors });
      const who = "passphrase" in lock
        ? "the passphrase"
        : counted(lock.recipients.length, "recipient");
      const key = credentials.delegatePublicKeyHex;
      return {
        members: { public_key: key },
        words: `Encrypted for ${who}, and signed with the key of this computer:\n${key}\n`,
      };
    },
    async broken() {
      await bundle.discard();
      return undefined;
    },
    unused: () => bundle.discard(),
    place: onOneLine(path),
  };
}

/** Opens what the flags name. @throws {CommandError} when it cannot be written. */
export async function targetOf(session: Session): Promise<Target> {
  const { line: { texts, lists, switches }, settings: { namespace } } = session;
  const { output, markdown, bundle } = texts;
  const places = [output, markdown, bundle].filter((place) => place !== undefined);
  if (places.length > 1) throw usage("--output, --markdown and --bundle exclude each other.");
  const odd = (["identity", "key"] as const).find((flag) => texts[flag] !== undefined);
  if (odd !== undefined) throw usage(`--${odd} is a flag of export verify.`);
  if (markdown !== undefined && switches.includes("history")) {
    throw usage("A Markdown file holds one version: --history and --markdown exclude each other.");
  }
  if (bundle !== undefined) return await inBundle(bundle, session);
  if (lists.recipient !== undefined || texts["passphrase-file"] !== undefined) {
    throw usage("--recipient and --passphrase-file are about a --bundle.");
  }
  if (output !== undefined) return await inFile(output);
  return markdown === undefined ? onOutput(session) : await inFolder(markdown, namespace);
}
