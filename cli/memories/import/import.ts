import { FORMAT_NAMES, type FormatName } from "../../../src/importers/mod.ts";
import { onOneLine } from "../../../src/printable.ts";
import { secretsOf } from "../../command_line.ts";
import { CommandError, EXIT, type ExitCode, suggestion } from "../../io.ts";
import { counted, paintFor } from "../../output.ts";
import { clientOf, print, type Session } from "../../session.ts";
import { namedFiles } from "./files.ts";
import { failuresOf, outcomeOf, previewOf } from "./report.ts";
import { type ImportOptions, ImportRun } from "./run.ts";

/** Longest wait for the memories that were taken last, in milliseconds. */
const WAIT_MS = 30_000;

function isFormat(name: string): name is FormatName {
  return (FORMAT_NAMES as readonly string[]).includes(name);
}

function optionsOf({ line, settings }: Session): ImportOptions {
  const { from } = line.texts;
  if (from !== undefined && !isFormat(from)) {
    const hint = suggestion(from, FORMAT_NAMES) || ` Known formats: ${FORMAT_NAMES.join(", ")}.`;
    throw new CommandError(EXIT.usage, `Unknown format "${onOneLine(from)}".${hint}`);
  }
  if (line.args.includes("-") && line.texts["passphrase-file"] === "-") {
    const message = "Standard input is what is imported: --passphrase-file needs a file.";
    throw new CommandError(EXIT.usage, message);
  }
  return {
    format: from,
    preview: line.switches.includes("preview"),
    bringBack: line.switches.includes("bring-back"),
    ...secretsOf(line),
    // A variable is the default of what has no namespace of its own; who writes the flag means all.
    placing: { namespace: line.namespace || undefined, fallback: settings.namespace },
  };
}

/** Waits a while for the last memories; answers how many failed, and whether some still wait. */
async function settle(session: Session, jobs: readonly string[]) {
  if (jobs.length === 0) return { failed: 0, waits: false };
  try {
    const { results } = await clientOf(session).waitForAll(jobs, { timeoutMs: WAIT_MS });
    const open = results.filter((job) => job.status !== "not_found" && !job.recallable);
    const failed = open.filter(({ status }) => status === "failed").length;
    return { failed, waits: open.length > failed };
  } catch {
    // They are accepted: whoever waits for them no longer changes nothing.
    return { failed: 0, waits: true };
  }
}

/** Says what was done so far, and that doing it again is safe. */
function sayBroken({ progress, sending, analysis }: ImportRun, { io }: Session): void {
  progress.clear();
  const { accepted } = sending.counts;
  const { texts } = analysis.counts;
  const analyzed = texts > 0 ? `, and ${counted(texts, "text")} analyzed` : "";
  const day = texts > 0 ? " within a day" : "";
  io.writeError(
    `The import broke off: ${counted(accepted, "memory was", "memories were")} taken${analyzed}. ` +
      `Run the same command again${day}: what is there is not taken twice.\n`,
  );
}

async function readAll(session: Session, run: ImportRun): Promise<number> {
  const { files, passedOver } = await namedFiles(session.line.args);
  try {
    for (const file of files) await run.file(file);
    await run.finish();
  } catch (error) {
    // What was asked for in vain before anything was taken speaks for itself.
    const isBegun = run.sending.counts.sent + run.analysis.counts.texts > 0;
    if (isBegun || !(error instanceof CommandError)) sayBroken(run, session);
    throw error;
  }
  run.progress.clear();
  return passedOver;
}

function preview(session: Session, run: ImportRun, passedOver: number): ExitCode {
  const { reports, problems, sending } = run;
  const paint = paintFor(session.io);
  const { failed } = sending.counts;
  const files = reports.map((report) => ({ ...report, samples: undefined }));
  const texts = reports.map((report) => previewOf(report, paint));
  const passed = passedOver > 0 ? `${counted(passedOver, "other file")} passed over.\n` : "";
  const end = "Nothing was saved: this is a preview.\n";
  print(
    session,
    { preview: true, files, problems, failed, failures: sending.failures, passed_over: passedOver },
    texts.join("") + failuresOf(failed, sending.failures) + passed + end,
  );
  return problems.length + failed > 0 ? EXIT.error : EXIT.success;
}

async function report(session: Session, run: ImportRun, passedOver: number): Promise<ExitCode> {
  const { reports, problems, sending, analysis, declined } = run;
  const { io, line } = session;
  const settled = await settle(session, [...sending.lastJobs, ...analysis.lastJobs].slice(-20));
  const { counts, failures } = sending;
  const { texts, facts } = analysis.counts;
  const isNothing = reports.length === 0 && counts.sent === 0;
  const files = reports.map((one) => ({ ...one, samples: undefined }));
  const { accepted, versions, exists, older, deleted, expired, history, failed } = counts;
  const skipped = { exists, older, deleted, expired, history };
  print(
    session,
    {
      files,
      problems,
      accepted,
      versions,
      skipped,
      failed,
      failures,
      texts,
      facts,
      passed_over: passedOver,
    },
    isNothing ? "" : outcomeOf(counts, analysis.counts),
  );
  if (!line.json) {
    if (failed > 0) io.writeError(failuresOf(failed, failures));
    if (declined > 0) io.writeError(`${counted(declined, "conversation")} left alone.\n`);
    if (analysis.isByRules) {
      io.writeError("The relayer has no language model: facts are found by simple rules only.\n");
    }
    if (passedOver > 0) io.writeError(`${counted(passedOver, "other file")} passed over.\n`);
    if (settled.waits) io.writeError("Indexing continues; recall finds them in a moment.\n");
  }
  if (settled.failed > 0) {
    io.writeError(`${settled.failed} of the last memories could not be saved.\n`);
  }
  const isBad = problems.length + failed + settled.failed > 0;
  return isBad ? EXIT.error : EXIT.success;
}

/** Takes memories out of files: exports of svc, and those of other products. */
export async function importMemories(session: Session): Promise<ExitCode> {
  const options = optionsOf(session);
  // Signed out, nothing is read first.
  if (!options.preview) clientOf(session);
  const run = new ImportRun(session, options);
  const passedOver = await readAll(session, run);
  return options.preview
    ? preview(session, run, passedOver)
    : await report(session, run, passedOver);
}
