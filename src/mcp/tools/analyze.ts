import type { CallToolResult } from "@modelcontextprotocol/server";
import type { JobStatus } from "../../client/results.ts";
import { redactedWords } from "../../client/text/redacted_words.ts";
import { type ToolOutput, TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, sessionOf, type ToolCall } from "./call.ts";
import { oneLine, success } from "./results.ts";
import { shortId } from "./shown.ts";

/** Longest wait for all facts, in milliseconds. */
const WAIT_MS = 180_000;

type Outcome = ToolOutput<"analyze">["facts"][number]["status"];

function outcome(job: JobStatus | undefined): Outcome {
  if (job === undefined) return "timeout";
  if (job.status === "failed" || job.status === "not_found") return "failed";
  return job.status === "done" || job.recallable ? "done" : "timeout";
}

/** A failed wait does not undo the write: facts without a state count as timed out. */
async function waitForAll(call: ToolCall, ids: readonly string[]): Promise<readonly JobStatus[]> {
  if (ids.length === 0) return [];
  try {
    const control = { timeoutMs: WAIT_MS, signal: call.signal };
    return (await call.client.waitForAll(ids, control)).results;
  } catch (error) {
    if (call.signal.aborted) throw error;
    return [];
  }
}

/** Extracts facts, saves each, and waits until they can be recalled. */
export async function analyze(call: ToolCall): Promise<CallToolResult> {
  call.progress.step(0, 2, "Extracting facts");
  const { text, namespace = call.namespace } = argumentsOf(TOOLS.analyze, call);
  const { idempotencyKey } = call;
  const { facts, method, redacted } = await call.client.analyze(
    text,
    { namespace, trust: "agent", ...sessionOf(call) },
    { idempotencyKey },
  );
  call.progress.step(1, 2, `Saved ${facts.length} fact(s), indexing`);
  const jobs = await waitForAll(call, facts.map((fact) => fact.job_id));
  const outcomes = facts.map(({ text, memory_id }, i) => {
    return { text, memory_id, status: outcome(jobs[i]) };
  });
  const succeeded = outcomes.filter(({ status }) => status === "done").length;
  const failed = facts.length - succeeded;
  call.progress.step(2, 2, "Done");
  const first = `Extracted ${facts.length} fact(s) — succeeded=${succeeded} failed=${failed}`;
  const list = outcomes.map(({ status, text, memory_id }, i) =>
    `${i + 1}. [${status} · ${shortId(memory_id)}] ${oneLine(text)}`
  );
  const message = redactedWords(redacted);
  const head = message === undefined ? first : `${first}\n${message}`;
  return success<"analyze">(facts.length === 0 ? head : [head, "", ...list].join("\n"), {
    facts: outcomes,
    extracted: facts.length,
    succeeded,
    failed,
    method,
    ...(message === undefined ? {} : { message }),
  });
}
