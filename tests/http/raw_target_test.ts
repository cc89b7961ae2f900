import assert from "node:assert/strict";
import { bodyBytes, signedHeaders, startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { listening } from "../listening.ts";
import { headOf, rawRequest } from "./raw_request.ts";

Deno.test("the target is matched as received, with nothing resolved or decoded", async () => {
  verifies("3-7", "3-8", "4.2-4");
  await using svc = await startRelayer();
  await using server = listening(svc.relayer.fetch);
  const { port } = server;
  const targets: readonly (readonly [target: string, status: number])[] = [
    ["/health", 200],
    ["/health?a=/../b", 200],
    ["/api/../health", 404],
    ["/api/%2e%2e/health", 404],
    ["/./health", 404],
    ["/health/.", 404],
    ["//health", 404],
    ["/%68ealth", 404],
    ["/health%20", 404],
    ["/health;a=b", 404],
    ["/api/recall/..", 404],
    ["/api/memories/../account", 404],
    ["/api/memories/%2e%2e", 401],
    ["/api/memories/..", 401],
  ];
  for (const [target, status] of targets) {
    const answer = await rawRequest(port, headOf("GET", target));
    assert.equal(answer.status, status, target);
    assert.ok(answer.headers.has("x-request-id"), target);
  }
});

Deno.test("odd targets and hosts never reach another route, and never a bug", async () => {
  verifies("3-7", "5-17");
  await using svc = await startRelayer();
  await using server = listening(svc.relayer.fetch);
  const { port } = server;
  const heads: readonly (readonly [head: string, statuses: readonly number[]])[] = [
    [headOf("GET", "/nothing#/health"), [400, 404]],
    [headOf("GET", "/nothing\\..\\health"), [400, 404]],
    [headOf("GET", "http://elsewhere.example/health"), [400]],
    [headOf("GET", "http://127.0.0.1/health"), [200]],
    [headOf("GET", "http://127.0.0.1/api/../health"), [404]],
    [headOf("GET", "http://elsewhere.example"), [400, 404]],
    [headOf("OPTIONS", "*"), [400, 404]],
    [headOf("GET", "health"), [400, 404]],
    [headOf("GET", "/nothing", [], "127.0.0.1/health?"), [400, 403]],
    [headOf("GET", "/nothing", [], "a/../b@c"), [400, 403]],
    [headOf("GET", "/health", [], "a@b"), [400, 403]],
    [headOf("GET", "/health", [], "[::1"), [400, 403]],
    [headOf("GET", "/health", [], "a b"), [400, 403]],
    [headOf("GET", "/health", [], "127.0.0.1:123456"), [400, 403]],
    [headOf("GET", "/health", [], "[::1]:8000"), [200]],
    [headOf("GET", "/health", [], "Example.COM:80"), [200]],
  ];
  for (const [head, statuses] of heads) {
    const { status } = await rawRequest(port, head);
    assert.ok(statuses.includes(status), `${head.slice(0, 80)} -> ${status}`);
  }
});

Deno.test("signatures cover the raw target, query included", async () => {
  verifies("4.2-2", "4.2-4", "4.2-5", "4.2-8");
  await using svc = await startRelayer();
  await using server = listening(svc.relayer.fetch);
  const { port } = server;
  await svc.remember("tea", { namespace: "a b/c" });
  const list = async (sent: string, signed = sent) => {
    const headers = signedHeaders(svc.key, "GET", signed, undefined, svc.clock.seconds);
    const { status, body } = await rawRequest(port, headOf("GET", sent, headers));
    return status === 200 ? body.memories.length : body.code;
  };
  const path = "/api/memories";
  assert.equal(await list(`${path}?namespace=a%20b%2Fc`), 1);
  assert.equal(await list(`${path}?namespace=a%20b%2fc`), 1);
  assert.equal(await list(`${path}?namespace=a+b/c`), 1);
  assert.equal(await list(`${path}?namespace=%61+b/c`), 1);
  assert.equal(await list(`${path}?n%61mespace=a+b/c&namespace=other`), 1);
  assert.equal(await list(`${path}?namespace=a+b/c&note=%FF&%FF=1`), 1);
  assert.equal(await list(path), 0);
  const invalid = "signature_invalid";
  assert.equal(await list(`${path}?namespace=a%20b%2fc`, `${path}?namespace=a%20b%2Fc`), invalid);
  assert.equal(await list(`${path}?namespace=a+b/c`, `${path}?namespace=a%20b/c`), invalid);
  assert.equal(await list(`${path}?namespace=a`, path), invalid);
  assert.equal(await list(path, `${path}?namespace=a`), invalid);
  // A question mark alone is part of the target as received, yet no query.
  assert.ok([0, invalid].includes(await list(`${path}?`)));
});

Deno.test("repeated headers are refused over a real port too", async () => {
  verifies("4.1-10");
  await using svc = await startRelayer();
  await using server = listening(svc.relayer.fetch);
  const bytes = bodyBytes({});
  for (const name of ["x-public-key", "x-signature", "x-timestamp", "x-nonce"]) {
    const headers = signedHeaders(svc.key, "POST", "/api/stats", bytes, svc.clock.seconds);
    const lines = [...headers, ["content-length", "2"] as const];
    const repeated = [...lines, [name, headers.get(name) ?? ""] as const];
    const { port } = server;
    const once = await rawRequest(port, headOf("POST", "/api/stats", lines), "{}");
    assert.equal(once.status, 200, name);
    const twice = await rawRequest(port, headOf("POST", "/api/stats", repeated), "{}");
    const code = name === "x-nonce" ? "nonce_invalid" : "auth_header_invalid";
    assert.equal(twice.body.code, code);
  }
});
