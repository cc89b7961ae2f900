import assert from "node:assert/strict";
import { SIGNED_ROUTES } from "../../src/http/router.ts";
import { SIGNED_ROUTE_NAMES, signedRouteName } from "../../src/wire/routes.ts";
import { verifies } from "../requirements.ts";

Deno.test("the names of the signed routes are those of the routes", () => {
  const routes = SIGNED_ROUTES.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(SIGNED_ROUTE_NAMES.toSorted(), routes.toSorted());
});

Deno.test("a route is known whatever its parameter is called", () => {
  verifies("15-20");
  for (const name of SIGNED_ROUTE_NAMES) assert.equal(signedRouteName(name), name);
  assert.equal(signedRouteName("GET /api/remember/:job_id"), "GET /api/remember/:id");
  assert.equal(signedRouteName("POST /api/remember/:job_id/retry"), "POST /api/remember/:id/retry");
  for (
    const other of ["GET /version", "POST /api/recal", "get /api/account", "GET /api/memories/"]
  ) {
    assert.equal(signedRouteName(other), undefined);
  }
});
