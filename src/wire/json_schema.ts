import { z } from "zod";

/** A JSON Schema; of the keywords those that are looked at here. */
export interface JsonSchema {
  [keyword: string]: unknown;
  type?: unknown;
  format?: string;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/**
 * A schema of the table as JSON Schema: what is sent has its defaults, and members that are not named
 * are ignored. Members that a rule transforms say themselves what is sent, in the schema's `meta`.
 */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { properties = {}, required = [] } = jsonSchema;
      const needed = required.filter((name) => {
        const member = properties[name];
        return typeof member !== "object" || !("default" in member);
      });
      if (needed.length === 0) delete jsonSchema.required;
      else jsonSchema.required = needed;
      // Of a record it is the schema of the values.
      if (jsonSchema.propertyNames === undefined) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return rest as JsonSchema;
}

/** What a value of the schema looks like; members that may be missing are shown with examples only. */
export function exampleOf(schema: JsonSchema): unknown {
  const { examples, anyOf, items, properties = {}, required = [] } = schema;
  if (examples !== undefined) return examples[0];
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0]);
  if (schema.type === "array") return items === undefined ? [] : [exampleOf(items)];
  if (schema.type === "object") {
    const shown = Object.entries(properties)
      .filter(([name, member]) => required.includes(name) || member.examples !== undefined);
    return Object.fromEntries(shown.map(([name, member]) => [name, exampleOf(member)]));
  }
  if (schema.format === "date-time") return "2026-03-01T09:30:00.000Z";
  if (schema.type === "boolean") return true;
  return schema.type === "integer" || schema.type === "number" ? 1 : "";
}
