import assert from "node:assert/strict";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

const ORIGIN = "https://app.example.com";
const config = { allowedOrigins: [ORIGIN, "http://localhost:5173"] };

function list(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? "").split(",").map((item) => item.trim()).filter(Boolean);
}

function corsHeaders(headers: Headers): string[] {
  return [...headers.keys()].filter((name) => name.startsWith("access-control-"));
}

Deno.test("a preflight of an allowed origin lists what is allowed", async () => {
  verifies("3-15", "3-16", "3-17", "3-18");
  await using svc = await startRelayer({ config });
  for (const target of ["/api/remember", "/api/memories/1", "/version", "/compat/sui"]) {
    const { status, headers, text } = await svc.plain("OPTIONS", target, undefined, {
      headers: { origin: ORIGIN, "access-control-request-method": "POST" },
    });
    assert.equal(status, 204, target);
    assert.equal(text, "");
    assert.equal(headers.get("access-control-allow-origin"), ORIGIN);
    assert.ok(list(headers, "vary").includes("origin"));
    assert.ok(headers.has("x-request-id"));
    assert.deepEqual(list(headers, "access-control-allow-methods"), [
      "GET",
      "POST",
      "PUT",
      "DELETE",
      "OPTIONS",
    ]);
    const allowed = list(headers, "access-control-allow-headers");
    for (
      const name of [
        "content-type",
        "authorization",
        "idempotency-key",
        "last-event-id",
        "mcp-session-id",
        "mcp-protocol-version",
        "x-public-key",
        "x-signature",
        "x-timestamp",
        "x-nonce",
        "x-audience",
        "x-account-id",
        "x-delegate-key",
        "x-seal-session",
        "x-request-id",
        "x-correlation-id",
        "x-svc-account-id",
        "x-svc-namespace",
        "x-memwal-account-id",
        "x-memwal-namespace",
      ]
    ) assert.ok(allowed.includes(name), name);
    assert.ok(!allowed.includes("*"));
  }
});

Deno.test("answers to an allowed origin, errors too, can be read by its pages", async () => {
  verifies("3-15", "3-17");
  await using svc = await startRelayer({ config });
  const answers = [
    await svc.plain("GET", "/version", undefined, { headers: { origin: ORIGIN } }),
    await svc.plain("POST", "/api/recall", {}, { headers: { origin: ORIGIN } }),
    await svc.plain("GET", "/nothing", undefined, { headers: { origin: ORIGIN } }),
    await svc.post("/api/stats", {}, { headers: { origin: ORIGIN } }),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [200, 401, 404, 200]);
  for (const { headers } of answers) {
    assert.equal(headers.get("access-control-allow-origin"), ORIGIN);
    assert.equal(headers.get("access-control-allow-credentials"), null);
    assert.deepEqual(list(headers, "access-control-expose-headers"), [
      "x-request-id",
      "ratelimit",
      "ratelimit-policy",
      "retry-after",
      "idempotency-replayed",
      "mcp-session-id",
      "www-authenticate",
    ]);
  }
});

Deno.test("other origins get no CORS headers", async () => {
  verifies("3-15");
  await using svc = await startRelayer({ config });
  const foreign = ["https://evil.example.com", "null", ORIGIN + ":8443", ORIGIN + "/", "*"];
  for (const origin of foreign) {
    const preflight = await svc.plain("OPTIONS", "/api/recall", undefined, { headers: { origin } });
    assert.deepEqual(corsHeaders(preflight.headers), [], origin);
    const answer = await svc.plain("GET", "/version", undefined, { headers: { origin } });
    assert.equal(answer.status, 200);
    assert.deepEqual(corsHeaders(answer.headers), [], origin);
    assert.ok(list(answer.headers, "vary").includes("origin"));
  }
  const none = await svc.plain("GET", "/version");
  assert.deepEqual(corsHeaders(none.headers), []);
});
