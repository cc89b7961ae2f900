import {
  acceptedContent,
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Memory } from "../../client/results.ts";
import { redactedWords } from "../../client/text/redacted_words.ts";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, type ToolCall } from "./call.ts";
import { InvalidArguments, JobFailure, oneLine, success } from "./results.ts";

/** Longest wait for a correction to become recallable, milliseconds. */
const WAIT_MS = 30_000;
/** Characters of a text that a question shows. */
const SHOWN = 300;
const NEEDS = "Ask the user. If they agree, call it again with the same arguments and ";
const CLOSED =
  "The question was closed without an answer; without this app the user can do it on " +
  "the dashboard, or by svc edit and svc forget.";
const ANSWER = z.object({ confirm: z.boolean() });
const QUESTION = "confirm";

/** What a tool is about to do, and what decides whether it may. */
interface Act {
  readonly tool: "update" | "forget";
  readonly memory: Memory;
  /** What the confirmation is worth something for, besides the memory as it is. */
  readonly parts: readonly unknown[];
  /** For the user, without what would look like an instruction. */
  readonly question: string;
  readonly confirmation: string | undefined;
}

/** The memory that an argument names by its id, or the end of it. */
export async function memoryOf(
  { client, signal }: ToolCall,
  argument: string,
  id: string,
  namespace: string | undefined,
): Promise<Memory> {
  if (id.length === 36) return await client.memory(id, { signal });
  const { memories: [first, second] } = await client.memories(
    { id, namespace, limit: 2 },
    { signal },
  );
  if (first === undefined) {
    throw new InvalidArguments(`${argument}: no memory has this id`);
  }
  if (second !== undefined) throw new InvalidArguments(`${argument}: several memories end so`);
  return first;
}

/** A text as a question shows it; one that is not shown whole says so. */
const short = (text: string) => {
  const line = oneLine(text);
  if (line.length <= SHOWN) return `"${line}"`;
  return `"${line.slice(0, SHOWN)}…" (the first ${SHOWN} of ${line.length} characters)`;
};

/**
 * Whether the user has agreed: by an answer to a question that the host asked, or by a confirmation
 * that came back. What else is to be answered is the result.
 */
function agreement(call: ToolCall, act: Act): true | CallToolResult | InputRequiredResult {
  const { tool, memory, parts, question, confirmation } = act;
  const { memory_id, version } = memory;
  const named = [call.caller, tool, memory_id, version, ...parts];
  const { asks, confirmations } = call;
  const isOurs = asks.state !== undefined && confirmations.confirms(asks.state, named);
  if (isOurs) {
    if (acceptedContent(asks.responses, QUESTION, ANSWER)?.confirm === true) return true;
    const answer = inputResponse(asks.responses, QUESTION);
    if (answer.kind === "elicit") {
      // Also what apps answer by themselves that run without their user.
      const why = answer.action === "cancel" ? CLOSED : "The user did not agree.";
      const message = `${why} Nothing was changed.`;
      return success<typeof tool>(message, { status: "declined", memory_id, message });
    }
  }
  if (confirmation !== undefined && confirmations.confirms(confirmation, named)) return true;
  const token = confirmations.issue(named);
  if (asks.canAsk) {
    const request = inputRequired.elicit({ message: question, requestedSchema: ANSWER });
    return inputRequired({ inputRequests: { [QUESTION]: request }, requestState: token });
  }
  const again = confirmation === undefined ? "" : "That confirmation is not for this, or is over. ";
  const message = `${again}Nothing was changed. ${question} ${NEEDS}confirmation=${token}`;
  return success<typeof tool>(message, {
    status: "needs_confirmation",
    memory_id,
    message,
    confirmation: token,
  });
}

/** Replaces the text of one memory, once the user agreed. */
export async function update(call: ToolCall): Promise<CallToolResult | InputRequiredResult> {
  const { memory_id: id, text, namespace = call.namespace, confirmation } = argumentsOf(
    TOOLS.update,
    call,
  );
  const memory = await memoryOf(call, "memory_id", id, namespace);
  const question = `Replace ${short(memory.text ?? "")} by ${short(text)}?`;
  const agreed = agreement(call, {
    tool: "update",
    memory,
    parts: [text],
    question,
    confirmation,
  });
  if (agreed !== true) return agreed;
  const { memory_id, version } = memory;
  const change = { text, expected_version: version };
  const accepted = await call.client.updateMemory(memory_id, change);
  const { signal } = call;
  const job = await call.client.waitFor(accepted.job_id, { timeoutMs: WAIT_MS, signal });
  if (job.status === "failed") throw new JobFailure(job.error_code ?? "internal_error");
  const cut = redactedWords(accepted.redacted);
  const message = `Corrected. memory_id=${memory_id}${cut === undefined ? "" : `\n${cut}`}`;
  return success<"update">(message, {
    status: "updated",
    memory_id,
    version: accepted.version,
    message,
  });
}

/** Deletes one memory, once the user agreed. */
export async function forget(call: ToolCall): Promise<CallToolResult | InputRequiredResult> {
  const { memory_id: id, namespace = call.namespace, confirmation } = argumentsOf(
    TOOLS.forget,
    call,
  );
  const memory = await memoryOf(call, "memory_id", id, namespace);
  const question = `Delete ${short(memory.text ?? "")} for good?`;
  const agreed = agreement(call, { tool: "forget", memory, parts: [], question, confirmation });
  if (agreed !== true) return agreed;
  const { memory_id, version: expectedVersion } = memory;
  const { erased = false, restatements = [] } = await call.client.deleteMemory(memory_id, {
    expectedVersion,
  });
  const also = restatements.length === 0
    ? ""
    : ` So was what said the same in other words (${restatements.length}).`;
  const rest = erased ? "" : " What is left of it on disk is overwritten soon.";
  const message = `Forgotten.${also}${rest} memory_id=${memory_id}`;
  return success<"forget">(message, { status: "forgotten", memory_id, erased, message });
}
