import type { z } from "zod";
import { type JsonSchema, jsonSchemaOf } from "../../src/wire/json_schema.ts";
import type { AnswerShape, Route, RouteRows } from "../../src/wire/route.ts";
import { formatted } from "./markdown.ts";

/** A comment above a member; nothing for none. */
function comment(text: unknown): string {
  return typeof text === "string"
    ? `/** ${text.replaceAll("*/", "* /").replace(/\.?$/, ".")} */\n`
    : "";
}

function either(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

/** Members of an object, each with its description. */
function members(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]) {
  return Object.entries(properties).map(([name, member]) => {
    const optional = !required.includes(name);
    const type = `${typeOf(member)}${optional ? " | undefined" : ""}`;
    return `${comment(member.description)}readonly ${name}${optional ? "?" : ""}: ${type};`;
  }).join("\n");
}

/** The type of what a schema describes, which its holder may not change. */
export function typeOf(schema: JsonSchema): string {
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return either(schema.enum.map((one) => JSON.stringify(one)));
  if (schema.anyOf !== undefined) return either(schema.anyOf.map(typeOf));
  if (schema.type === "array") {
    const item = typeOf(schema.items ?? {});
    const isOne = schema.items?.properties !== undefined || /^\w+$/.test(item);
    return isOne ? `readonly ${item}[]` : `readonly (${item})[]`;
  }
  if (Object.keys(schema.properties ?? {}).length > 0) {
    return `{\n${members(schema.properties!, schema.required ?? [])}\n}`;
  }
  if (schema.properties !== undefined) return "Readonly<Record<PropertyKey, never>>";
  if (schema.type === "object") {
    const values = schema.additionalProperties as JsonSchema | undefined;
    return `{ readonly [name: string]: ${typeOf(values ?? {})} }`;
  }
  const names = [schema.type].flat() as string[];
  return either(names.map((name) => PRIMITIVES[name] ?? "unknown"));
}

/** Answers of JSON only: what has media types of its own is no value of a type. */
function isJson(answer: AnswerShape): answer is z.ZodType {
  return "_zod" in answer;
}

function row(name: string, route: Route): string {
  const answers = Object.entries(route.answers()).flatMap(([status, answer]) =>
    isJson(answer) ? [`readonly ${status}: ${typeOf(jsonSchemaOf(answer))};`] : []
  );
  const sent = (["query", "body"] as const).flatMap((part) => {
    const schema = route[part];
    return schema === undefined ? [] : [`readonly ${part}: ${typeOf(jsonSchemaOf(schema))};`];
  });
  const answered = answers.length === 0 ? [] : [`readonly answers: { ${answers.join("\n")} };`];
  const access = `readonly access: ${JSON.stringify(route.access)};`;
  const parts = [access, ...sent, ...answered].join("\n");
  return `${comment(route.summary)}readonly ${JSON.stringify(name)}: {\n${parts}\n};`;
}

const HEAD = "// Written by `deno task docs` from the table of routes.\n\n";

/** The types of one file of the table, as the interface of that name. */
export async function routeTypes(name: string, table: string, rows: RouteRows): Promise<string> {
  const all = Object.entries(rows).map(([route, value]) => row(route, value));
  const head = `/** What the routes in \`src/wire/table/${table}\` take and answer. */`;
  return await formatted(
    `${HEAD}${head}\nexport interface ${name} {\n${all.join("\n")}\n}\n`,
    "ts",
  );
}
