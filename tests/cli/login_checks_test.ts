import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { IDS, openLogins, type PostOptions } from "./dashboard.ts";
import {
  HOST,
  INVALID,
  LARGE,
  MALFORMED,
  NOT_FOUND,
  ORIGIN,
  type Probe,
  probeAll,
  STATE,
  TYPE,
} from "./login_probes.ts";

Deno.test("probes get the listed answers, leave no file and do not end the login", async () => {
  verifies("14.2-6", "14.2-7");
  await using fixture = await openLogins();
  const { login, dashboard } = await fixture.start();
  await probeAll(dashboard);
  assert.deepEqual(await fixture.files(), []);
  assert.equal((await dashboard.approve()).status, 200);
  assert.equal((await login.outcome).status, "signed-in");
});

Deno.test("each check comes before the next", async () => {
  verifies("14.2-6");
  await using fixture = await openLogins();
  const { dashboard } = await fixture.start();
  // Each request breaks its own rule and every later one.
  const wrong = { origin: "https://evil.example", type: "text/plain" };
  const large = "x".repeat(20_000);
  const cases: [PostOptions, string, string, Probe["answer"]][] = [
    [{ ...wrong, host: "evil.example", method: "OPTIONS" }, "/", large, HOST],
    [{ ...wrong, method: "GET" }, "/", large, NOT_FOUND],
    [wrong, "/callback", large, ORIGIN],
    [{ type: "text/plain" }, "/callback", large, TYPE],
    [{}, "/callback", large, LARGE],
    [{}, "/callback", "x", MALFORMED],
    [{}, "/callback", JSON.stringify({ ...IDS, state: "x" }), INVALID],
    [{}, "/callback", JSON.stringify({ ...IDS, state: "0".repeat(64) }), STATE],
  ];
  for (const [options, path, text, expected] of cases) {
    const { status, body } = await dashboard.post(path, text, options);
    assert.deepEqual([status, body.code], expected);
  }
  for (const name of ["127.0.0.1", "localhost"]) {
    const { status } = await dashboard.post("/", "", { host: `${name}:${dashboard.port}` });
    assert.equal(status, 404);
  }
});

Deno.test("a preflight is answered for exactly the dashboard", async () => {
  verifies("14.2-6");
  await using fixture = await openLogins();
  const { dashboard } = await fixture.start();
  for (const path of ["/proof", "/callback"]) {
    const ask = (origin: string, more: Record<string, string> = {}) =>
      dashboard.post(path, "", {
        method: "OPTIONS",
        origin,
        type: null,
        headers: { "access-control-request-method": "POST", ...more },
      });
    const wanted = { "access-control-request-private-network": "true" };
    const good = await ask(dashboard.url.origin, wanted);
    assert.equal(good.status, 204);
    assert.equal(good.headers.get("access-control-allow-origin"), dashboard.url.origin);
    assert.equal(good.headers.get("access-control-allow-methods"), "POST, OPTIONS");
    assert.equal(good.headers.get("access-control-allow-headers"), "content-type");
    assert.equal(good.headers.get("access-control-allow-private-network"), "true");
    assert.match(good.headers.get("vary") ?? "", /origin/);
    const plain = await ask(dashboard.url.origin);
    assert.equal(plain.headers.get("access-control-allow-private-network"), null);
    const bad = await ask("https://evil.example", wanted);
    assert.equal(bad.status, 204);
    assert.deepEqual(
      [...bad.headers.keys()].filter((name) => name.startsWith("access-control-")),
      [],
    );
  }
});
