import assert from "node:assert/strict";
import { createLogger } from "../../src/log.ts";
import { SvcError } from "../../src/errors.ts";
import type { Cipher, DecryptCredential } from "../../src/interfaces/mod.ts";
import { startRelayer, testBackends, TestClock, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const SESSION = btoa(JSON.stringify({ address: "0x1", sessionKey: "private-session" }));
const KEY = "cd".repeat(32);
const BECH32 = "suiprivkey1qzwant3kaegmjy4qxex93s0jzvemekkjmyv3r2sjwgnv2y479pgsyzhdfw7";

/** A cipher that opens for the right session only, and remembers what it was given. */
async function start(write = (_line: string) => {}): Promise<
  { readonly svc: TestRelayer; readonly seen: (DecryptCredential | undefined)[] }
> {
  const seen: (DecryptCredential | undefined)[] = [];
  const clock = new TestClock();
  const { cipher: inner, ...backends } = await testBackends(clock);
  const cipher: Cipher = {
    needsCredential: true,
    seal: (...args) => inner.seal(...args),
    open(items, context) {
      const { credential, ...rest } = context;
      seen.push(credential);
      if (credential?.session !== SESSION && credential?.delegateKey !== KEY) {
        throw new SvcError("decrypt_credential_invalid");
      }
      return inner.open(items, rest);
    },
    rotate: (accountId) => inner.rotate(accountId),
    destroy: (keyId) => inner.destroy(keyId),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  const logger = createLogger({ level: "debug", format: "text", write });
  const svc = await startRelayer({ clock, backends: { ...backends, cipher }, logger });
  return { svc, seen };
}

Deno.test("texts need a usable credential where the cipher does", async () => {
  verifies("4.6-1", "4.6-3", "4.6-4");
  const { svc } = await start();
  await using _ = svc;
  const id = await svc.remember("tea with honey");
  const requests = [
    ["POST", "/api/recall", { query: "tea" }],
    ["POST", "/api/ask", { question: "tea" }],
    ["POST", "/api/analyze", { text: "I like tea with honey." }],
    ["GET", `/api/memories/${id}`, undefined],
    ["GET", "/api/memories", undefined],
    ["POST", "/api/restore", { namespace: "default" }],
  ] as const;
  for (const [method, target, body] of requests) {
    const send = (headers: Record<string, string>) => svc.send(method, target, body, { headers });
    assertError(await send({}), [400, "decrypt_credential_required"], {}, target);
    for (const headers of [{ "x-seal-session": SESSION }, { "x-delegate-key": KEY }]) {
      assert.equal((await send(headers)).status, target === "/api/analyze" ? 202 : 200, target);
    }
    if (target === "/api/restore") continue; // nothing was missing, nothing was opened
    const unusable = await send({ "x-delegate-key": BECH32 });
    assertError(unusable, [400, "decrypt_credential_invalid"], {}, target);
  }
});

Deno.test("vectors and writing need none", async () => {
  verifies("4.6-6");
  const { svc, seen } = await start();
  await using _ = svc;
  const id = await svc.remember("tea with honey");
  const { body: { vector } } = await svc.post("/api/embed", { text: "tea with honey" });
  const { body } = await svc.post("/api/recall/manual", { vector });
  assert.equal(body.results[0].memory_id, id);
  assert.equal((await svc.get("/api/memories?text=false")).status, 200);
  assert.equal((await svc.get(`/api/remember/${id}`)).body.status, "done");
  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  assert.deepEqual(seen, []);
});

Deno.test("the session wins over the key", async () => {
  verifies("4.6-5");
  const { svc, seen } = await start();
  await using _ = svc;
  await svc.remember("tea with honey");
  const headers = { "x-seal-session": SESSION, "x-delegate-key": BECH32 };
  assert.deepEqual(await svc.recall("tea", {}, { headers }), ["tea with honey"]);
  assert.equal(seen[0]?.session, SESSION);
});

Deno.test("secrets reach the cipher alone: not logs, not answers", async () => {
  verifies("4.6-7", "3-26", "3-27");
  let log = "";
  const { svc } = await start((line) => log += line);
  await using _ = svc;
  const signatures: string[] = [];
  const send = async (target: string, body: unknown, headers: Record<string, string> = {}) => {
    const secrets = { "x-delegate-key": KEY, authorization: `Bearer ${KEY}`, ...headers };
    const request = svc.request("POST", target, body, { headers: secrets });
    signatures.push(request.headers.get("x-signature") ?? "");
    return await svc.fetch(request);
  };
  const answers = [
    await send("/api/remember", { text: "a private fact", metadata: { a: "private" } }),
    await send("/api/recall", { query: "private question" }),
    await send("/api/recall", { query: "private question" }, { "x-delegate-key": BECH32 }),
    await send("/api/remember", '{"text": "a private fact" "}'),
    await send("/api/remember", { text: "a private fact", expires_at: "private" }),
    await send("/api/memories/private", { text: "a private fact" }),
    await send("/api/recall", { query: "private" }, { "x-seal-session": `${SESSION}!` }),
  ];
  await svc.relayer.idle();
  assert.ok(log.includes("request"));
  const errors = answers.filter(({ status }) => status >= 400).map(({ text }) => text).join();
  for (const secret of [KEY, SESSION, BECH32, "private", ...signatures]) {
    assert.ok(!log.includes(secret), secret);
    assert.ok(!errors.includes(secret), secret);
  }
});
