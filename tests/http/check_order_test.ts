import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import { type Answer, startRelayer, TestKey, type TestRelayer } from "../relayer_fixture.ts";
import { SIGNED_BODY_BYTES } from "../../src/wire/limits.ts";
import { verifies } from "../requirements.ts";

const BURNED = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";
const LIMIT = 10;

/** A remember that would be accepted, to be spoilt. */
interface Draft {
  method: string;
  path: string;
  query: string;
  form: 4 | 6;
  nonce: string | undefined;
  age: number;
  headers: Record<string, string | null>;
  body: { syntax: boolean; shape: boolean; values: boolean; long: boolean };
  key: { known: boolean; writes: boolean; spent: boolean };
}

/** The checks of the table, each with a way to fail it, in order. */
const CHECKS: readonly (readonly [answer: string, spoil: (draft: Draft) => void])[] = [
  ["404 not_found", (draft) => draft.path += "/"],
  ["405 method_not_allowed", (draft) => draft.method = "PUT"],
  [
    "413 body_too_large",
    (draft) => draft.headers["content-length"] = String(SIGNED_BODY_BYTES + 1),
  ],
  ["401 auth_headers_missing", (draft) => draft.headers["x-timestamp"] = null],
  ["401 auth_header_invalid", (draft) => draft.headers["x-delegate-key"] = "short"],
  ["426 upgrade_required", (draft) => draft.form = 4],
  ["400 unsigned_query", (draft) => [draft.form, draft.query] = [4, "?a=1"]],
  ["401 timestamp_out_of_range", (draft) => draft.age = 400],
  ["413 body_too_large", (draft) => draft.body.long = true],
  ["401 signature_invalid", (draft) => draft.headers["x-signature"] = "1".repeat(128)],
  ["401 account_not_authorized", (draft) => draft.key.known = false],
  ["401 nonce_reused", (draft) => draft.nonce = BURNED],
  ["403 permission_denied", (draft) => draft.key.writes = false],
  ["429 rate_limited", (draft) => draft.key.spent = true],
  ["415 unsupported_media_type", (draft) => draft.headers["content-type"] = "text/plain"],
  ["400 malformed_json", (draft) => draft.body.syntax = false],
  ["422 invalid_request", (draft) => draft.body.shape = false],
  ["400 empty_text", (draft) => draft.body.values = false],
];
const UPGRADE = 5;

async function keyOf(svc: TestRelayer, wanted: Draft["key"]): Promise<TestKey> {
  if (!wanted.known) return new TestKey();
  const { account: { accountId } } = await svc.addAccount();
  const key = await svc.addKey(wanted.writes ? ["read", "write"] : ["read"], { accountId });
  const { status } = await svc.get("/api/account", { key, nonce: BURNED });
  assert.equal(status, 200);
  for (let i = 0; wanted.spent && i < LIMIT; i++) {
    assert.equal((await svc.post("/api/stats", {}, { key })).status, 200);
  }
  return key;
}

function bodyOf({ syntax, shape, values, long }: Draft["body"]): string {
  const text = JSON.stringify({ text: values ? "tea" : "", ...(shape ? {} : { namespace: 1 }) });
  const body = syntax ? text : text.slice(1);
  return long ? body.padEnd(SIGNED_BODY_BYTES + 1) : body;
}

async function send(svc: TestRelayer, spoilt: readonly number[]): Promise<Answer> {
  const draft: Draft = {
    method: "POST",
    path: "/api/remember",
    query: "",
    form: 6,
    nonce: undefined,
    age: 0,
    headers: {},
    body: { syntax: true, shape: true, values: true, long: false },
    key: { known: true, writes: true, spent: false },
  };
  for (const index of spoilt) CHECKS[index]?.[1](draft);
  const timestamp = Math.floor(svc.clock.now() / 1000) - draft.age;
  return await svc.send(draft.method, draft.path + draft.query, bodyOf(draft.body), {
    key: await keyOf(svc, draft.key),
    form: draft.form,
    timestamp: String(timestamp),
    headers: draft.headers,
    ...(draft.nonce === undefined ? {} : { nonce: draft.nonce }),
  });
}

Deno.test("of two failures the one of the earlier check is answered", async () => {
  verifies("4.3-1", "4.3-2", "4.3-3", "4.3-4", "4.3-5", "4.3-7", "4.3-8", "4.3-9", "4.3-10");
  verifies("4.3-13", "4.3-17", "4.3-18", "4.3-19", "4.3-20", "4.3-21", "4.3-22", "4.3-23");
  const rateLimit = { ...DEFAULT_CONFIG.rateLimit, keyPerMinute: LIMIT };
  const config = { rateLimit, accountLookupsPerMinute: 10_000 };
  await using lax = await startRelayer({ config });
  await using strict = await startRelayer({ config: { ...config, requireNonce: true } });
  assert.equal((await send(lax, [])).status, 202);
  const problems: string[] = [];
  for (const [first, [expected]] of CHECKS.entries()) {
    for (let second = first; second < CHECKS.length; second++) {
      const svc = first === UPGRADE || second === UPGRADE ? strict : lax;
      const { status, body } = await send(svc, [first, second]);
      const names = `${expected} + ${CHECKS[second]?.[0]}`;
      if (`${status} ${body.code}` !== expected) problems.push(`${names}: ${status} ${body.code}`);
      if (status !== 401) continue;
      // No more than the code: the text depends on nothing else.
      assert.deepEqual(Object.keys(body), ["error", "code", "request_id"], names);
    }
  }
  assert.deepEqual(problems, []);
});

Deno.test("a request refused before check 10 does not use up its nonce", async () => {
  verifies("4.4-3", "4.4-4", "4.4-8");
  await using svc = await startRelayer();
  const nonce = crypto.randomUUID();
  const codes: string[] = [];
  const send = async (options: Parameters<TestRelayer["send"]>[3]) => {
    const { body } = await svc.post("/api/stats", {}, { nonce, ...options });
    codes.push(body.code ?? "accepted");
  };
  await send({ headers: { "x-signature": "1".repeat(128) } });
  await send({ key: new TestKey() });
  await send({ timestamp: "1000000000" });
  await send({ headers: { "content-type": "text/plain" } });
  await send({});
  await send({ key: await svc.addKey() });
  assert.deepEqual(codes, [
    "signature_invalid",
    "account_not_authorized",
    "timestamp_out_of_range",
    "unsupported_media_type",
    "nonce_reused",
    "accepted",
  ]);
});

Deno.test("the timestamp may be 300 s off, not 301, both ways", async () => {
  verifies("4.3-9", "16-12");
  await using svc = await startRelayer();
  svc.clock.freeze();
  const now = svc.clock.now() / 1000;
  for (const [offset, expected] of [[-301, 401], [-300, 200], [300, 200], [301, 401]] as const) {
    const { status } = await svc.post("/api/stats", {}, { timestamp: String(now + offset) });
    assert.equal(status, expected, String(offset));
  }
  svc.clock.advance(1);
  const { status } = await svc.post("/api/stats", {}, { timestamp: String(now - 300) });
  assert.equal(status, 401, "a millisecond counts");
});
