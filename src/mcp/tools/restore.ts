import type { CallToolResult } from "@modelcontextprotocol/server";
import { restoreArguments } from "./arguments.ts";
import type { ToolCall } from "./call.ts";
import { success } from "./results.ts";

/** Indexes what the blob store has and the index lacks. */
export async function restore(call: ToolCall): Promise<CallToolResult> {
  const { namespace, limit } = restoreArguments(call.given, call.namespace);
  call.progress.step(0, 1, "Restoring");
  const { signal } = call;
  const answer = await call.client.restore(namespace, limit, { signal });
  const { total, restored, skipped, failed, remaining } = answer;
  call.progress.step(1, 1, "Restored");
  const text = `Restore complete for namespace "${answer.namespace}":\n` +
    `  total=${total}  restored=${restored}  skipped=${skipped}`;
  return success(text, {
    namespace: answer.namespace,
    total,
    restored,
    skipped,
    failed,
    remaining,
  });
}
