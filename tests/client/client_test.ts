import assert from "node:assert/strict";
import {
  SvcClient,
  type SvcClientOptions,
  SvcConnectionError,
  SvcError,
} from "../../src/client/mod.ts";
import { parseBaseUrl, SvcAnswerError } from "../../src/client/mod.ts";
import { fakeRelayer, refusal } from "./fake_relayer.ts";

const PRIVATE_KEY = "07".repeat(32);
const ACCOUNT = "0x" + "ab".repeat(32);
const ID = "11111111-2222-4333-8444-555555555555";
const ok = (body: unknown) => () => Response.json(body);

/** A client whose waits are recorded instead of waited. */
function clientOf(baseUrl: string, options: Partial<SvcClientOptions> = {}) {
  const waits: number[] = [];
  const client = new SvcClient({
    baseUrl,
    privateKey: PRIVATE_KEY,
    sleep: (ms) => Promise.resolve(void waits.push(ms)),
    ...options,
  });
  return { client, waits };
}

Deno.test("every signed route is signed over its raw target and body", async () => {
  const calls: [string, (client: SvcClient) => Promise<unknown>][] = [
    ["POST /api/remember", (c) => c.remember("I like tea ☕", { namespace: "日本" })],
    ["POST /api/remember/bulk", (c) => c.rememberBulk([{ text: "a" }, { text: "b" }])],
    ["POST /api/remember/manual", (c) => c.rememberManual({ encrypted_data: "AA==", vector: [1] })],
    ["POST /api/analyze", (c) => c.analyze("I like tea and jazz.")],
    [`GET /api/remember/${ID}`, (c) => c.job(ID)],
    [`POST /api/remember/${ID}/retry`, (c) => c.retryJob(ID)],
    ["POST /api/remember/bulk/status", (c) => c.jobs([ID])],
    ["POST /api/recall", (c) => c.recall("tea", { limit: 3 })],
    ["POST /api/recall/manual", (c) => c.recallManual([0.5, 0.5])],
    ["POST /api/ask", (c) => c.ask("What do I drink?")],
    ["POST /api/embed", (c) => c.embed("tea")],
    ["POST /api/restore", (c) => c.restore("default", 5)],
    ["GET /api/memories", (c) => c.memories({ namespace: "日本 'a&b=c/d?#+%20", text: false })],
    [`GET /api/memories/${ID}`, (c) => c.memory(ID)],
    ["GET /api/review", (c) => c.review()],
    ["POST /api/review", (c) => c.decideReview(ID, "undo")],
    [`PUT /api/memories/${ID}`, (c) => c.updateMemory(ID, { text: "new" })],
    [`DELETE /api/memories/${ID}`, (c) => c.deleteMemory(ID)],
    ["GET /api/namespaces", (c) => c.namespaces({ limit: 2 })],
    ["POST /api/stats", (c) => c.stats()],
    ["POST /api/forget", (c) => c.forget("old")],
    ["GET /api/account", (c) => c.account()],
    ["GET /api/account/keys", (c) => c.accountKeys()],
    ["POST /api/embed", (c) => c.call("POST /api/embed", { body: { text: "tea" } })],
    ["GET /api/namespaces", (c) => c.call("GET /api/namespaces", { query: { limit: 2 } })],
    [`GET /api/memories/${ID}`, (c) => c.call("GET /api/memories/:id", { id: ID })],
    ["POST /api/import", (c) => c.importMemories('{"type":"memory","text":"a"}\n')],
  ];
  const routes = Object.fromEntries(calls.map(([route]) => [route, ok({ route })]));
  for (const form of ["nonce", "legacy"] as const) {
    await using relayer = fakeRelayer(routes);
    const { client } = clientOf(relayer.url, { form, accountId: ACCOUNT });
    for (const [route, call] of calls) {
      assert.deepEqual(await call(client), { route });
    }
    for (const { target, signed, headers } of relayer.received) {
      assert(signed, target);
      assert.equal(headers.get("x-account-id"), ACCOUNT);
      const expectsNonce = form === "nonce" || target.includes("?");
      assert.equal(headers.has("x-nonce"), expectsNonce, target);
      assert.equal(headers.has("x-delegate-key"), false);
    }
    const page = relayer.received.find(({ target }) => target.startsWith("/api/memories?"));
    const query = new URLSearchParams(page?.target.split("?")[1]);
    assert.equal(query.get("namespace"), "日本 'a&b=c/d?#+%20");
    assert.equal(query.get("text"), "false");
    const saved = JSON.parse(relayer.received[0]?.body ?? "");
    assert.deepEqual(saved, { text: "I like tea ☕", namespace: "日本" });
  }
});

Deno.test("public routes are not signed, and an unwell relayer's health is an answer", async () => {
  await using relayer = fakeRelayer({
    "GET /health": () => Response.json({ status: "unavailable", version: "1" }, { status: 503 }),
    "GET /version": ok({ apiVersion: "1.0.0" }),
    "GET /config": ok({ network: "localnet" }),
  });
  const { client, waits } = clientOf(relayer.url);
  assert.equal((await client.health()).status, "unavailable");
  assert.equal((await client.version()).apiVersion, "1.0.0");
  assert.equal((await client.config()).network, "localnet");
  assert(relayer.received.every(({ headers }) => !headers.has("x-public-key")));
  assert.deepEqual(waits, []);
});

Deno.test("refusals are SvcErrors with code, field, layer and request id", async () => {
  await using relayer = fakeRelayer({
    "POST /api/recall": () =>
      refusal(new SvcError("invalid_request", "limit must be whole", { field: "limit" })),
    "GET /api/account": () =>
      refusal(
        new SvcError("rate_limited", "slow down", {
          retryAfter: 3600,
          extra: { layer: "delegate_key", limit: "600 weighted-requests/min" },
        }),
      ),
  });
  const { client, waits } = clientOf(relayer.url);
  await assert.rejects(client.recall("x"), (error) => {
    assert(error instanceof SvcError);
    assert.deepEqual([error.code, error.field, error.message], [
      "invalid_request",
      "limit",
      "limit must be whole",
    ]);
    assert.deepEqual(error.extra, { requestId: "request-7" });
    return true;
  });
  await assert.rejects(client.account(), (error) => {
    assert(error instanceof SvcError);
    assert.deepEqual([error.code, error.retryAfter, error.extra?.layer], [
      "rate_limited",
      3600,
      "delegate_key",
    ]);
    return true;
  });
  assert.deepEqual(waits, []); // an hour is longer than the longest wait
});

Deno.test("answers of something else are SvcAnswerErrors", async () => {
  await using relayer = fakeRelayer({
    "GET /version": () => new Response("<html>", { status: 502 }),
    "GET /config": () => new Response("hello"),
    "GET /health": () => Response.json({ error: "new", code: "code_of_tomorrow" }, { status: 400 }),
  });
  const { client } = clientOf(relayer.url, { retry: { attempts: 1 } });
  for (
    const [call, status, code] of [
      [client.version(), 502, undefined],
      [client.config(), 200, undefined],
      [client.health(), 400, "code_of_tomorrow"],
    ] as const
  ) {
    await assert.rejects(call, (error) => {
      assert(error instanceof SvcAnswerError);
      assert.deepEqual([error.status, error.code], [status, code]);
      return true;
    });
  }
});

Deno.test("an answer above the cap is refused, whatever it says of its length", async () => {
  const chunk = new Uint8Array(1 << 20);
  const table: readonly Readonly<Record<string, string>>[] = [
    {},
    { "content-length": "99999999" },
    { "content-length": "1000", "content-encoding": "gzip" },
    { "content-length": "1000", "transfer-encoding": "chunked" },
    { "content-length": "" },
  ];
  for (const headers of table) {
    let sent = 0;
    let cancelled = false;
    const { client } = clientOf("http://127.0.0.1:1", {
      fetch: () =>
        Promise.resolve(
          new Response(
            new ReadableStream({
              pull: (controller) => {
                sent++;
                controller.enqueue(chunk);
              },
              cancel: () => void (cancelled = true),
            }),
            { headers },
          ),
        ),
    });
    await assert.rejects(client.version(), /too large/);
    assert(cancelled && sent < 40);
  }
});

Deno.test("a redirect is not followed", async () => {
  await using relayer = fakeRelayer({
    "GET /version": () => new Response(null, { status: 307, headers: { location: "/config" } }),
    "GET /config": ok({}),
  });
  const { client } = clientOf(relayer.url, { retry: { attempts: 1 } });
  await assert.rejects(client.version(), (error) => {
    assert(error instanceof SvcConnectionError);
    assert.equal(error.message, `The relayer at ${relayer.url} redirects: give its final address`);
    return true;
  });
  assert.equal(relayer.received.length, 1);
});

Deno.test("options are checked, and secrets are not printed", () => {
  const cases: [Partial<SvcClientOptions>, string][] = [
    [{ baseUrl: "ftp://x" }, "baseUrl"],
    [{ baseUrl: "http://user:secret@x" }, "baseUrl"],
    [{ privateKey: "07" }, "privateKey"],
    [{ accountId: "0x12" }, "accountId"],
    [{ baseUrl: "http://example.com", sendDelegateKey: true }, "sendDelegateKey"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeoutMs: NaN }, "timeoutMs"],
    [{ retry: { attempts: NaN } }, "retry.attempts"],
    [{ retry: { baseDelayMs: -1 } }, "retry.baseDelayMs"],
    [{ retry: { maxDelayMs: NaN } }, "retry.maxDelayMs"],
  ];
  for (const [options, field] of cases) {
    assert.throws(
      () => new SvcClient({ baseUrl: "http://x", privateKey: PRIVATE_KEY, ...options }),
      (error) => error instanceof SvcError && error.field === field,
    );
  }
  const { client } = clientOf("https://example.com/base/");
  assert.equal(client.baseUrl, "https://example.com/base");
  assert.equal(parseBaseUrl("http://Example.com:80/base/?#"), "http://example.com/base");
  assert(!Deno.inspect(client, { depth: 10 }).includes("07070707"));
});

Deno.test("the decrypt credentials go only where the relayer decrypts", async () => {
  await using relayer = fakeRelayer({
    "POST /api/recall": ok({ results: [], total: 0 }),
    "POST /api/remember": ok({}),
  });
  const { client } = clientOf(relayer.url, { sendDelegateKey: true, sealSession: "c2Vzc2lvbg==" });
  await client.recall("tea");
  await client.remember("tea");
  const [recalled, saved] = relayer.received;
  assert.equal(recalled?.headers.get("x-delegate-key"), PRIVATE_KEY);
  assert.equal(recalled?.headers.get("x-seal-session"), "c2Vzc2lvbg==");
  assert(!saved?.headers.has("x-delegate-key") && !saved?.headers.has("x-seal-session"));
});

Deno.test("ids that cannot exist are never sent", async () => {
  const { client } = clientOf("http://127.0.0.1:1", { fetch: () => assert.fail("sent") });
  await assert.rejects(client.job(".."), { code: "job_not_found" });
  await assert.rejects(client.memory("a/b"), { code: "memory_not_found" });
  await assert.rejects(client.deleteMemory(""), { code: "memory_not_found" });
});

Deno.test("allMemories follows the cursors", async () => {
  await using relayer = fakeRelayer({
    "GET /api/memories": ({ target }) => {
      const cursor = new URLSearchParams(target.split("?")[1]).get("cursor");
      if (cursor === null) {
        return Response.json({ memories: [{ memory_id: "1" }], next_cursor: "é=" });
      }
      assert.equal(cursor, "é=");
      return Response.json({ memories: [{ memory_id: "2" }] });
    },
  });
  const { client } = clientOf(relayer.url);
  const ids = [];
  for await (const { memory_id } of client.allMemories({ namespace: "n" })) ids.push(memory_id);
  assert.deepEqual(ids, ["1", "2"]);
});

Deno.test("an export is read line by line, wherever chunks end", async () => {
  const text = '{"type":"header"}\n{"type":"memory","text":"tea ☕"}\n{"type":"end"}';
  const bytes = new TextEncoder().encode(text);
  await using relayer = fakeRelayer({
    "POST /api/export": () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (let i = 0; i < bytes.length; i += 3) controller.enqueue(bytes.slice(i, i + 3));
            controller.close();
          },
        }),
      ),
  });
  const { client } = clientOf(relayer.url);
  const lines = [];
  for await (const line of client.exportMemories()) lines.push(line);
  assert.deepEqual(lines, text.split("\n").map((line) => JSON.parse(line)));
});

Deno.test("a key that cannot be read out signs through a signer", async () => {
  await using relayer = fakeRelayer({ "GET /api/account": ok({ owner: ACCOUNT }) });
  const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new Error("not a pair");
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const client = new SvcClient({
    baseUrl: relayer.url,
    signer: {
      publicKey: raw.toHex(),
      sign: async (message) =>
        new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, message)),
    },
  });
  assert.equal(await client.publicKey(), raw.toHex());
  await client.account();
  assert(relayer.received[0]?.signed);

  const signer = { publicKey: raw.toHex(), sign: () => Promise.resolve(raw) };
  const { url: baseUrl } = relayer;
  const cases: readonly [options: SvcClientOptions, field: string][] = [
    [{ baseUrl, signer, privateKey: PRIVATE_KEY }, "signer"],
    [{ baseUrl }, "privateKey"],
    [{ baseUrl, signer, sendDelegateKey: true }, "sendDelegateKey"],
  ];
  for (const [options, field] of cases) {
    assert.throws(() => new SvcClient(options), { code: "invalid_parameter", field });
  }
});
