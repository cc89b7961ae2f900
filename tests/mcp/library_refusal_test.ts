import assert from "node:assert/strict";
import { completeRefusal } from "../../src/mcp/sessions/sessionless.ts";
import { verifies } from "../requirements.ts";

/** Status and number of a refusal, and the code it gets. */
const ROWS = [
  [400, -32700, "malformed_json"],
  [400, -32022, "unsupported_protocol_version"],
  [404, -32601, "not_found"],
  [406, -32000, "not_acceptable"],
  [413, -32000, "body_too_large"],
  [415, -32000, "unsupported_media_type"],
  [400, -32600, "invalid_request"],
  [500, -32603, "internal_error"],
] as const;

Deno.test("refusals of the MCP library have a code and the request's id", async () => {
  verifies("5-22");
  for (const [status, number, code] of ROWS) {
    const error = { code: number, message: "no" };
    const given = Response.json({ jsonrpc: "2.0", id: null, error }, { status });
    const response = await completeRefusal(given, "r-1");
    assert.equal(response.status, status);
    const data = { code, request_id: "r-1" };
    assert.deepEqual(await response.json(), {
      jsonrpc: "2.0",
      id: null,
      error: { ...error, data },
    });
  }
});
