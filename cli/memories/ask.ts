import { onOneLine, printable } from "../../src/printable.ts";
import { ANALYZE_TEXT_BYTES } from "../../src/wire/limits.ts";
import { EXIT, type ExitCode } from "../io.ts";
import { hitLines } from "../commands.ts";
import { counted, paintFor, when } from "../output.ts";
import { clientOf, print, sayRedacted, type Session } from "../session.ts";
import { emptinessOf, namespaceOf, shownNamespace } from "./namespaces.ts";
import { textOf } from "./text_input.ts";

/** Longest wait for a language model, in milliseconds: the relayer gives it a minute. */
const MODEL_MS = 120_000;
/** Longest wait for facts to become recallable, in milliseconds. */
const WAIT_MS = 30_000;

/** Answers a question from the memories, and shows those that the answer rests on. */
export async function ask(session: Session): Promise<void> {
  const { line, io, settings: { namespace } } = session;
  const client = clientOf(session, MODEL_MS);
  const found = await client.ask(line.words, { namespace, limit: line.limit });
  const paint = paintFor(io);
  const empty = found.memories.length === 0 && !found.pending && !line.json
    ? await emptinessOf(session, namespaceOf(session))
    : undefined;
  if (empty !== undefined) return print(session, found, `${empty}\n`);
  if (found.answer_mode === "quotes") {
    const own = await client.publicKey();
    const lines = found.memories.map((hit, i) => hitLines(hit, i, paint, { own })).join("");
    const head = lines === ""
      ? "The relayer has no language model, and no memory is close enough to the question.\n"
      : "The relayer has no language model to compose an answer. These memories fit best:\n\n";
    return print(session, found, head + lines);
  }
  const rests = found.memories.map(({ text, occurred_at, created_at }, i) =>
    `${paint.dim(`${i + 1}. ${onOneLine(text)} · ${when(occurred_at ?? created_at)}`)}\n`
  );
  const sources = rests.length === 0 ? "" : `\n${rests.join("")}`;
  print(session, found, `${printable(found.answer)}\n${sources}`);
  if (found.truncated && !line.json) {
    io.writeError("More memories matched: together they are too large for one answer.\n");
  }
}

/** Takes the facts out of a text and saves each. */
export async function analyze(session: Session): Promise<ExitCode> {
  const { line, io, settings: { namespace } } = session;
  const text = await textOf(session, line.words, ANALYZE_TEXT_BYTES);
  const client = clientOf(session, MODEL_MS);
  const answer = await client.analyze(text, { namespace });
  const { facts, method, job_ids, redacted } = answer;
  const jobs = job_ids.length === 0
    ? []
    : (await client.waitForAll(job_ids, { timeoutMs: WAIT_MS })).results;
  const open = jobs.filter((job) => job.status !== "not_found" && !job.recallable);
  const failed = open.filter((job) => job.status === "failed").length;
  const waits = open.length > failed;
  const lines = facts.map((fact, i) => {
    return `${i + 1}. ${onOneLine(fact.text)} ${paintFor(io).dim(onOneLine(fact.memory_id))}\n`;
  });
  const saved = facts.length - failed;
  const place = namespace === undefined ? "" : ` in ${shownNamespace(namespace)}`;
  const end = facts.length === 0
    ? "No facts were found in it: nothing was saved.\n"
    : `${counted(saved, "fact")} saved${place}.\n`;
  print(session, answer, lines.join("") + end);
  sayRedacted(session, redacted);
  if (method === "rules" && !line.json) {
    io.writeError("The relayer has no language model: facts are found by simple rules only.\n");
  }
  if (failed > 0) io.writeError(`${counted(failed, "fact")} could not be saved.\n`);
  if (waits && !line.json) io.writeError("Indexing continues; recall finds them in a moment.\n");
  return failed > 0 ? EXIT.error : EXIT.success;
}
