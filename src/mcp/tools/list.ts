import type { CallToolResult } from "@modelcontextprotocol/server";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, type ToolCall } from "./call.ts";
import { nothingThere } from "./namespaces.ts";
import { success } from "./results.ts";
import { memoryData, memoryLines } from "./shown.ts";

/** A page of memories with their ids. */
export async function list(call: ToolCall): Promise<CallToolResult> {
  const { limit, cursor, namespace = call.namespace } = argumentsOf(TOOLS.list, call);
  const { signal } = call;
  const page = await call.client.memories({ limit, cursor, namespace }, { signal });
  const { memories, total, next_cursor } = page;
  const lines = memories.map(memoryLines(call.publicKey));
  const more = next_cursor === undefined
    ? undefined
    : `${total} in all. For more, call svc_list with cursor=${next_cursor}`;
  const message = memories.length === 0
    ? await nothingThere(call, namespace, "There are no memories yet.")
    : more;
  return success<"list">([...lines, ...message === undefined ? [] : [message]].join("\n"), {
    memories: memories.map((memory) => memoryData(memory, namespace ?? "default")),
    total,
    ...(next_cursor === undefined ? {} : { next_cursor }),
    ...(message === undefined ? {} : { message }),
  });
}
