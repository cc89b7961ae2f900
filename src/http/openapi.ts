import { z } from "zod";
import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import { exampleOf, type JsonSchema, jsonSchemaOf } from "../wire/json_schema.ts";
import { IDEMPOTENCY_KEY_CHARACTERS } from "../wire/limits.ts";
import type { AnswerShape, Route } from "../wire/route.ts";
import { errorShape } from "../wire/answer_members.ts";
import { errorsOf, routeNames, rowOf } from "../wire/routes.ts";
import type { AnswerOf, RouteName } from "../wire/route_types.ts";

type Json = Record<string, unknown>;

/** Version of the routes. */
export const API_VERSION = "1.0.0";

const OBJECT_ID: JsonSchema = { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" };
const TEXT: JsonSchema = { type: "string" };
const UUID: JsonSchema = { type: "string", format: "uuid" };

function parameter(where: string, name: string, schema: JsonSchema, description?: string): Json {
  const required = where === "path" ? { required: true } : {};
  return { name, in: where, ...required, ...(description && { description }), schema };
}

/** Headers that a signed request may have. */
const SIGNED_HEADERS: readonly Json[] = [
  parameter(
    "header",
    HEADER.nonce,
    UUID,
    "Used once, in the 6-field signature; needed with a query",
  ),
  parameter(
    "header",
    HEADER.audience,
    TEXT,
    "Origin that the request is for, in the host-bound signature",
  ),
  parameter(
    "header",
    HEADER.accountId,
    OBJECT_ID,
    "Account of the key, a part of the 6-field signature",
  ),
  parameter(
    "header",
    HEADER.sealSession,
    TEXT,
    "Session that opens memories under threshold encryption",
  ),
  parameter(
    "header",
    HEADER.delegateKey,
    TEXT,
    "Private key that opens memories under threshold encryption",
  ),
];

/** Without the examples of members, which the example of the whole is made of. */
function plain(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => key === "examples" ? undefined : value),
  );
}

function content(shape: z.ZodType): Json {
  const schema = jsonSchemaOf(shape);
  return { schema: plain(schema), example: exampleOf(schema) };
}

function parameters(name: RouteName, row: Route): Json[] {
  const list: Json[] = [];
  const isSigned = row.access === "signed";
  if (name.includes(":id")) list.push(parameter("path", "id", isSigned ? UUID : OBJECT_ID));
  const { properties = {} } = row.query === undefined ? {} : plain(jsonSchemaOf(row.query));
  for (const [member, { description, ...schema }] of Object.entries(properties)) {
    list.push(parameter("query", member, schema, description as string | undefined));
  }
  if (row.idempotent) {
    const maxLength = IDEMPOTENCY_KEY_CHARACTERS;
    list.push(parameter("header", HEADER.idempotencyKey, { type: "string", maxLength }));
  }
  return isSigned ? [...list, ...SIGNED_HEADERS] : list;
}

function answer(shape: AnswerShape): Json {
  const shapes = shape instanceof z.ZodType ? { "application/json": shape } : shape;
  const description = shape instanceof z.ZodType ? shape.meta()?.description : undefined;
  const media = Object.entries(shapes).map(([type, body]) => [type, content(body)]);
  return {
    description: description ?? "Success",
    ...(media.length === 0 ? {} : { content: Object.fromEntries(media) }),
  };
}

/** An error of a route, its own rather than one that every route has. */
function errorAnswer({ errors: [code = "internal_error"] }: Route): Json {
  const { message: error } = new SvcError(code);
  const example = { error, code, request_id: "0b6c8f5e-9f0e-4d3b-8a6e-24c5d1f7a302" };
  const schema = { $ref: "#/components/schemas/Error" };
  return {
    description: "An error with a stable code",
    content: { "application/json": { schema, example } },
  };
}

function errorCodes(name: RouteName): Json {
  const byStatus = Map.groupBy(errorsOf(name), (code) => new SvcError(code).status);
  return Object.fromEntries(byStatus);
}

function operation(name: RouteName): Json {
  const row = rowOf(name);
  const { summary, permissions = [], body, optionalBody, lines } = row;
  const list = parameters(name, row);
  const answers = Object.entries(row.answers()).map(([status, shape]) => [status, answer(shape)]);
  return {
    summary,
    ...(row.access === "signed"
      ? {
        security: [{ publicKey: [], signature: [], timestamp: [] }],
        "x-permissions": permissions,
      }
      : {}),
    ...(list.length === 0 ? {} : { parameters: list }),
    ...(body === undefined ? {} : {
      requestBody: {
        required: !optionalBody,
        content: { [lines ? "application/x-ndjson" : "application/json"]: content(body) },
      },
    }),
    responses: { ...Object.fromEntries(answers), default: errorAnswer(row) },
    "x-error-codes": errorCodes(name),
  };
}

const header = (name: string, description: string): Json => ({
  type: "apiKey",
  in: "header",
  name,
  description,
});

/** The OpenAPI 3.1 description of every route but those of MCP, which has descriptions of its own. */
export function openApi(version: string): AnswerOf<"GET /openapi.json"> {
  const paths: Record<string, Json> = {};
  for (const name of routeNames()) {
    if (rowOf(name).access === "mcp") continue;
    const [method = "", path = ""] = name.replace(":id", "{id}").split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(name) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "svc memory relayer", version: API_VERSION, "x-relayer-version": version },
    paths,
    components: {
      securitySchemes: {
        publicKey: header("x-public-key", "Ed25519 public key, 64 hex characters"),
        signature: header("x-signature", "Ed25519 signature of the canonical text, 128 hex"),
        timestamp: header("x-timestamp", "Unix time in whole seconds"),
      },
      schemas: { Error: jsonSchemaOf(errorShape()) },
    },
  };
}
