import { z } from "zod";
import { count, flag, objectId, text } from "../answer_members.ts";
import { COMPAT_SUI_BODY_BYTES } from "../limits.ts";
import type { RouteRows } from "../route.ts";

const version = () => ({
  relayerVersion: text("Version of the program", "0.1.0"),
  apiVersion: text("Version of these routes", "1.0.0"),
  minSupportedSdk: z.strictObject({
    typescript: text("Of the client in TypeScript", "0.0.1"),
    python: text("Of the client in Python", "0.1.0"),
    mcp: text("Of the stdio package", "0.0.1"),
  }).describe("Oldest clients that work"),
  featureFlags: z.record(z.string(), z.boolean()).meta({
    description: "What is built",
    examples: [{ "recall.hybrid": true }],
  }),
  deprecations: z.array(z.strictObject({
    surface: text("What will be removed"),
    deprecatedSince: text("Version since which it is deprecated"),
    removalApiVersion: text("Version without it"),
    guidance: text("What to use instead"),
  })).meta({ examples: [[]] }),
  build: z.strictObject({
    commit: text("Commit it was built from").optional(),
    buildTimestamp: text("When it was built").optional(),
  }),
});

const health = () =>
  z.strictObject({
    status: z.enum(["ok", "degraded", "unavailable"]).describe("Whether a write can be accepted"),
    version: text("Version of the program", "0.1.0"),
    mode: z.literal("production"),
    prompt_versions: z.strictObject({
      extract: text("Of the instructions that extract facts", "1"),
      ask: text("Of the instructions that answer questions", "1"),
    }),
    dependencies: z.record(
      z.string(),
      z.looseObject({ status: z.enum(["ok", "degraded", "down", "disabled"]) }),
    ).meta({
      description: "State of each dependency by its name",
      examples: [{ queue: { status: "ok", pending: 0, oldest_seconds: 0 } }],
    }),
    ...version(),
  });

/** The package, or that there is no such object. */
const packageRead = () =>
  z.union([
    z.strictObject({
      data: z.looseObject({
        objectId: objectId("Package of the accounts"),
        type: text("Its kind", "package"),
      }),
    }),
    z.strictObject({
      error: z.strictObject({
        code: z.literal("notExists"),
        object_id: text("Id that was asked for"),
      }),
    }),
  ]);

const rpcId = () => z.union([z.string(), z.number(), z.null()]).meta({ examples: [1] });

/** What anybody may ask of a relayer. */
export const PUBLIC = {
  "GET /health": {
    access: "public",
    summary: "Whether a write can be accepted",
    answers: () => ({
      200: health(),
      503: health().meta({ description: "No write can be accepted; the body says why" }),
    }),
    errors: [],
  },
  "GET /.well-known/svc-receipt-key": {
    access: "public",
    summary: "The key that signs receipts of deletions",
    answers: () => ({
      200: z.strictObject({
        algorithm: z.literal("Ed25519"),
        public_key: text("64 hex characters", "a4".repeat(32)),
      }),
    }),
    errors: [],
  },
  "GET /version": {
    access: "public",
    summary: "Versions and feature flags",
    answers: () => ({ 200: z.strictObject(version()) }),
    errors: [],
  },
  "GET /config": {
    access: "public",
    summary: "Deployment metadata",
    answers: () => ({
      200: z.strictObject({
        packageId: objectId("Package of the accounts"),
        network: z.enum(["mainnet", "testnet", "localnet"]).meta({
          description: "Network of the chain",
          examples: ["localnet"],
        }),
        suiRpcUrl: text("Chain node for clients", "http://localhost:8000/compat/sui"),
        rateLimitDisabled: flag("Whether limits are off", false),
        registryId: text("Registry of the accounts").optional(),
        embeddingModel: text("Name of the embedder's model", "use-lite"),
        embeddingDimensions: count("Length of a vector", 384),
        nonceRequired: flag("Whether the 4-field signature is refused", false),
        sponsorEnabled: flag("Whether transactions are paid for", false),
        mcpUrl: text("Address of the MCP endpoint", "http://localhost:8000/api/mcp"),
      }),
    }),
    errors: [],
  },
  "GET /openapi.json": {
    access: "public",
    summary: "This description",
    answers: () => ({
      200: z.strictObject({
        openapi: text("Version of OpenAPI", "3.1.0"),
        info: z.record(z.string(), z.string()).meta({ examples: [{ version: "1.0.0" }] }),
        paths: z.record(z.string(), z.unknown()).meta({ examples: [{}] }),
        components: z.record(z.string(), z.unknown()).meta({ examples: [{}] }),
      }),
    }),
    errors: [],
  },
  "GET /metrics": {
    access: "public",
    summary: "Prometheus text, for this machine only",
    answers: () => ({
      200: { "text/plain; version=0.0.4": text("Metrics", "svc_http_requests_in_flight 1\n") },
    }),
    errors: ["metrics_forbidden"],
  },
  "POST /compat/sui": {
    access: "public",
    summary: "Package read for published clients",
    bodyBytes: COMPAT_SUI_BODY_BYTES,
    // Any JSON is answered; this is what makes sense.
    body: z.unknown().meta({
      type: "object",
      properties: { method: { type: "string" }, params: { type: "array", items: {} } },
      required: ["method"],
      examples: [{ jsonrpc: "2.0", id: 1, method: "sui_getObject", params: [] }],
    }),
    answers: () => ({
      200: z.union([
        z.strictObject({
          jsonrpc: z.literal("2.0"),
          id: rpcId(),
          result: z.union([packageRead(), z.array(packageRead())]),
        }),
        z.strictObject({
          jsonrpc: z.literal("2.0"),
          id: rpcId(),
          error: z.strictObject({ code: z.int(), message: z.string() }),
        }),
      ]),
    }),
    errors: ["rate_limited"],
  },
} as const satisfies RouteRows;
