import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { type Dashboard, IDS, openDesk, type PostOptions } from "./dashboard.ts";

/** A request that must be refused: how it differs from a good one, and the answer. */
interface Probe {
  readonly name: string;
  readonly options?: (dashboard: Dashboard) => PostOptions;
  readonly path?: string;
  readonly body?: (dashboard: Dashboard) => unknown;
  readonly answer: readonly [status: number, code: string];
}

const HOST: Probe["answer"] = [403, "host_not_allowed"];
const NOT_FOUND: Probe["answer"] = [404, "not_found"];
const ORIGIN: Probe["answer"] = [403, "origin_not_allowed"];
const TYPE: Probe["answer"] = [415, "unsupported_media_type"];
const LARGE: Probe["answer"] = [413, "body_too_large"];
const MALFORMED: Probe["answer"] = [400, "malformed_json"];
const INVALID: Probe["answer"] = [400, "invalid_parameter"];
const STATE: Probe["answer"] = [403, "state_mismatch"];

const host = (name: string, value: (port: number) => string): Probe => ({
  name: `host ${name}`,
  options: ({ port }) => ({ host: value(port) }),
  answer: HOST,
});
const head = (name: string, options: PostOptions, answer: Probe["answer"]): Probe => ({
  name,
  options: () => options,
  answer,
});
const body = (name: string, members: object, answer: Probe["answer"]): Probe => ({
  name,
  body: (dashboard) => dashboard.approval(members),
  answer,
});

const PROBES: readonly Probe[] = [
  host("of a stranger", () => "evil.example"),
  host("of a stranger with the port", (port) => `evil.example:${port}`),
  host("without port", () => "127.0.0.1"),
  host("with another port", (port) => `127.0.0.1:${port - 1}`),
  host("with a suffix", (port) => `localhost:${port}.evil.example`),
  host("[::1]", (port) => `[::1]:${port}`),
  host("empty", () => ""),
  head("GET", { method: "GET" }, NOT_FOUND),
  head("PUT", { method: "PUT" }, NOT_FOUND),
  { name: "another path", path: "/", answer: NOT_FOUND },
  { name: "a query", path: "/callback?x=1", answer: NOT_FOUND },
  { name: "a longer path", path: "/callback/", answer: NOT_FOUND },
  head("no origin", { origin: null }, ORIGIN),
  head("null origin", { origin: "null" }, ORIGIN),
  head("another origin", { origin: "https://evil.example" }, ORIGIN),
  head("another port of the origin", { origin: "http://localhost:5174" }, ORIGIN),
  head("another scheme of the origin", { origin: "https://localhost:5173" }, ORIGIN),
  head("the origin twice", { headers: { Origin: "http://localhost:5173" } }, ORIGIN),
  head("no content type", { type: null }, TYPE),
  head("plain text", { type: "text/plain" }, TYPE),
  head("a form", { type: "application/x-www-form-urlencoded" }, TYPE),
  head("nearly JSON", { type: "application/jsonp" }, TYPE),
  { name: "oversized", body: () => " ".repeat(16_385), answer: LARGE },
  { name: "oversized, without a length", body: () => "", answer: LARGE },
  { name: "not JSON", body: () => "state=1", answer: MALFORMED },
  { name: "empty", body: () => "", answer: MALFORMED },
  { name: "an array", body: () => "[]", answer: MALFORMED },
  { name: "null", body: () => "null", answer: MALFORMED },
  body("no account", { accountId: undefined }, INVALID),
  body("an account without 0x", { accountId: IDS.accountId.slice(2) }, INVALID),
  body("an account that is a number", { accountId: 7 }, INVALID),
  body("no state", { state: undefined }, INVALID),
  body("a short state", { state: "0".repeat(63) }, INVALID),
  body("an upper-case state", { state: "A".repeat(64) }, INVALID),
  body("another state", { state: "0".repeat(64) }, STATE),
];
const CALLBACK_PROBES: readonly Probe[] = [
  body("no wallet", { walletAddress: undefined }, INVALID),
  body("no package", { packageId: "0x12" }, INVALID),
  body("a long label", { label: "ü".repeat(33) }, INVALID),
  body("a label that is no text", { label: {} }, INVALID),
];

async function probe(dashboard: Dashboard, path: string, which: Probe) {
  const text = (which.body ?? (() => dashboard.approval()))(dashboard);
  if (which.name === "oversized, without a length") return await chunked(dashboard, path);
  return await dashboard.post(which.path ?? path, text, which.options?.(dashboard));
}

/** More than 16 KiB in pieces whose number is not announced. */
async function chunked(dashboard: Dashboard, path: string) {
  const { port, url } = dashboard;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { origin: url.origin, "content-type": "application/json" },
    body: ReadableStream.from(Array.from({ length: 17 }, () => new Uint8Array(1024).fill(0x20))),
  });
  return { status: response.status, body: await response.json() };
}

Deno.test("probes get the listed answers, leave no file and do not end the login", async () => {
  verifies("14.2-6", "14.2-7");
  await using fixture = await openDesk();
  const { login, dashboard } = await fixture.start();
  for (const path of ["/proof", "/callback"]) {
    for (const which of [...PROBES, ...(path === "/callback" ? CALLBACK_PROBES : [])]) {
      const { status, body } = await probe(dashboard, path, which);
      assert.deepEqual([status, body.code], which.answer, `${which.name} at ${path}`);
    }
  }
  assert.deepEqual(await fixture.files(), []);
  assert.equal((await dashboard.approve()).status, 200);
  assert.equal((await login.outcome).status, "signed-in");
});

Deno.test("each check comes before the next", async () => {
  verifies("14.2-6");
  await using fixture = await openDesk();
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
  await using fixture = await openDesk();
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
