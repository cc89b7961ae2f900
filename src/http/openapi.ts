import { z } from "zod";
import { HEADER } from "../wire/headers.ts";
import { SponsorBody, SponsorExecuteBody } from "../wire/sponsor_schemas.ts";
import type { SignedRoute } from "./route.ts";
import { OWNER_BODIES } from "./routes/owner.ts";
import { API_VERSION } from "./routes/public.ts";

type Json = Record<string, unknown>;

interface PublicRoute {
  readonly path: string;
  readonly method: string;
  readonly summary: string;
  readonly schema?: z.ZodType;
}

const PUBLIC: readonly PublicRoute[] = [
  { path: "/health", method: "get", summary: "Whether a write can be accepted" },
  { path: "/version", method: "get", summary: "Versions and feature flags" },
  { path: "/config", method: "get", summary: "Deployment metadata" },
  { path: "/openapi.json", method: "get", summary: "This description" },
  { path: "/metrics", method: "get", summary: "Prometheus text, for this machine only" },
  {
    path: "/sponsor",
    method: "post",
    summary: "Have a transaction paid for",
    schema: SponsorBody,
  },
  {
    path: "/sponsor/execute",
    method: "post",
    summary: "Execute a sponsored transaction",
    schema: SponsorExecuteBody,
  },
  {
    path: "/compat/sui",
    method: "post",
    summary: "Package read for published clients",
    schema: z.object({ method: z.string(), params: z.array(z.unknown()).optional() }),
  },
  { path: "/accounts/challenge", method: "post", summary: "A text for the owner's wallet to sign" },
  { path: "/accounts", method: "post", summary: "Create an embedded account" },
  { path: "/accounts/open", method: "post", summary: "The owner's account, made when missing" },
  { path: "/accounts/{id}/keys", method: "post", summary: "Add a delegate key" },
  { path: "/accounts/{id}/keys/remove", method: "post", summary: "Remove a delegate key" },
  { path: "/accounts/{id}/deactivate", method: "post", summary: "Deactivate an account" },
  { path: "/accounts/{id}/reactivate", method: "post", summary: "Reactivate an account" },
];

const ERROR: Json = {
  description: "An error with a stable code",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

const ACCOUNT_ID: Json = {
  name: "id",
  in: "path",
  required: true,
  schema: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
};

const SUCCESS: Json = {
  description: "Success",
  content: { "application/json": { schema: { type: "object" } } },
};

/** Answers beside success and error. */
const FURTHER: Readonly<Record<string, Json>> = {
  "/health": {
    503: { ...SUCCESS, description: "No write can be accepted; the body says why" },
  },
  "/api/remember/manual": {
    202: { ...SUCCESS, description: "Accepted; the job stores the blob" },
  },
};

/** Headers that a signed request may have. */
const SIGNED_HEADERS: readonly Json[] = [
  {
    name: HEADER.nonce,
    in: "header",
    description: "Used once, in the 6-field signature; needed with a query",
    schema: { type: "string", format: "uuid" },
  },
  {
    name: HEADER.accountId,
    in: "header",
    description: "Account of the key, a part of the 6-field signature",
    schema: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  },
  {
    name: HEADER.sealSession,
    in: "header",
    description: "Session that opens memories under threshold encryption",
    schema: { type: "string" },
  },
  {
    name: HEADER.delegateKey,
    in: "header",
    description: "Private key that opens memories under threshold encryption",
    schema: { type: "string" },
  },
];

/** Members that a rule transforms say themselves what is sent, in the schema's `meta`. */
function bodySchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // What has a default need not be sent, and unknown members are ignored.
      const { properties = {}, required = [] } = jsonSchema;
      const needed = required.filter((name) => {
        const member = properties[name];
        return typeof member !== "object" || !("default" in member);
      });
      if (needed.length === 0) delete jsonSchema.required;
      else jsonSchema.required = needed;
      delete jsonSchema.additionalProperties;
    },
  });
  return rest;
}

function parameters(route: SignedRoute): Json[] {
  const list: Json[] = [];
  if (route.path.includes(":id")) {
    list.push({
      name: "id",
      in: "path",
      required: true,
      schema: { type: "string", format: "uuid" },
    });
  }
  if (route.takesQuery) {
    const names = route.path === "/api/memories"
      ? ["namespace", "limit", "cursor", "order", "text"]
      : ["limit", "cursor"];
    for (const name of names) list.push({ name, in: "query", schema: { type: "string" } });
  }
  if (route.idempotent) {
    list.push({
      name: "idempotency-key",
      in: "header",
      schema: { type: "string", maxLength: 128 },
    });
  }
  return [...list, ...SIGNED_HEADERS];
}

function requestBody(schema: z.ZodType, required: boolean): Json {
  return { required, content: { "application/json": { schema: bodySchema(schema) } } };
}

function operation(route: SignedRoute): Json {
  return {
    summary: route.summary,
    security: [{ publicKey: [], signature: [], timestamp: [] }],
    "x-permissions": route.permissions,
    parameters: parameters(route),
    ...(route.schema === undefined
      ? {}
      : { requestBody: requestBody(route.schema, !route.optionalBody) }),
    responses: { [route.success]: SUCCESS, ...FURTHER[route.path], default: ERROR },
  };
}

/** The OpenAPI 3.1 description of the routes. */
export function openApi(routes: readonly SignedRoute[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const { path, method, summary, schema = OWNER_BODIES[path] } of PUBLIC) {
    paths[path] = {
      ...paths[path],
      [method]: {
        summary,
        ...(path.includes("{id}") ? { parameters: [ACCOUNT_ID] } : {}),
        ...(schema === undefined ? {} : { requestBody: requestBody(schema, true) }),
        responses: { "2XX": { description: "Success" }, ...FURTHER[path], default: ERROR },
      },
    };
  }
  for (const route of routes) {
    const path = route.path.replace(":id", "{id}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  const header = (name: string, description: string): Json => ({
    type: "apiKey",
    in: "header",
    name,
    description,
  });
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
      schemas: {
        Error: {
          type: "object",
          required: ["error", "code", "request_id"],
          properties: {
            error: { type: "string", description: "Text for people; may change" },
            code: { type: "string", description: "Stable name" },
            request_id: { type: "string" },
            field: { type: "string" },
            layer: { type: "string" },
            limit: { type: "string" },
            retry_after_seconds: { type: "integer" },
          },
        },
      },
    },
  };
}
