import type { JsonSchemaType, ToolAnnotations } from "@modelcontextprotocol/server";
import type { ToolName, ToolProfile } from "./table/tools.ts";
// Made of the table by `deno task docs`: the stdio package lists the tools without loading zod.
import definitions from "./tool_definitions.json" with { type: "json" };

/** What `tools/list` says about a tool (docs/protocol.md#12). */
interface ToolDefinition {
  readonly title: string;
  /** When and how to call it, for models. */
  readonly description: string;
  /** The four hints. */
  readonly annotations: ToolAnnotations;
  readonly inputSchema: JsonSchemaType;
  readonly outputSchema: JsonSchemaType;
  /** Whether it is listed only for keys with the permission `manage`. */
  readonly manages?: boolean;
  /** The set it belongs to: the memory tools when absent. */
  readonly profile?: "search";
}

/** The tools by their names. */
export const TOOL_DEFINITIONS: Readonly<Record<ToolName, ToolDefinition>> = definitions as Readonly<
  Record<ToolName, ToolDefinition>
>;

/** Names of a set of tools. */
export function toolsOf(profile: ToolProfile): readonly ToolName[] {
  const names = Object.keys(definitions) as ToolName[];
  return names.filter((name) => (TOOL_DEFINITIONS[name].profile ?? "memory") === profile);
}

/** Names of the memory tools. */
export const TOOL_NAMES: readonly ToolName[] = toolsOf("memory");

/** Whether a second call would write a second time, so that calls need a key. */
export function writesTwice(name: ToolName): boolean {
  return !definitions[name].annotations.idempotentHint;
}
