import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Hit, Recalled } from "../../client/results.ts";
import { olderHits } from "../../client/text/older_hits.ts";
import { shown } from "../../close_enough.ts";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, type ToolCall } from "./call.ts";
import { nothingThere } from "./namespaces.ts";
import { success } from "./results.ts";
import { memoryData, memoryLines } from "./shown.ts";

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

const NOTHING_CLOSE = "Nothing close enough; the nearest are";

export async function recall(call: ToolCall): Promise<CallToolResult> {
  const args = argumentsOf(TOOLS.recall, call);
  const { query, limit, namespace = call.namespace } = args;
  const { signal } = call;
  const answer = await call.client.recall(query, { limit, namespace }, { signal });
  // All are asked for, so that the nearest can be named.
  const { results, nearest } = shown(answer.results, args.min_confidence);
  const said = notes(answer);
  if (answer.results.length === 0) {
    said.unshift(await nothingThere(call, namespace, "No matching memories found."));
  }
  const older = olderHits(results);
  const memoryLine = memoryLines(call.publicKey);
  const line = (hit: Hit, index: number) =>
    memoryLine(hit, index) + (older.has(hit) ? " (older: one above says otherwise)" : "");
  const head = nearest.length === 0 ? [] : [`${NOTHING_CLOSE}:`, ...nearest.map(memoryLine)];
  const message = [...(nearest.length === 0 ? [] : [`${NOTHING_CLOSE} in \`nearest\`.`]), ...said];
  const data = (hit: Hit) => memoryData(hit, namespace ?? "default");
  return success<"recall">([...head, ...results.map(line), ...said].join("\n"), {
    results: results.map((hit) => ({
      ...data(hit),
      // Older relayers know distances only.
      score: rounded(typeof hit.score === "number" ? hit.score : 1 - hit.distance),
      ...(hit.confidence === undefined ? {} : { confidence: rounded(hit.confidence) }),
      ...(older.has(hit) ? { older: true as const } : {}),
    })),
    total: results.length,
    ...(nearest.length === 0 ? {} : { nearest: nearest.map(data) }),
    ...(message.length === 0 ? {} : { message: message.join(" ") }),
  });
}
