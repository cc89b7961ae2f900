import type { ToolName } from "../../src/wire/table/tools.ts";
import { TOOL_DEFINITIONS } from "../../src/wire/tool_definitions.ts";
import { isMembers, type Members } from "./json_rpc.ts";

/** Parts of a schema that say which members there are. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
}

/** A value without the members that a schema does not have, at any depth. */
function fit(value: unknown, schema: Schema): unknown {
  const { properties = {}, items, additionalProperties } = schema;
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((one) => fit(one, items));
  }
  if (!isMembers(value) || additionalProperties !== false) return value;
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries(known.map(([name, one]) => [name, fit(one, properties[name]!)]));
}

/**
 * A result whose data fits what is listed of the tool: hosts check it, and a relayer of another
 * version may answer more.
 */
export function fitted(tool: ToolName, result: Members): Members {
  const { structuredContent } = result;
  if (structuredContent === undefined) return result;
  const schema = TOOL_DEFINITIONS[tool].outputSchema as Schema;
  return { ...result, structuredContent: fit(structuredContent, schema) };
}
