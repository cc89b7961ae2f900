import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Hit, Memory } from "../../client/results.ts";
import { writerWords } from "../../client/text/writer_words.ts";
import { shown } from "../../close_enough.ts";
import { SEARCH_TOOL_LIMIT } from "../../wire/limits.ts";
import { TOOLS } from "../../wire/table/tools.ts";
import { argumentsOf, type ToolCall } from "./call.ts";
import { memoryOf } from "./manage.ts";
import { oneLine, success } from "./results.ts";
import { dayOf } from "./shown.ts";

/** Characters of a text that stand for it. */
const TITLE = 80;

/** What a memory is called in a list of sources: it has no name of its own. */
function titleOf({ text = "(encrypted by the app that saved it)" }: Hit | Memory): string {
  const line = oneLine(text).trim();
  return [...line].length <= TITLE ? line : `${[...line].slice(0, TITLE).join("")}…`;
}

/** Where people see a memory; a name of it where no dashboard is known. */
function urlOf({ webUrl }: ToolCall, id: string): string {
  return webUrl === undefined ? `urn:uuid:${id}` : `${webUrl}/memory#${id}`;
}

/** Memories that a question finds, as a list of sources. */
export async function searchSources(call: ToolCall): Promise<CallToolResult> {
  const { query } = argumentsOf(TOOLS.search, call);
  const { namespace, signal } = call;
  const options = { limit: SEARCH_TOOL_LIMIT, namespace };
  const { results } = shown((await call.client.recall(query, options, { signal })).results);
  const sources = {
    results: results.map((hit) => ({
      id: hit.memory_id,
      title: titleOf(hit),
      url: urlOf(call, hit.memory_id),
    })),
  };
  // Such hosts read the text, and want the data in it.
  return success<"search">(JSON.stringify(sources), sources);
}

/** One memory as a source, whole. */
export async function fetchSource(call: ToolCall): Promise<CallToolResult> {
  const { id } = argumentsOf(TOOLS.fetch, call);
  const memory = await memoryOf(call, "id", id, call.namespace);
  const writer = writerWords(memory);
  // What a memory says of its writer is not what the relayer says of it.
  const { written_by: _, ...metadata } = memory.metadata ?? {};
  const source = {
    id: memory.memory_id,
    title: titleOf(memory),
    text: memory.text ?? titleOf(memory),
    url: urlOf(call, memory.memory_id),
    metadata: {
      ...metadata,
      namespace: memory.namespace,
      date: dayOf(memory),
      ...(writer === undefined ? {} : { written_by: writer }),
    },
  };
  return success<"fetch">(JSON.stringify(source), source);
}
