import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Hit, Recalled } from "../../client/results.ts";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, type ToolCall } from "./call.ts";
import { oneLine, success } from "./results.ts";

/** One line a hit; the exact text is in the structured content. */
function line(hit: Hit, index: number): string {
  const score = typeof hit.score === "number" ? hit.score : 1 - hit.distance;
  return `${index + 1}. [score=${score.toFixed(3)}] ${oneLine(hit.text)}`;
}

const memories = (count: number) => count === 1 ? "1 memory" : `${count} memories`;

function lines({ results, truncated, dropped_count = 0, pending = 0 }: Recalled): string[] {
  const found = results.length === 0 ? ["No matching memories found."] : results.map(line);
  if (truncated) found.push("More memories matched: together they are too large for one answer.");
  if (dropped_count > 0) {
    found.push(`${memories(dropped_count)} matched but could not be decrypted.`);
  }
  if (pending > 0) {
    found.push(`${memories(pending)} still being indexed: retry in 5–15 seconds.`);
  }
  return found;
}

export async function recall(call: ToolCall): Promise<CallToolResult> {
  const { query, limit, namespace = call.namespace } = argumentsOf(TOOLS.recall, call);
  const { signal } = call;
  const answer = await call.client.recall(query, { limit, namespace }, { signal });
  const { results, total, truncated, dropped_count, pending } = answer;
  return success<"recall">(lines(answer).join("\n"), {
    results,
    total,
    truncated,
    dropped_count,
    pending,
  });
}
