import { routeNames, rowOf } from "../../src/wire/routes.ts";
import { type Content, type Operation, operations, pathOf, WEIGHTS } from "./api.ts";
import { code, formatted, table } from "./markdown.ts";
import { broken, members, type Schema, shape, value } from "./shape.ts";

const INTRODUCTION = `# Routes

Every route with what it takes and what it answers. The [protocol](protocol.md#10) has the rules; the
routes of MCP are in [its section 11](protocol.md#11), and [openapi.json](openapi.json) has the same for
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
  const answers = successes(operation).flatMap(([status, { content }]) => {
    const schema = content?.[JSON_TYPE]?.schema;
    return schema === undefined ? [] : [{ status, text: shape(schema) }];
  });
  for (const [text, same] of Map.groupBy(answers, (one) => one.text)) {
    lines.push(`→ ${same.map(({ status }) => status).join(", ")} ${text}`);
  }
  return ["```", ...lines.map(broken), "```"].join("\n");
}

/** Heading of a route as an anchor. */
const anchor = (name: string): string =>
  name.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-");

/** Every signed route with its permission, its weight and its success. */
function signedTable(): string {
  const rows = routeNames("signed").map((key) => {
    const { permissions, weight = 1, answers, idempotent, summary } = rowOf(key);
    const name = pathOf(key);
    return [
      `[${code(name)}](routes.md#${anchor(name)})`,
      permissions?.map(code).join(", ") ?? "any",
      String(weight),
      Object.keys(answers()).join(", "),
      idempotent ? "yes" : "",
      summary,
    ];
  });
  const head = ["Route", "Permission", "Weight", "Success", "Idempotency-Key", "Does"];
  return table([head, ...rows]);
}

/** The routes that are called in one way. */
export function routesTable(access: string): string {
  if (access === "signed") return signedTable();
  const rows = routeNames().map((key) => [key, rowOf(key)] as const)
    .filter(([, row]) => row.access === access)
    .map(([key, row]) => {
      const name = pathOf(key);
      const known = operations().has(name);
      return [
        known ? `[${code(name)}](routes.md#${anchor(name)})` : code(name),
        row.summary,
        Object.keys(row.answers()).join(", "),
      ];
    });
  if (rows.length === 0) throw new Error(`No route is called as ${access}`);
  return table([["Route", "Does", "Success"], ...rows]);
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
