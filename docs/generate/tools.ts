import { z } from "zod";
import { type Tool, TOOLS } from "../../src/wire/table/tools.ts";

/** The keywords in the order in which they are shown. */
const KEYWORDS = [
  "type",
  "minLength",
  "enum",
  "minimum",
  "maximum",
  "maxLength",
  "default",
  "description",
  "items",
  "properties",
  "required",
  "additionalProperties",
];

type Schema = Record<string, unknown>;

/**
 * A schema of the table as `tools/list` shows it.
 *
 * @param isResult whether it is of a result: models read lists of tools whole, and need no bounds
 * there.
 */
function shown(schema: z.ZodType, isResult = false): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { properties = {}, required = [] } = jsonSchema;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (isResult) delete jsonSchema.minimum;
      if (jsonSchema.type !== "object" || jsonSchema.properties === undefined) return;
      jsonSchema.required = required.filter((name) => !("default" in Object(properties[name])));
      if (jsonSchema.additionalProperties !== false) jsonSchema.additionalProperties = true;
    },
  });
  return inOrder(rest);
}

function inOrder(schema: Schema): Schema {
  const members = Object.entries(schema).map(([name, value]) => {
    if (name === "items") return [name, inOrder(value as Schema)] as const;
    if (name !== "properties") return [name, value] as const;
    const inner = Object.entries(value as Record<string, Schema>);
    return [name, Object.fromEntries(inner.map(([key, one]) => [key, inOrder(one)]))] as const;
  });
  const rank = (name: string) => KEYWORDS.indexOf(name);
  return Object.fromEntries(members.sort(([a], [b]) => rank(a) - rank(b)));
}

function definition(
  { profile, title, description, readOnly, idempotent, destroys, manages, input, output }: Tool,
) {
  return {
    title,
    description,
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destroys === true,
      idempotentHint: idempotent,
      openWorldHint: false,
    },
    inputSchema: shown(input),
    outputSchema: shown(output(), true),
    ...(manages ? { manages } : {}),
    ...(profile === undefined ? {} : { profile }),
  };
}

/** What `tools/list` says, for programs that do not load the schemas it is made of. */
export function toolDefinitions(): string {
  const definitions = Object.entries<Tool>(TOOLS).map(([name, tool]) => [name, definition(tool)]);
  return JSON.stringify(Object.fromEntries(definitions), null, 2) + "\n";
}
