import { SvcAnswerError, SvcConnectionError, SvcError } from "../../../src/client/mod.ts";
import { onOneLine } from "../../../src/printable.ts";
import { CommandError, EXIT, type ExitCode } from "../../io.ts";
import { counted } from "../../output.ts";
import { clientOf, print, type Session } from "../../session.ts";
import { emptinessOf, shownNamespace } from "../namespaces.ts";
import { patiently } from "../patience.ts";
import { Progress } from "../progress.ts";
import { Contents, type ExportLine, missingWords } from "./contents.ts";
import { type Target, targetOf } from "./targets.ts";
import { verifyBundle } from "./verify.ts";

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
  const { settings: { namespace }, line: { switches } } = session;
  const client = clientOf(session);
  const history = switches.includes("history");
  return await patiently(session, progress, async () => {
    const lines = client.exportMemories(namespace, { history });
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
  if (line.args[0] === "verify") return await verifyBundle(session) ?? EXIT.success;
  if (line.args.length > 0) throw new CommandError(EXIT.usage, "Only export verify takes a word.");
  noteVariable(session);
  // Signed out, no file is made.
  clientOf(session);
  const target = await targetOf(session);
  const contents = await receive(session, target);
  const outcome = await target.done(contents);
  const { memories, versions } = contents;
  const hasAsked = line.switches.includes("history");
  if (hasAsked && !contents.hasHistory) {
    io.writeError("This relayer is of an earlier version: it exports no history.\n");
  }
  const empty = memories === 0 && contents.errors.size === 0 && namespace !== undefined
    ? await emptinessOf(session, namespace)
    : undefined;
  const missing = missingWords(contents);
  if (missing !== "") io.writeError(missing);
  if (empty !== undefined) io.writeError(`${empty}\n`);
  const of = namespace === undefined ? "" : ` of "${onOneLine(namespace)}"`;
  const earlier = hasAsked ? ` and ${counted(versions, "earlier version")}` : "";
  const count = `${counted(memories, "memory", "memories")}${earlier}${of}`;
  const { place } = target;
  if (place !== undefined) {
    const { output, markdown, bundle } = line.texts;
    const errors = Object.fromEntries(contents.errors);
    const path = output ?? markdown ?? bundle;
    const answer = { memories, ...hasAsked && { versions }, errors, path, ...outcome?.members };
    print(session, answer, `${count}: ${place}\n${outcome?.words ?? ""}`);
  } else if (io.isErrorTerminal) io.writeError(`${count}.\n`);
  return contents.isDamaged ? EXIT.error : EXIT.success;
}
