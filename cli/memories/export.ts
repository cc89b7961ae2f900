import { SvcAnswerError, SvcConnectionError, SvcError } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { CommandError, EXIT, type ExitCode } from "../io.ts";
import { counted } from "../output.ts";
import { clientOf, print, type Session } from "../session.ts";
import { MarkdownFolder } from "./markdown_folder.ts";
import { emptinessOf, shownNamespace } from "./namespaces.ts";
import { OutputFile } from "./output_file.ts";
import { patiently } from "./patience.ts";
import { Progress } from "./progress.ts";

/** Code of memories that their owner's own app encrypted: nobody else has their text. */
const MANUAL = "manual_memory";
/** Most ids of memories that are not in the export that are named. */
const NAMED_IDS = 10;
/** What a terminal would obey or hide, and JSON allows as it is. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

type ExportLine = Readonly<Record<string, unknown>>;

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

/** Where an export goes. */
interface Target {
  /** Takes a line. */
  take(line: ExportLine): void | Promise<void>;
  /** Everything came. */
  done(): Promise<void>;
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
    done: () => Promise.resolve(),
    broken: () => Promise.resolve("What was written so far is no whole export."),
    unused: () => Promise.resolve(),
  };
}

async function inFile(path: string): Promise<Target> {
  const file = await OutputFile.open(path);
  return {
    take: (line) => file.write(jsonLine(line)),
    done: () => file.commit(),
    async broken() {
      await file.leave();
      return `What came so far is in ${onOneLine(file.partPath)}.`;
    },
    unused: () => file.discard(),
    place: onOneLine(path),
  };
}

async function inFolder(path: string): Promise<Target> {
  const folder = await MarkdownFolder.open(path);
  return {
    take: (line) => line.type === "memory" ? folder.write(line) : undefined,
    done: () => Promise.resolve(),
    broken: () => Promise.resolve(`What came so far is in ${onOneLine(path)}.`),
    unused: () => Promise.resolve(),
    place: onOneLine(path),
  };
}

async function targetOf(session: Session): Promise<Target> {
  const { output, markdown } = session.line.texts;
  if (output !== undefined && markdown !== undefined) {
    throw new CommandError(EXIT.usage, "--output and --markdown exclude each other.");
  }
  if (output !== undefined) return await inFile(output);
  return markdown === undefined ? onOutput(session) : await inFolder(markdown);
}

/** What an export has, and what it lacks. */
class Contents {
  memories = 0;
  /** Whether the last line came. */
  isWhole = false;
  /** Whether any line came. */
  isBegun = false;
  /** Memories that are not in it, by the code of the reason. */
  readonly errors = new Map<string, number>();
  /** Ids of the first of them. */
  readonly ids: string[] = [];

  note({ type, code, memory_id }: ExportLine): void {
    this.isBegun = true;
    if (type === "memory") this.memories++;
    if (type === "end") this.isWhole = true;
    if (type !== "error") return;
    const name = String(code);
    this.errors.set(name, (this.errors.get(name) ?? 0) + 1);
    if (this.ids.length < NAMED_IDS) this.ids.push(onOneLine(String(memory_id)));
  }

  /** Whether the relayer could not open what it should. */
  get isDamaged(): boolean {
    return [...this.errors.keys()].some((code) => code !== MANUAL);
  }
}

/** What is not in the export, a line for each reason. */
function missingWords({ errors, ids }: Contents): string {
  const all = [...errors.values()].reduce((sum, count) => sum + count, 0);
  const lines = [...errors].map(([code, count]) => {
    const many = counted(count, "memory is", "memories are");
    const why = code === MANUAL
      ? "the app that saved it encrypted it, and only that app can read it"
      : `it could not be opened (${onOneLine(code)})`;
    return `${many} not in it: ${why}.\n`;
  });
  const more = all > ids.length ? ", …" : "";
  return lines.join("") + (all > 0 ? `  ${ids.join(", ")}${more}\n` : "");
}

/** The error of an export that broke off. */
function brokenOff({ memories }: Contents, cause: unknown, rest: string | undefined): CommandError {
  const isOurs = cause instanceof SvcConnectionError || cause instanceof SvcError ||
    cause instanceof SvcAnswerError || cause instanceof CommandError;
  const why = isOurs ? `: ${onOneLine(cause.message)}` : "";
  const message = `The export broke off after ${counted(memories, "memory", "memories")}${why}` +
    `${why.endsWith(".") ? "" : "."} It is not complete. ${rest ?? ""}`;
  return new CommandError(EXIT.error, message.trimEnd());
}

/** The lines, once the first one is there: until then a busy relayer is waited for. */
async function begin(session: Session, progress: Progress): Promise<AsyncIterable<ExportLine>> {
  const { settings: { namespace } } = session;
  const client = clientOf(session);
  return await patiently(session, progress, async () => {
    const lines = client.exportMemories(namespace);
    const first = await lines.next();
    return (async function* () {
      if (!first.done) yield first.value;
      yield* lines;
    })();
  });
}

/** Takes every line; answers what came. */
async function receive(session: Session, target: Target): Promise<Contents> {
  const progress = new Progress(session.io);
  const contents = new Contents();
  try {
    for await (const line of await begin(session, progress)) {
      await target.take(line);
      contents.note(line);
      progress.show(counted(contents.memories, "memory", "memories"));
    }
  } catch (error) {
    progress.clear();
    if (contents.isBegun) throw brokenOff(contents, error, await target.broken());
    await target.unused();
    throw error;
  }
  progress.clear();
  if (!contents.isWhole) throw brokenOff(contents, undefined, await target.broken());
  return contents;
}

/** Says what an environment variable leaves out, which is easily forgotten in a backup. */
function noteVariable({ line, settings: { namespace }, io }: Session): void {
  if (namespace === undefined || line.namespace !== undefined) return;
  io.writeError(`Note: only ${shownNamespace(namespace)}, which SVC_NAMESPACE names.\n`);
}

/** Writes every memory out: as NDJSON, or as Markdown files. */
export async function exportMemories(session: Session): Promise<ExitCode> {
  const { line, io, settings: { namespace } } = session;
  noteVariable(session);
  // Signed out, no file is made.
  clientOf(session);
  const target = await targetOf(session);
  const contents = await receive(session, target);
  await target.done();
  const { memories } = contents;
  const empty = memories === 0 && contents.errors.size === 0 && namespace !== undefined
    ? await emptinessOf(session, namespace)
    : undefined;
  const missing = missingWords(contents);
  if (missing !== "") io.writeError(missing);
  if (empty !== undefined) io.writeError(`${empty}\n`);
  const of = namespace === undefined ? "" : ` of "${onOneLine(namespace)}"`;
  const count = `${counted(memories, "memory", "memories")}${of}`;
  const { place } = target;
  if (place !== undefined) {
    const { output, markdown } = line.texts;
    const errors = Object.fromEntries(contents.errors);
    print(session, { memories, errors, path: output ?? markdown }, `${count}: ${place}\n`);
  } else if (io.isErrorTerminal) io.writeError(`${count}.\n`);
  return contents.isDamaged ? EXIT.error : EXIT.success;
}
