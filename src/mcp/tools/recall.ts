import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Recalled } from "../../client/results.ts";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, type ToolCall } from "./call.ts";
import { nothingThere } from "./namespaces.ts";
import { success } from "./results.ts";
import { memoryData, memoryLine } from "./shown.ts";

const memories = (count: number) => count === 1 ? "1 memory" : `${count} memories`;

/** What there is to say besides the hits. */
function notes({ truncated, dropped_count = 0, pending = 0 }: Recalled): string[] {
  return [
    ...(truncated ? ["More memories matched: together they are too large for one answer."] : []),
    ...(dropped_count > 0
      ? [`${memories(dropped_count)} matched but could not be decrypted.`]
      : []),
    ...(pending > 0 ? [`${memories(pending)} still being indexed: retry in 5–15 seconds.`] : []),
  ];
}

/** Two decimals: more tell a model nothing. */
function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}

export async function recall(call: ToolCall): Promise<CallToolResult> {
  const { query, limit, namespace = call.namespace } = argumentsOf(TOOLS.recall, call);
  const { signal } = call;
  const answer = await call.client.recall(query, { limit, namespace }, { signal });
  const { results, total } = answer;
  const said = notes(answer);
  if (results.length === 0) {
    said.unshift(await nothingThere(call, namespace, "No matching memories found."));
  }
  return success<"recall">([...results.map(memoryLine), ...said].join("\n"), {
    results: results.map((hit) => ({
      ...memoryData(hit, namespace ?? "default"),
      // Older relayers know distances only.
      score: rounded(typeof hit.score === "number" ? hit.score : 1 - hit.distance),
    })),
    total,
    ...(said.length === 0 ? {} : { message: said.join(" ") }),
  });
}
