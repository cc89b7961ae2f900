import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import { startRelayer, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { REDIRECT, startOAuth, WEB } from "./fixture.ts";

const METADATA = "/.well-known/oauth-protected-resource/api/mcp/connect";
const SERVER = "/.well-known/oauth-authorization-server/oauth";

Deno.test("the resource has the name under which it is asked for, if that is the relayer's", async () => {
  verifies("11.1-3", "11.1-4");
  const resourceOf = async (config: object, host: string, base?: string) => {
    await using svc = await startRelayer({ config });
    if (base !== undefined) svc.relayer.listensAt(base);
    const { body } = await svc.plain("GET", METADATA, undefined, { headers: { host } });
    assert.deepEqual(body.authorization_servers, [
      `${(config as { publicUrl?: string }).publicUrl ?? base}/oauth`,
    ]);
    return body.resource;
  };
  const here = "http://127.0.0.1:8000";
  const path = "/api/mcp/connect";
  assert.equal(await resourceOf({}, "127.0.0.1:8000", here), here + path);
  assert.equal(await resourceOf({}, "localhost:8000", here), `http://localhost:8000${path}`);
  assert.equal(await resourceOf({}, "evil.example", here), here + path);
  assert.equal(await resourceOf({}, "localhost:8001", here), here + path);
  const publicUrl = "https://memory.example";
  assert.equal(await resourceOf({ publicUrl }, "memory.example", here), publicUrl + path);
  assert.equal(await resourceOf({ publicUrl }, "evil.example", here), publicUrl + path);
  assert.equal(await resourceOf({ publicUrl }, "127.0.0.1:8000", here), here + path);
  const allowedHosts = ["other.example"];
  assert.equal(
    await resourceOf({ publicUrl, allowedHosts }, "other.example", here),
    `https://other.example${path}`,
  );
});

Deno.test("pages of any origin may ask as apps, and only the dashboard's as its owner", async () => {
  verifies("11.1-6", "11.1-18");
  await using svc = await startRelayer();
  const allowed = async (method: string, path: string, origin: string) => {
    const headers = { origin, host: "127.0.0.1:8000" };
    const answer = await svc.plain(method, path, undefined, { headers });
    const preflight = await svc.plain("OPTIONS", path, undefined, { headers });
    const header = "access-control-allow-origin";
    assert.equal(preflight.headers.get(header), answer.headers.get(header), path);
    return answer.headers.get(header);
  };
  const stranger = "https://app.example";
  for (
    const [method, path] of [
      ["GET", METADATA],
      ["GET", SERVER],
      ["POST", "/oauth/register"],
      ["POST", "/oauth/token"],
      ["POST", "/oauth/revoke"],
    ] as const
  ) assert.equal(await allowed(method, path, stranger), "*");
  for (const path of ["/oauth/consent", "/oauth/consent/approve", "/oauth/consent/deny"]) {
    assert.equal(await allowed("POST", path, stranger), null);
    assert.equal(await allowed("POST", path, WEB), WEB);
  }
  assert.equal(await allowed("POST", "/api/mcp/connect", stranger), null);
});

Deno.test("others on the network read along: nothing but the metadata is answered", async () => {
  verifies("11.1-20");
  const asks = [
    ["GET", "/oauth/authorize", undefined],
    ["POST", "/oauth/register", {}],
    ["POST", "/oauth/token", {}],
    ["POST", "/oauth/revoke", {}],
    ["POST", "/oauth/consent", {}],
    ["POST", "/oauth/consent/approve", {}],
    ["POST", "/oauth/consent/deny", {}],
  ] as const;
  for (const [allowKeyOverHttp, publicUrl] of [[false, undefined], [true, undefined]] as const) {
    await using svc = await startRelayer({ config: { allowKeyOverHttp, publicUrl } });
    const headers = { host: "127.0.0.1:8000", origin: WEB };
    for (const [method, path, body] of asks) {
      const answer = await svc.plain(method, path, body, { peer: "192.168.1.7", headers });
      const isRefused = answer.body?.code === "key_over_plain_http";
      assert.equal(isRefused, !allowKeyOverHttp, path);
    }
    for (const path of [METADATA, SERVER]) {
      assert.equal((await svc.plain("GET", path, undefined, { peer: "192.168.1.7" })).status, 200);
    }
  }
});

Deno.test("whoever asks too often waits", async () => {
  verifies("11.1-29");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock, config: { rateLimit: DEFAULT_CONFIG.rateLimit } });
  const headers = { host: "127.0.0.1:8000", origin: WEB };
  const limits: [method: string, path: string, body: unknown, times: number][] = [
    ["GET", METADATA, undefined, 120],
    ["GET", "/oauth/authorize", undefined, 30],
    ["POST", "/oauth/register", { redirect_uris: [REDIRECT] }, 20],
    ["POST", "/oauth/token", {}, 60],
    ["POST", "/oauth/consent", { request: "" }, 30],
  ];
  for (const [method, path, body, times] of limits) {
    const ask = async (peer: string) => {
      const { status, body: answer } = await svc.plain(method, path, body, { headers, peer });
      return status === 429 ? answer.code : "answered";
    };
    for (let i = 0; i < times; i++) {
      assert.equal(await ask("127.0.0.1"), "answered", `${path} ${i}`);
    }
    assert.equal(await ask("127.0.0.1"), "rate_limited", path);
    assert.equal(await ask("127.0.0.2"), "answered", path);
  }
});

Deno.test("what is refused is said in the words of OAuth", async () => {
  verifies("11.1-28");
  await using test = await startOAuth();
  const unsupported = await test.form("/oauth/token", { grant_type: "client_credentials" });
  assert.deepEqual(unsupported.body, {
    error: "unsupported_grant_type",
    error_description: "grant_type must be authorization_code or refresh_token",
  });
  assert.equal((await test.form("/oauth/token", {})).body.error, "invalid_request");
  const grant_type = "authorization_code";
  assert.equal((await test.form("/oauth/token", { grant_type })).body.error, "invalid_request");
  // What HTTP refuses is refused as everywhere.
  const json = await test.json("/oauth/token", { grant_type });
  assert.equal(`${json.status} ${json.body.code}`, "415 unsupported_media_type");
  const twice = await test.get("/oauth/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "grant_type=a&grant_type=b",
  });
  assert.equal(`${twice.status} ${twice.body.error}`, "400 invalid_request");
  const large = await test.form("/oauth/token", { code: "a".repeat(20_000) });
  assert.equal(`${large.status} ${large.body.code}`, "413 body_too_large");
});
