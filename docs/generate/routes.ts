import { type Content, type Operation, operations, WEIGHTS } from "./api.ts";
import { code, formatted, table } from "./markdown.ts";
import { broken, members, type Schema, shape, value } from "./shape.ts";

const INTRODUCTION = `# Routes

Every route with what it takes and what it answers. The [protocol](protocol.md#10) has the rules, MCP
routes are in [its section 11](protocol.md#11), and [openapi.json](openapi.json) has the same for
programs. Signed routes need the headers of [4.1](protocol.md#4.1).

This page is made by \`deno task docs\` from the table in \`src/wire\`.`;

const JSON_TYPE = "application/json";

function operationOf(name: string): Operation {
  const operation = operations().get(name);
  if (operation === undefined) throw new Error(`There is no route ${name}`);
  return operation;
}

const queryOf = ({ parameters = [] }: Operation) => parameters.filter((one) => one.in === "query");

/** Successful answers, by status. */
const successes = ({ responses }: Operation): readonly (readonly [string, Content])[] =>
  Object.entries(responses).filter(([status]) => status !== "default");

/** A route with its request and its answers, in a block of code. */
export function routeText(name: string): string {
  const operation = operationOf(name);
  const query = queryOf(operation).map((one) => one.name);
  const lines = [name + (query.length === 0 ? "" : `?${query.join("=&")}=`)];
  const request = operation.requestBody?.content?.[JSON_TYPE]?.schema;
  if (request?.properties !== undefined) lines.push(shape(request));
  for (const [status, { content }] of successes(operation)) {
    const schema = content?.[JSON_TYPE]?.schema;
    if (schema?.properties !== undefined) lines.push(`→ ${status} ${shape(schema)}`);
  }
  return ["```", ...lines.map(broken), "```"].join("\n");
}

/** Heading of a route as an anchor. */
const anchor = (name: string): string =>
  name.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-");

/** Every signed route with its permission, its weight and its success. */
export function signedRoutesTable(): string {
  const rows = Object.entries(WEIGHTS).map(([name, weight]) => {
    const operation = operationOf(name);
    return [
      `[${code(name)}](routes.md#${anchor(name)})`,
      operation["x-permissions"]?.map(code).join(", ") || "any",
      String(weight),
      successes(operation).map(([status]) => status).join(", "),
      operation.parameters?.some((one) => one.name === "idempotency-key") ? "yes" : "",
      operation.summary,
    ];
  });
  const head = ["Route", "Permission", "Weight", "Success", "Idempotency-Key", "Does"];
  return table([head, ...rows]);
}

function membersTable(schema: Schema): string {
  const rows = members(schema).map(({ path, schema, optional }) => [
    code(path),
    value(schema),
    optional ? "" : "yes",
    [
      schema.description ?? "",
      schema.default === undefined ? "" : `default ${code(String(schema.default))}`,
    ].filter((text) => text !== "").join("; "),
  ]);
  return rows.length === 0 ? "" : table([["Member", "Type", "Always", "Meaning"], ...rows]);
}

function bodies(title: string, { content = {} }: Content): string[] {
  return Object.entries(content).flatMap(([type, { schema, example }]) => [
    `**${title}**${type === JSON_TYPE ? "" : `, \`${type}\``}`,
    membersTable(schema),
    type === JSON_TYPE && example !== undefined
      ? "```json\n" + JSON.stringify(example, null, 2) + "\n```"
      : "",
  ]);
}

/** Codes that every route of a kind answers, which are named once. */
function commonCodes(kind: readonly Operation[]): ReadonlySet<string> {
  const lists = kind.map((one) => new Set(Object.values(one["x-error-codes"] ?? {}).flat()));
  return lists.reduce((all, codes) => all.intersection(codes), lists[0] ?? new Set());
}

const linked = (name: string): string => `[${name}](errors.md#${name})`;

function section(name: string, operation: Operation, common: ReadonlySet<string>): string[] {
  const permissions = operation["x-permissions"]?.join(" and ");
  const facts = [
    ...(permissions ? [`Permission: ${permissions}.`] : []),
    ...(WEIGHTS[name] === undefined ? [] : [`Weight: ${WEIGHTS[name]}.`]),
    ...(operation.parameters?.some((one) => one.name === "idempotency-key")
      ? ["Takes an `Idempotency-Key`."]
      : []),
  ];
  const query = queryOf(operation).map(({ name, description = "", schema }) => [
    code(name),
    value(schema),
    [description, schema.default === undefined ? "" : `default ${code(String(schema.default))}`]
      .filter((text) => text !== "").join("; "),
  ]);
  const errors = Object.values(operation["x-error-codes"] ?? {}).flat()
    .filter((one) => !common.has(one));
  return [
    `## ${name}`,
    [`${operation.summary}.`, ...facts].join(" "),
    query.length === 0 ? "" : `**Query**\n\n${table([["Member", "Type", "Meaning"], ...query])}`,
    ...bodies("Request", operation.requestBody ?? {}),
    ...successes(operation).flatMap(([status, answer]) => bodies(`Answer ${status}`, answer)),
    errors.length === 0 ? "" : `Errors: ${errors.map(linked).join(", ")}.`,
  ];
}

/** The page of all routes, docs/routes.md. */
export async function routesMarkdown(): Promise<string> {
  const all = [...operations()];
  const isSigned = ([, one]: readonly [string, Operation]): boolean => one.security !== undefined;
  const kinds = [
    ["Signed routes", all.filter(isSigned)],
    ["Other routes", all.filter((one) => !isSigned(one))],
  ] as const;
  const everywhere = commonCodes(all.map(([, one]) => one));
  const parts = kinds.map(([title, routes]) => {
    const common = commonCodes(routes.map(([, one]) => one));
    const own = [...common].filter((one) => !everywhere.has(one));
    return [
      ...(own.length === 0 ? [] : [`${title} may answer ${own.map(linked).join(", ")}.`]),
      ...routes.flatMap(([name, operation]) => section(name, operation, common)),
    ];
  });
  return await formatted(
    [
      INTRODUCTION,
      ...(everywhere.size === 0 ? [] : [
        `Every route may answer ${[...everywhere].map(linked).join(", ")}.`,
      ]),
      ...parts.flat(),
    ].filter((part) => part !== "").join("\n\n"),
  );
}
