import assert from "node:assert/strict";
import { read, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { listening } from "../listening.ts";
import { verifies } from "../requirements.ts";
import { assertCase, type Case, requestOf } from "./case.ts";
import { HEADER_CASES } from "./cases_of_headers.ts";
import { ROUTE_CASES } from "./cases_of_routes.ts";
import { SHAPE_CASES } from "./cases_of_shape.ts";

async function inProcess(cases: readonly Case[]): Promise<void> {
  await using svc = await startRelayer();
  const problems: string[] = [];
  for (const item of cases) {
    const answer = await svc.fetch(requestOf(svc, item));
    try {
      assertCase(answer, item);
    } catch (error) {
      problems.push(String(error));
    }
  }
  assert.deepEqual(problems, []);
  await unchanged(svc);
}

/** None of the refused requests left anything behind. */
async function unchanged(svc: TestRelayer): Promise<void> {
  const { body } = await svc.get("/api/namespaces");
  assert.deepEqual(body, { namespaces: [], total: 0 });
  const { body: stats } = await svc.post("/api/stats", {});
  assert.equal(stats.pending, 0);
}

Deno.test("paths and methods are matched exactly, before authentication", async () => {
  verifies("3-7", "3-8", "3-10", "4.3-1", "4.3-2", "9.1-1", "10.2-2", "10.2-3", "10.9-6", "10.9-8");
  verifies("17.1-5", "17.3-9", "5-1", "5-3", "5-7", "5-16");
  await inProcess(ROUTE_CASES);
});

Deno.test("signature headers have exactly the forms of the table", async () => {
  verifies("4.1-1", "4.1-2", "4.1-3", "4.1-4", "4.1-5", "4.1-6", "4.1-7", "4.1-10");
  verifies("4.3-4", "4.3-5", "4.3-6", "4.3-8", "4.3-9", "4.3-13", "4.3-17", "4.2-8");
  await inProcess(HEADER_CASES);
});

Deno.test("bodies of the wrong shape are refused whole, and the member at fault is named", async () => {
  verifies("5-5", "5-9", "5-12", "5-13", "5-14", "3-3", "2-12", "2-13", "4.3-21");
  verifies("10.1-3", "10.1-5", "10.1-6", "10.1-7", "10.1-8", "10.3-2", "10.3-3", "10.3-5");
  verifies("10.4-4", "10.4-5", "10.4-6", "10.4-9", "10.6-1", "10.6-3", "10.6-4", "10.6-9");
  verifies("10.7-3", "10.7-13", "10.8-1", "10.10-9");
  await inProcess(SHAPE_CASES);
});

Deno.test("the same over a real port", async () => {
  await using svc = await startRelayer();
  await using server = listening(svc.relayer.fetch);
  const base = server.url;
  for (const item of [...ROUTE_CASES, ...HEADER_CASES, ...SHAPE_CASES]) {
    const { method, headers, body, url } = requestOf(svc, item);
    const target = url.slice("http://localhost:8000".length);
    const bytes = body === null ? null : await new Response(body).bytes();
    const response = await fetch(base + target, { method, headers, body: bytes });
    assertCase(await read(response), item);
  }
  await unchanged(svc);
});
