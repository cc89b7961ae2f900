import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Accepted, JobRecord } from "../../client/results.ts";
import { redactedWords } from "../../client/text/redacted_words.ts";
import { unreadWords } from "../../client/text/unread_words.ts";
import { DEFAULT_NAMESPACE } from "../../wire/limits.ts";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, sessionOf, type ToolCall } from "./call.ts";
import { JobFailure, success } from "./results.ts";

/** Longest wait for a memory to become recallable, in milliseconds. */
const WAIT_MS = 30_000;

/** What is known of the memory after the wait; a failed wait does not undo the write. */
async function waitFor(call: ToolCall, accepted: Accepted): Promise<Accepted | JobRecord> {
  try {
    const { signal } = call;
    return await call.client.waitFor(accepted.job_id, { timeoutMs: WAIT_MS, signal });
  } catch (error) {
    if (call.signal.aborted) throw error;
    return accepted;
  }
}

/** Saves a fact and waits until it can be recalled. */
export async function remember(call: ToolCall): Promise<CallToolResult> {
  const { text, namespace = call.namespace } = argumentsOf(TOOLS.remember, call);
  call.progress.step(0, 2, "Saving");
  // Without the signal: a cancelled call ends the wait, not the write.
  const { idempotencyKey } = call;
  const accepted = await call.client.remember(
    text,
    { namespace, trust: "agent", ...sessionOf(call) },
    { idempotencyKey },
  );
  call.progress.step(1, 2, "Saved, indexing");
  const job = accepted.recallable ? accepted : await waitFor(call, accepted);
  if (job.status === "failed") {
    throw new JobFailure(job.error_code ?? "internal_error");
  }
  call.progress.step(2, 2, job.recallable ? "Recallable" : "Still indexing");
  const saved = accepted.namespace || DEFAULT_NAMESPACE;
  const { memory_id } = accepted;
  const { recallable } = job;
  const verb = accepted.deduplicated ? "Already remembered" : "Remembered";
  const said = `${verb} in ${saved}. memory_id=${memory_id}`;
  const waits = "Indexing continues: the memory can be recalled in a moment.";
  const folded = "folded" in job ? job.folded : undefined;
  const notes = [
    redactedWords(accepted.redacted),
    unreadWords(accepted.unread_language),
    folded && `It says what memory_id=${folded.memory_id} says; recall shows that one.`,
    recallable ? undefined : waits,
  ];
  const message = notes.filter((note) => note !== undefined).join("\n");
  // In the text the verb says it.
  const twice = accepted.deduplicated ? "It was remembered already, word for word." : "";
  const told = [twice, message].filter((note) => note !== "").join("\n");
  return success<"remember">(message === "" ? said : `${said}\n${message}`, {
    memory_id,
    namespace: saved,
    recallable,
    ...(told === "" ? {} : { message: told }),
  });
}
