import { type MemoryUpdate, type SvcClient, SvcError } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { numberOf, secretsOf } from "../command_line.ts";
import { CommandError, EXIT, programOf } from "../io.ts";
import { paintFor } from "../output.ts";
import { clientOf, print, sayRedacted, type Session } from "../session.ts";
import { about, wholeId } from "./ids.ts";
import { textOf } from "./text_input.ts";

/** Longest wait for the change to become recallable, in milliseconds. */
const WAIT_MS = 30_000;

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);

/** What the command line asks for, before anything is sent. */
interface Wanted {
  readonly id: string;
  /** The new text as it was written; empty: none. */
  readonly words: string;
  readonly undo: boolean;
  readonly from: number | undefined;
  readonly expect: number | undefined;
  readonly importance: number | undefined;
}

function wantedOf({ line }: Session): Wanted {
  const [id = "", ...rest] = line.args;
  const words = rest.join(" ");
  const undo = line.switches.includes("undo");
  const from = numberOf(line, "from");
  const importance = importanceOf(line.texts.importance);
  if (undo && words !== "") throw usage("With --undo there is no new text: leave one of them out.");
  if (!undo && from !== undefined) throw usage("--from goes with --undo.");
  if (!undo && words === "" && importance === undefined) {
    throw usage("edit needs the new text behind the id (- reads standard input), or --undo.");
  }
  return { id, words, undo, from, expect: numberOf(line, "expect"), importance };
}

function importanceOf(raw: string | undefined): number | undefined {
  if (raw === undefined) return undefined;
  const importance = /^\d(\.\d{1,9})?$/.test(raw) ? Number(raw) : NaN;
  if (importance >= 0 && importance <= 1) return importance;
  throw usage("--importance must be a number from 0 to 1, such as 0.8.");
}

/** The version before the present one, and the present one, which must not change meanwhile. */
async function undoing(session: Session, client: SvcClient, id: string) {
  const { version, versions } = await about(session, id, client.memory(id));
  const before = versions.find((one) => one.version < version);
  if (before === undefined) {
    throw new CommandError(EXIT.error, "There is no earlier version to go back to.");
  }
  return { from_version: before.version, expected_version: version };
}

async function updateOf(
  session: Session,
  client: SvcClient,
  id: string,
  { words, undo, from, expect, importance }: Wanted,
): Promise<MemoryUpdate> {
  const more = {
    ...(importance === undefined ? {} : { importance }),
    ...(expect === undefined ? {} : { expected_version: expect }),
  };
  if (words !== "") return { text: await textOf(session, words), ...more };
  if (undo && from !== undefined) return { from_version: from, ...more };
  if (undo) return { ...await undoing(session, client, id), ...more };
  // Another importance alone: the text stays as it is.
  const { version } = await about(session, id, client.memory(id));
  return { from_version: version, expected_version: version, ...more };
}

/** What to do about a change that was refused. */
function advice(error: unknown, session: Session, id: string, { from }: Wanted): unknown {
  if (!(error instanceof SvcError)) return error;
  const program = programOf(session.io);
  if (error.code === "version_conflict") {
    const message = "Somebody changed the memory meanwhile, or it has another version than the " +
      `expected one. Look first: ${program} history ${id}`;
    return new SvcError("version_conflict", message);
  }
  if (error.code === "method_not_allowed") {
    const message = "This relayer is of an earlier version, which cannot correct memories";
    return new SvcError("method_not_allowed", message);
  }
  if (error.code === "memory_not_found") {
    return new SvcError("memory_not_found", `You have no memory with the id ${id}`);
  }
  if (error.code !== "invalid_parameter" || error.field !== "from_version") return error;
  const message = `It never had a version ${from}. Its versions: ${program} history ${id}`;
  return new SvcError("invalid_parameter", message);
}

/** Replaces a memory's text, or goes back to an earlier one; waits until it is recallable. */
export async function edit(session: Session): Promise<void> {
  const { io } = session;
  const wanted = wantedOf(session);
  const client = clientOf(session);
  // Before the text is read: a mistyped id should not cost somebody's typing.
  const id = await wholeId(session, client, wanted.id);
  const update = await updateOf(session, client, id, wanted);
  const accepted = await client.updateMemory(id, { ...update, ...secretsOf(session.line) }).catch(
    (error: unknown) => {
      throw advice(error, session, id, wanted);
    },
  );
  const job = await client.waitFor(accepted.job_id, { timeoutMs: WAIT_MS });
  if (job.status === "failed" && !job.recallable) {
    const reason = onOneLine(job.error_code ?? "unknown reason");
    throw new CommandError(EXIT.error, `Correcting failed (${reason}); the old text stays.`);
  }
  const { memory_id, version, job_id, namespace } = accepted;
  const { status, recallable } = job;
  const done = wanted.undo ? "Taken back." : "Corrected.";
  const shown = paintFor(io).dim(`${onOneLine(memory_id)} version ${version}`);
  const answer = { memory_id, version, job_id, namespace, status, recallable };
  print(session, answer, `${done} ${shown}\n`);
  sayRedacted(session, accepted.redacted);
  if (!recallable) io.writeError("Saved. Indexing continues; recall finds it in a moment.\n");
}
