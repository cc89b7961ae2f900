import assert from "node:assert/strict";
import { z } from "zod";
import { routeNames } from "../../src/wire/routes.ts";
import { type Json, startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

const EMPTY = ["get /oauth/authorize 302", "post /oauth/revoke 200"];
const METHODS = ["get", "post", "put", "delete"];

Deno.test("the description is OpenAPI 3.1 and names every route", async () => {
  verifies("9-13");
  await using svc = await startRelayer();
  const { status, body } = await svc.plain("GET", "/openapi.json");
  assert.equal(status, 200);
  assert.match(body.openapi, /^3\.1\.\d+$/);
  assert.equal(typeof body.info.title, "string");
  assert.equal(body.info.version, "1.0.0");
  const described = Object.entries<Json>(body.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
  );
  const signed = routeNames("signed").map((name) => name.replace(":id", "{id}"));
  const open = [
    "GET /health",
    "GET /version",
    "GET /.well-known/svc-receipt-key",
    "GET /config",
    "GET /openapi.json",
    "GET /metrics",
    "POST /sponsor",
    "POST /sponsor/execute",
    "POST /compat/sui",
    "POST /accounts",
    "POST /accounts/challenge",
    "POST /accounts/open",
    "POST /accounts/{id}/keys",
    "POST /accounts/{id}/keys/remove",
    "POST /accounts/{id}/keys/remove_all",
    "POST /accounts/{id}/deactivate",
    "POST /accounts/{id}/reactivate",
    "GET /.well-known/oauth-authorization-server/oauth",
    "GET /.well-known/oauth-protected-resource/api/mcp/connect",
    "GET /oauth/authorize",
    "POST /oauth/register",
    "POST /oauth/token",
    "POST /oauth/revoke",
    "POST /oauth/consent",
    "POST /oauth/consent/approve",
    "POST /oauth/consent/deny",
  ];
  assert.deepEqual(described.toSorted(), [...signed, ...open].toSorted());
});

Deno.test("every operation has a summary, its parameters, answers and known references", async () => {
  verifies("9-13");
  await using svc = await startRelayer();
  const { body, text } = await svc.plain("GET", "/openapi.json");
  for (const [path, item] of Object.entries<Json>(body.paths)) {
    assert.match(path, /^\//);
    for (const [method, operation] of Object.entries<Json>(item)) {
      const name = `${method} ${path}`;
      assert.ok(METHODS.includes(method), name);
      assert.ok(operation.summary.length > 5, name);
      for (const [status, answer] of Object.entries<Json>(operation.responses)) {
        assert.match(status, /^([1-5](\d\d|XX)|default)$/, name);
        assert.equal(typeof answer.description, "string", name);
      }
      const inPath = (operation.parameters ?? []).filter((one: Json) => one.in === "path");
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      assert.deepEqual(inPath.map((one: Json) => one.name), wanted, name);
      for (const parameter of inPath) assert.equal(parameter.required, true, name);
      for (const parameter of operation.parameters ?? []) assert.ok(parameter.schema, name);
      for (const scheme of operation.security?.flatMap(Object.keys) ?? []) {
        assert.ok(scheme in body.components.securitySchemes, name);
      }
      assert.equal(operation.security !== undefined, path.startsWith("/api/"), name);
    }
  }
  for (const [, pointer = ""] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    let target = body;
    for (const part of pointer.split("/")) target = target?.[part];
    assert.ok(target !== undefined, pointer);
  }
});

Deno.test("bodies are described with the members they need", async () => {
  verifies("9-13");
  await using svc = await startRelayer();
  const { body } = await svc.plain("GET", "/openapi.json");
  const schema = (path: string) =>
    body.paths[path].post.requestBody.content["application/json"].schema;
  const remember = schema("/api/remember");
  assert.equal(remember.type, "object");
  assert.deepEqual(remember.required, ["text"]);
  assert.deepEqual(Object.keys(remember.properties).toSorted(), [
    "deduplicate",
    "expires_at",
    "importance",
    "key",
    "metadata",
    "namespace",
    "occurred_at",
    "position",
    "secrets",
    "session",
    "supersedes",
    "text",
    "trust",
    "valid_from",
    "valid_to",
  ]);
  assert.deepEqual(schema("/api/recall").required, ["query"]);
  assert.deepEqual(schema("/api/restore").required, ["namespace"]);
  assert.equal(schema("/api/stats").required, undefined);
  const bulk = schema("/api/remember/bulk");
  assert.deepEqual(bulk.required, ["items"]);
  // What is asked for about secrets is asked for all items.
  const { secrets, deduplicate: _, ...members } = remember.properties;
  assert.deepEqual(bulk.properties.items.items.properties, members);
  assert.deepEqual(bulk.properties.secrets, secrets);
  const manual = schema("/api/remember/manual");
  assert.deepEqual(manual.required, ["vector"]);
  for (const { properties } of [remember, manual, schema("/api/recall")]) {
    for (const [name, member] of Object.entries<Json>(properties)) {
      assert.ok(typeof member.type === "string", name);
    }
  }
});

Deno.test("every POST of an account has its body, and every signed route its headers", async () => {
  verifies("9-13");
  await using svc = await startRelayer();
  const { body } = await svc.plain("GET", "/openapi.json");
  for (const [path, { post }] of Object.entries<Json>(body.paths)) {
    if (post !== undefined) assert.ok(post.requestBody !== undefined, path);
  }
  const keys = body.paths["/accounts/{id}/keys"].post.requestBody.content["application/json"];
  assert.deepEqual(keys.schema.required, ["challenge", "signature", "params"]);
  assert.deepEqual(keys.schema.properties.params.required, [
    "public_key",
    "label",
    "permissions",
    "proof",
  ]);
  const { parameters } = body.paths["/api/recall"].post;
  assert.deepEqual(
    parameters.map(({ name }: Json) => name),
    ["x-nonce", "x-audience", "x-account-id", "x-seal-session", "x-delegate-key"],
  );
});

Deno.test("answers that are neither success nor error are described", async () => {
  verifies("9-13");
  await using svc = await startRelayer();
  const { body } = await svc.plain("GET", "/openapi.json");
  assert.ok("202" in body.paths["/api/remember/manual"].post.responses);
  assert.ok("503" in body.paths["/health"].get.responses);
});

/** Objects and lists of a schema that say nothing about what they hold, by their paths. */
function bareParts(schema: Json, path: string): string[] {
  const { type, properties, additionalProperties, items, anyOf = [] } = schema;
  const isBare = Object.keys(schema).length === 0 ||
    type === "object" && !properties && !additionalProperties ||
    type === "array" && !items;
  return [
    ...(isBare ? [path] : []),
    ...Object.entries<Json>(properties ?? {}).flatMap(([name, member]) =>
      bareParts(member, `${path}.${name}`)
    ),
    ...(items ? bareParts(items, `${path}[]`) : []),
    ...anyOf.flatMap((one: Json) => bareParts(one, path)),
  ];
}

Deno.test("every answer has a schema that says something, and an example that fits it", async () => {
  verifies("9-13");
  await using svc = await startRelayer();
  const { body } = await svc.plain("GET", "/openapi.json");
  for (const [path, item] of Object.entries<Json>(body.paths)) {
    for (const [method, { responses }] of Object.entries<Json>(item)) {
      const statuses = Object.keys(responses);
      assert.ok(statuses.length > 1 && statuses.includes("default"), `${method} ${path}`);
      for (const [status, { content }] of Object.entries<Json>(responses)) {
        const name = `${method} ${path} ${status}`;
        // A redirect, and what has nothing to say.
        if (content === undefined && EMPTY.includes(name)) continue;
        assert.ok(Object.keys(content).length > 0, name);
        for (const { schema, example } of Object.values<Json>(content)) {
          const inner = schema.$ref === "#/components/schemas/Error"
            ? body.components.schemas.Error
            : schema;
          assert.ok(inner.anyOf ?? inner.type, name);
          assert.deepEqual(bareParts(inner, name), []);
          z.parse(z.fromJSONSchema(inner), example);
          assert.notEqual(example, "", name);
        }
      }
    }
  }
});

Deno.test("every body has a schema and an example", async () => {
  verifies("9-13");
  await using svc = await startRelayer();
  const { body } = await svc.plain("GET", "/openapi.json");
  for (const [path, item] of Object.entries<Json>(body.paths)) {
    for (const { requestBody } of Object.values<Json>(item)) {
      if (requestBody === undefined) continue;
      const [{ schema, example }] = Object.values<Json>(requestBody.content);
      assert.ok(Object.keys(schema).length > 0, path);
      assert.ok(example !== undefined && example !== "", path);
    }
  }
});
