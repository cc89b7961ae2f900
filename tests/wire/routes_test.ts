import assert from "node:assert/strict";
import { routeNames, signedRouteName } from "../../src/wire/routes.ts";
import { verifies } from "../requirements.ts";

Deno.test("a route is known whatever its parameter is called", () => {
  verifies("15-20");
  for (const name of routeNames("signed")) assert.equal(signedRouteName(name), name);
  assert.equal(signedRouteName("GET /api/remember/:job_id"), "GET /api/remember/:id");
  assert.equal(signedRouteName("POST /api/remember/:job_id/retry"), "POST /api/remember/:id/retry");
  for (
    const other of ["GET /version", "POST /api/recal", "get /api/account", "GET /api/memories/"]
  ) {
    assert.equal(signedRouteName(other), undefined);
  }
});
