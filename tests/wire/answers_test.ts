import assert from "node:assert/strict";
import { z } from "zod";
import { exampleOf, jsonSchemaOf } from "../../src/wire/json_schema.ts";
import { routeNames, ROUTES, rowOf } from "../../src/wire/routes.ts";
import type { RouteName } from "../../src/wire/route_types.ts";
import { TOOLS } from "../../src/wire/table/tools.ts";
import { checkAnswer, type Received } from "../checked_answers.ts";
import { watched } from "../watched_answers.ts";
import { startRelayer } from "../relayer_fixture.ts";

const JSON_TYPE = "application/json";

/** Shapes of a route's answers, each with its status and media type. */
function shapesOf(name: RouteName): [status: number, type: string, shape: z.ZodType][] {
  return Object.entries(rowOf(name).answers()).flatMap(([status, shape]) =>
    shape instanceof z.ZodType
      ? [[Number(status), JSON_TYPE, shape] as [number, string, z.ZodType]]
      : Object.entries(shape).map(([type, one]): [number, string, z.ZodType] => [
        Number(status),
        type,
        one,
      ])
  );
}

function received(name: RouteName, status: number, body: unknown, type = JSON_TYPE): Received {
  const [method = "", path = ""] = name.split(" ");
  const text = typeof body === "string" && type !== JSON_TYPE ? body : JSON.stringify(body);
  return { method, path: path.replace(":id", crypto.randomUUID()), status, type, text };
}

Deno.test("the example of every answer fits its row, and says something", () => {
  for (const name of routeNames()) {
    for (const [status, type, shape] of shapesOf(name)) {
      const example = exampleOf(jsonSchemaOf(shape));
      assert.ok(example !== "", `${name} ${status}`);
      checkAnswer(received(name, status, example, type));
    }
  }
});

Deno.test("the example of every body and of every query is taken", () => {
  for (const name of routeNames()) {
    const { body, query } = rowOf(name);
    for (const shape of [body, query]) {
      if (shape !== undefined) z.parse(shape, exampleOf(jsonSchemaOf(shape)), {});
    }
  }
});

Deno.test("the examples of tools fit their rows", () => {
  for (const { input, output } of Object.values(TOOLS)) {
    z.parse(output(), exampleOf(jsonSchemaOf(output())));
    assert.equal(typeof exampleOf(jsonSchemaOf(input)), "object");
  }
});

Deno.test("an answer that does not fit the table fails", () => {
  const accepted = Object(exampleOf(jsonSchemaOf(ROUTES["POST /api/remember"].answers()[202])));
  const { job_id: _, ...less } = accepted;
  const fits = (status: number, body: unknown, name: RouteName = "POST /api/remember") =>
    checkAnswer(received(name, status, body));
  fits(202, accepted);
  assert.throws(() => fits(202, less), /job_id/);
  assert.throws(() => fits(202, { ...accepted, more: 1 }), /more/);
  assert.throws(() => fits(202, { ...accepted, recallable: "no" }), /recallable/);
  assert.throws(() => fits(200, accepted), /no such status/);
  const error = (code: string) => ({ error: "text", code, request_id: "r" });
  fits(400, error("empty_text"));
  assert.throws(() => fits(400, error("empty_query")), /empty_query is not in its row/);
  assert.throws(() => fits(404, error("empty_text")), /does not have this status/);
  assert.throws(() => fits(400, { ...error("empty_text"), status: "failed" }), /status/);
  const result = (structuredContent: unknown) => ({
    jsonrpc: "2.0",
    result: { structuredContent },
  });
  const counts = { total: 1, restored: 1, skipped: 0, failed: 0, remaining: 0 };
  fits(200, result({ namespace: "default", ...counts }), "POST /api/mcp");
  assert.throws(() => fits(200, result(counts), "POST /api/mcp"), /does not fit/);
});

Deno.test("answers of a relayer in process are checked when they are read", async () => {
  await using svc = await startRelayer();
  const { fetch } = svc.relayer;
  const url = "http://localhost/version";
  const response = await fetch(new Request(url));
  assert.notEqual(response.text, Response.prototype.text);
  await response.text();
  const preflight = watched(Response.json({ version: 1 }), "OPTIONS", url);
  assert.equal(preflight.text, Response.prototype.text);
});
