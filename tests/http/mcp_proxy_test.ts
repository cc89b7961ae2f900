import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { FakeSidecar, raw, serve, type Served, TOKEN } from "./fake_sidecar.ts";

const ROUTES = [
  ["GET", "/api/mcp/sse"],
  ["POST", "/api/mcp/messages?sessionId=ab%2Fc"],
  ["GET", "/api/mcp"],
  ["POST", "/api/mcp"],
  ["DELETE", "/api/mcp"],
] as const;

const post = (url: string, init: RequestInit = {}) =>
  fetch(`${url}/api/mcp`, { method: "POST", body: "{}", ...init });

/** The one shape of an error on an MCP route. */
async function assertRpcError(response: Response, status: number, code: string): Promise<void> {
  const body = await response.json();
  assert.equal(`${response.status} ${body.error?.data?.code}`, `${status} ${code}`);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.deepEqual(body, {
    jsonrpc: "2.0",
    id: null,
    error: {
      code: -32000,
      message: body.error.message,
      data: { code, request_id: response.headers.get("x-request-id") },
    },
  });
  assert.ok(!/127\.0\.0\.1|token/.test(JSON.stringify(body)));
}

async function failures({ url }: Served): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split("\n").filter((line) => line.startsWith("svc_sidecar_failures_total"));
}

Deno.test("the five routes reach the sidecar as they are; others do not exist", async () => {
  verifies("11-1");
  await using sidecar = new FakeSidecar((request) => new Response(request.method));
  await using svc = await serve({ sidecar });
  for (const [method, target] of ROUTES) {
    const body = method === "POST" ? { body: '{"a":"é"}' } : {};
    const response = await fetch(svc.url + target, { method, ...body });
    assert.equal(await response.text(), method);
    const seen = sidecar.requests.at(-1)!;
    assert.equal(seen.url, sidecar.url + target);
  }
  const wrong = await fetch(`${svc.url}/api/mcp/sse`, { method: "POST", body: "{}" });
  assert.equal(wrong.headers.get("allow"), "GET");
  await assertRpcError(wrong, 405, "method_not_allowed");
  await assertRpcError(await fetch(`${svc.url}/api/mcp/other`), 404, "not_found");
  const head = await fetch(`${svc.url}/api/mcp/sse`, { method: "HEAD" });
  assert.equal(head.status, 405);
  assert.equal(sidecar.requests.length, ROUTES.length);
  assert.equal(sidecar.challenges, 1);
});

Deno.test("only listed headers pass, and what is internal is ours", async () => {
  verifies("15-18");
  await using sidecar = new FakeSidecar();
  const config = { trustedProxies: ["127.0.0.1"] };
  await using svc = await serve({ sidecar, config });
  const given: Record<string, string> = {
    "accept": "application/json",
    "authorization": "Bearer x",
    "content-type": "application/json",
    "last-event-id": "7",
    "mcp-method": "tools/call",
    "mcp-name": "svc_recall",
    "mcp-param-region": "=?base64?SGVsbG8=?=",
    "mcp-protocol-version": "2026-07-28",
    "mcp-session-id": "s",
    "x-memwal-account-id": "0x2",
    "x-memwal-namespace": "old",
    "x-request-id": "r-1",
    "x-svc-account-id": "0x1",
    "x-svc-namespace": "work",
  };
  const forged = {
    "cookie": "c",
    "forwarded": "for=9.9.9.9",
    "x-delegate-key": "k",
    "x-forwarded-for": "203.0.113.7",
    "x-svc-client-ip": "9.9.9.9",
    "x-svc-sidecar-token": "forged",
  };
  await (await post(svc.url, { headers: { ...given, ...forged } })).body?.cancel();
  const seen = Object.fromEntries(sidecar.requests[0]!.headers);
  for (const name of ["accept-encoding", "accept-language", "host", "user-agent"]) {
    delete seen[name];
  }
  assert.deepEqual(seen, {
    ...given,
    "content-length": "2",
    "x-svc-client-ip": "203.0.113.7",
  });

  await using plain = await serve({ sidecar, config: { compatAliases: false } });
  await (await post(plain.url, { headers: given })).body?.cancel();
  const { headers } = sidecar.requests[1]!;
  assert.equal(headers.get("x-memwal-account-id"), null);
  assert.equal(headers.get("x-memwal-namespace"), null);
  assert.equal(headers.get("x-svc-client-ip"), "127.0.0.1");
});

Deno.test("no character of a target becomes a line of a head", async () => {
  await using sidecar = new FakeSidecar();
  await using svc = await serve({ sidecar });
  // Such characters are not taken by our listener, but by others.
  await using front = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    svc.relayer.fetch,
  );
  // Cut to a byte each, they are a carriage return, a line feed, and a space.
  const [cr, lf, space] = ["\u010d", "\u010a", "\u0120"];
  const forged = `x${space}HTTP/1.1${cr}${lf}x-svc-client-ip:9.9.9.9${cr}${lf}x-a:b`;
  const head = [
    `POST /api/mcp/messages?sessionId=${forged} HTTP/1.1`,
    `host: 127.0.0.1:${svc.port}`,
  ];
  const answer = await raw(front.addr.port, [...head, "content-length: 0"]);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  const [seen] = sidecar.requests;
  assert.equal(seen?.headers.get("x-svc-client-ip"), "127.0.0.1");
  assert.equal(seen?.headers.get("x-a"), null);
  assert.equal(
    seen?.url,
    `${sidecar.url}/api/mcp/messages?sessionId=${
      encodeURIComponent(forged)
        .replaceAll("%2F", "/").replaceAll("%3A", ":")
    }`,
  );
});

Deno.test("of an answer only the status, the body and listed headers pass", async () => {
  const kept = {
    "allow": "GET",
    "cache-control": "no-store",
    "content-type": "application/json",
    "mcp-session-id": "s",
    "retry-after": "3",
    "www-authenticate": 'Bearer realm="svc", error="invalid_token"',
  };
  const dropped = {
    "access-control-allow-origin": "*",
    "set-cookie": "c",
    "server": "fake",
    "x-svc-sidecar-token": TOKEN,
  };
  await using sidecar = new FakeSidecar(() =>
    new Response('{"a":1}', { status: 401, headers: { ...kept, ...dropped } })
  );
  await using svc = await serve({ sidecar });
  const response = await post(svc.url);
  assert.equal(response.status, 401);
  assert.equal(await response.text(), '{"a":1}');
  for (const [name, value] of Object.entries(kept)) {
    assert.equal(response.headers.get(name), value, name);
  }
  for (const name of Object.keys(dropped)) assert.equal(response.headers.get(name), null, name);

  sidecar.answer = () => new Response(null, { status: 202 });
  const accepted = await post(svc.url);
  assert.equal(accepted.status, 202);
  assert.equal(await accepted.text(), "");
});

Deno.test("Host must name this relayer", async () => {
  verifies("11-9");
  await using sidecar = new FakeSidecar();
  await using svc = await serve({
    sidecar,
    config: { publicUrl: "https://memory.example", allowedHosts: ["svc.internal"] },
  });
  const statusFor = async (host: string) =>
    (await raw(svc.port, ["GET /api/mcp HTTP/1.1", `host: ${host}`])).split(" ")[1];
  const allowed = [
    `127.0.0.1:${svc.port}`,
    `[::1]:${svc.port}`,
    `localhost:${svc.port}`,
    `LOCALHOST:${svc.port}`,
    "memory.example",
    "memory.example:81",
    "svc.internal:8000",
  ];
  for (const host of allowed) assert.equal(await statusFor(host), "200", host);
  const refused = [
    "127.0.0.1",
    "localhost:1",
    `192.0.2.7:${svc.port}`,
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost.",
    "memory.example.evil",
    "1.2.3",
  ];
  for (const host of refused) assert.equal(await statusFor(host), "403", host);
  const answer = await raw(svc.port, ["POST /api/mcp HTTP/1.1", "host: evil.example"]);
  assert.match(answer, /"code":"host_not_allowed"/);
  await using open = await serve({ sidecar, config: { allowedHosts: ["*"] } });
  const any = await raw(open.port, ["GET /api/mcp HTTP/1.1", "host: evil.example"]);
  assert.match(any, /^HTTP\/1\.1 200/);
});

Deno.test("Origin must be the relayer's own or an allowed one", async () => {
  verifies("11-8");
  await using sidecar = new FakeSidecar();
  const allowedOrigins = ["https://app.example"];
  await using svc = await serve({ sidecar, config: { allowedOrigins } });
  await using named = await serve({
    sidecar,
    config: { allowedOrigins, publicUrl: "https://memory.example" },
  });
  const table: readonly (readonly [Served, string, number])[] = [
    [svc, "https://app.example", 200],
    [svc, svc.url, 200],
    [svc, `http://localhost:${svc.port}`, 403],
    [svc, "https://app.example.evil", 403],
    [svc, "null", 403],
    [named, "https://memory.example", 200],
    [named, "http://memory.example", 403],
    [named, named.url, 403],
  ];
  for (const [to, origin, status] of table) {
    const response = await post(to.url, { headers: { origin } });
    if (status === 200) {
      assert.equal(response.status, 200, origin);
      await response.body?.cancel();
    } else await assertRpcError(response, 403, "origin_not_allowed");
  }
});

Deno.test("a preflight answers 204 and never reaches the sidecar", async () => {
  verifies("11-10");
  await using sidecar = new FakeSidecar();
  await using svc = await serve({ sidecar, config: { allowedOrigins: ["https://app.example"] } });
  for (const [, path] of ROUTES) {
    const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
    const response = await fetch(svc.url + path, { method: "OPTIONS", headers });
    assert.equal(response.status, 204);
    const allowed = response.headers.get("access-control-allow-headers")?.split(", ") ?? [];
    for (const name of ["authorization", "mcp-session-id", "mcp-method", "x-svc-account-id"]) {
      assert.ok(allowed.includes(name), name);
    }
  }
  assert.deepEqual([sidecar.requests.length, sidecar.challenges], [0, 0]);
});

Deno.test("a message has at most 2 MiB and no encoding", async () => {
  verifies("3-31");
  await using sidecar = new FakeSidecar((request) =>
    request.bytes().then(({ length }) => Response.json(length))
  );
  await using svc = await serve({ sidecar });
  const fits = new Uint8Array(2 * 1024 * 1024);
  assert.equal(await (await post(svc.url, { body: fits })).json(), fits.length);
  const over = new Uint8Array(fits.length + 1);
  await assertRpcError(await post(svc.url, { body: over }), 413, "body_too_large");
  // Of unknown length.
  const stream = new Blob([over]).stream();
  await assertRpcError(await post(svc.url, { body: stream }), 413, "body_too_large");
  const headers = { "content-encoding": "gzip" };
  await assertRpcError(await post(svc.url, { headers }), 415, "unsupported_media_type");
  assert.equal(sidecar.requests.length, 1);
});

Deno.test("without a sidecar, and while it is away, MCP answers 502 at once", async () => {
  verifies("11-40");
  await using none = await serve();
  await assertRpcError(await post(none.url), 502, "sidecar_unavailable");
  const { dependencies } = await (await fetch(`${none.url}/health`)).json();
  assert.equal(dependencies.sidecar.status, "disabled");

  const sidecar = new FakeSidecar();
  await using svc = await serve({ sidecar });
  await (await post(svc.url)).body?.cancel();
  await sidecar.kill();
  await assertRpcError(await post(svc.url), 502, "sidecar_unavailable");
  await using _back = new FakeSidecar(undefined, { port: sidecar.port });
  assert.equal((await (await post(svc.url)).json()).ok, true);
  assert.deepEqual(await failures(svc), ['svc_sidecar_failures_total{reason="unreachable"} 1']);
});

Deno.test("a stranger on the port gets no bearer, from the start or later", async () => {
  verifies("15-17");
  const headers = { authorization: "Bearer secret" };
  {
    await using stranger = new FakeSidecar(undefined, { knows: "guess" });
    await using svc = await serve({ sidecar: stranger });
    await assertRpcError(await post(svc.url, { headers }), 502, "sidecar_unavailable");
    assert.deepEqual([stranger.requests.length, stranger.challenges], [0, 1]);
  }
  const sidecar = new FakeSidecar();
  await using svc = await serve({ sidecar });
  // Connections to it stay in the pool.
  await Promise.all([1, 2, 3].map(async () => (await post(svc.url)).body?.cancel()));
  await sidecar.kill();
  await using stranger = new FakeSidecar(undefined, { port: sidecar.port, knows: "guess" });
  for (let i = 0; i < 3; i++) {
    await assertRpcError(await post(svc.url, { headers }), 502, "sidecar_unavailable");
  }
  assert.equal(stranger.requests.length, 0);
});

Deno.test("a connection is challenged once and used again", async () => {
  await using sidecar = new FakeSidecar();
  await using svc = await serve({ sidecar });
  for (let i = 0; i < 20; i++) await (await post(svc.url)).json();
  assert.equal(sidecar.challenges, 1);
  await Promise.all(Array.from({ length: 20 }, async () => (await post(svc.url)).json()));
  assert.ok(sidecar.challenges <= 20);
});

Deno.test("a bearer that may be a key is not taken over plain HTTP from another machine", async () => {
  verifies("11-44");
  await using sidecar = new FakeSidecar();
  // A proxy on this machine makes clients of other ones.
  const proxy = { trustedProxies: ["127.0.0.1"] };
  await using svc = await serve({ sidecar, config: proxy });
  const from = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http" };
  const send = (url: string, bearer: string, more: Record<string, string> = from) =>
    post(url, { headers: { ...more, authorization: bearer } });
  for (const bearer of ["Bearer " + "ab".repeat(32), "bearer suiprivkey1x", "Basic eA==", "x"]) {
    await assertRpcError(await send(svc.url, bearer), 403, "key_over_plain_http");
  }
  assert.equal(sidecar.requests.length, 0);
  const token = `bearer svct1.${"A".repeat(200)}`;
  const secure = { ...from, "x-forwarded-proto": "https" };
  await using open = await serve({ sidecar, config: { ...proxy, allowKeyOverHttp: true } });
  for (
    const [url, bearer, headers, why] of [
      [svc.url, token, from, "a token"],
      [svc.url, "Bearer x", secure, "TLS at the proxy"],
      [svc.url, "Bearer x", {}, "this machine"],
      [open.url, "Bearer x", from, "it is allowed"],
    ] as const
  ) {
    const response = await send(url, bearer, headers);
    await response.text();
    assert.equal(response.status, 200, why);
  }
});
