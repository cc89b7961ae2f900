import { openApi } from "../../src/http/openapi.ts";
import { SIGNED_ROUTES } from "../../src/http/router.ts";
import { VERSION } from "../../src/wire/version.ts";
import { code, table } from "./markdown.ts";
import { broken, type Schema, shape } from "./shape.ts";

interface Content {
  readonly content?: { readonly "application/json"?: { readonly schema: Schema } };
}

/** As much of an OpenAPI operation as is shown. */
interface Operation {
  readonly summary: string;
  readonly requestBody?: Content;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
  }[];
  readonly responses: Readonly<Record<string, Content>>;
}

const { paths } = openApi(SIGNED_ROUTES, VERSION) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const schemaOf = ({ content }: Content): Schema | undefined =>
  content?.["application/json"]?.schema;

/** A route with its request and its answers, in a block of code. */
export function routeText(name: string): string {
  const [method = "", path = ""] = name.split(" ");
  const route = paths[path]?.[method.toLowerCase()];
  if (route === undefined) throw new Error(`There is no route ${name}`);
  const query = route.parameters?.filter((one) => one.in === "query").map((one) => one.name) ?? [];
  const lines = [name + (query.length === 0 ? "" : `?${query.join("=&")}=`)];
  const request = route.requestBody && schemaOf(route.requestBody);
  if (request?.properties !== undefined) lines.push(shape(request));
  for (const [status, answer] of Object.entries(route.responses)) {
    const schema = schemaOf(answer);
    if (status === "default" || schema?.properties === undefined) continue;
    lines.push(`→ ${status} ${shape(schema)}`);
  }
  return ["```", ...lines.map(broken), "```"].join("\n");
}

/** Every signed route with its permission, its weight and its success. */
export function signedRoutesTable(): string {
  const rows = SIGNED_ROUTES.map((route) => [
    code(`${route.method} ${route.path.replace(/:\w+/, "{id}")}`),
    route.permissions.map(code).join(", ") || "any",
    String(route.weight),
    String(route.success),
    route.idempotent ? "yes" : "",
    route.summary,
  ]);
  const head = ["Route", "Permission", "Weight", "Success", "Idempotency-Key", "Does"];
  return table([head, ...rows]);
}
