import type { CallToolResult } from "@modelcontextprotocol/server";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, type ToolCall } from "./call.ts";
import { InvalidArguments, success } from "./results.ts";

/** Indexes what the blob store has and the index lacks. */
export async function restore(call: ToolCall): Promise<CallToolResult> {
  const { namespace = call.namespace, limit } = argumentsOf(TOOLS.restore, call);
  if (namespace === undefined) throw new InvalidArguments("namespace: required");
  call.progress.step(0, 1, "Restoring");
  const { signal } = call;
  const answer = await call.client.restore(namespace, limit, { signal });
  const { total, restored, skipped, failed, remaining } = answer;
  call.progress.step(1, 1, "Restored");
  const text = `Restore complete for namespace "${answer.namespace}":\n` +
    `  total=${total}  restored=${restored}  skipped=${skipped}`;
  return success<"restore">(text, {
    namespace: answer.namespace,
    total,
    restored,
    skipped,
    failed,
    remaining,
  });
}
