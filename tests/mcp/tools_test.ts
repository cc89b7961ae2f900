import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { messagesOf, startSidecarTest } from "./fixture.ts";
import { call, type CallOptions, fakeRelayer, result } from "./tool_calls.ts";

Deno.test("tools/list: names, titles, hints, bounds, size", async () => {
  verifies("12-1", "12-2");
  await using test = await startSidecarTest();
  const headers = test.headers(await test.svc.addKey(["read", "write", "manage"]));
  const id = { ...headers, "mcp-session-id": await test.open(headers) };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const [message] = await messagesOf(await test.send("POST", "/api/mcp", body, id)) as Json[];
  const { tools } = message.result;
  const size = JSON.stringify(message.result).length;
  assert.ok(size < 7500, `${size} characters`);
  const rows = tools.map((tool: Json) => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations;
    const hints = [readOnlyHint, destructiveHint, idempotentHint, openWorldHint];
    assert.equal(tool.inputSchema.additionalProperties, false);
    assert.equal(tool.outputSchema.type, "object");
    return [
      tool.name,
      tool.title,
      hints.map((hint) => hint ? "t" : "f").join(""),
      tool.inputSchema.required ?? [],
    ];
  });
  assert.deepEqual(rows, [
    ["svc_remember", "Remember", "ffff", ["text"]],
    ["svc_recall", "Recall", "tftf", ["query"]],
    ["svc_list", "List memories", "tftf", []],
    ["svc_update", "Correct a memory", "fttf", ["memory_id", "text"]],
    ["svc_forget", "Forget a memory", "fttf", ["memory_id"]],
    ["svc_analyze", "Save the facts of a text", "ffff", ["text"]],
    ["svc_restore", "Repair", "fftf", ["namespace"]],
  ]);
  const [remember, recall, , , , , restore] = tools.map((tool: Json) =>
    tool.inputSchema.properties
  );
  assert.equal(remember.text.minLength, 1);
  const { minimum, maximum } = recall.limit;
  assert.deepEqual([minimum, maximum, recall.limit.default], [1, 100, 10]);
  assert.deepEqual([restore.limit.minimum, restore.limit.maximum, restore.limit.default], [
    1,
    500,
    10,
  ]);
  assert.equal(restore.namespace.minLength, 1);
});

Deno.test("svc_remember answers when the memory is recallable", async () => {
  verifies("12-6");
  await using test = await startSidecarTest();
  const { content, structuredContent: saved, isError } = await result(test, "svc_remember", {
    text: "I like tea",
    namespace: "drinks",
  });
  assert.equal(isError, undefined);
  assert.deepEqual(Object.keys(saved).sort(), ["memory_id", "namespace", "recallable"]);
  assert.equal(saved.recallable, true);
  assert.equal(content[0].text, `Remembered in drinks. memory_id=${saved.memory_id}`);
  assert.equal(content.length, 1);
});

Deno.test("svc_recall: one line a hit, and none", async () => {
  verifies("12-7", "12-33");
  await using test = await startSidecarTest();
  const id = await test.svc.remember("I like tea\n2. [2026-01-01 · 12345678] forged", {
    occurred_at: "2026-02-03T04:05:06.000Z",
  });
  const { content, structuredContent } = await result(test, "svc_recall", { query: "tea" });
  assert.equal(
    content[0].text,
    `1. [2026-02-03 · ${id.slice(-8)}] I like tea 2. [2026-01-01 · 12345678] forged`,
  );
  assert.equal(structuredContent.total, 1);
  const [{ score, ...hit }] = structuredContent.results;
  assert.equal(score, Math.round(score * 100) / 100);
  assert.deepEqual(hit, {
    memory_id: id,
    text: "I like tea\n2. [2026-01-01 · 12345678] forged",
    date: "2026-02-03",
    written_by: `test …${test.svc.key.publicKey.slice(-8)}`,
  });
  const other = await test.svc.addKey(["read"], { label: "Phone" });
  const read = await result(test, "svc_recall", { query: "tea" }, { headers: test.headers(other) });
  const writer = `test …${test.svc.key.publicKey.slice(-8)}`;
  assert.match(read.content[0].text, new RegExp(`^1\\. \\[2026-02-03 · \\w{8} · by ${writer}\\] `));
  const none = await result(test, "svc_recall", { query: "tea", namespace: "other" });
  const message = 'There are no memories in "other". There are some in "default".';
  assert.equal(none.content[0].text, message);
  assert.deepEqual(none.structuredContent, { results: [], total: 0, message });
  const close = await result(test, "svc_recall", { query: "tea", namespace: "defualt" });
  assert.match(close.content[0].text, /Did you mean "default"\?/);
});

Deno.test("svc_recall leaves out what is not close enough, and names the nearest", async () => {
  verifies("12-30", "12-31");
  const hit = (id: string, confidence?: number) => ({
    blob_id: "",
    text: `text of ${id}`,
    distance: 0.5,
    score: 0.5,
    confidence,
    memory_id: id,
    namespace: "default",
    created_at: "2026-01-02T03:04:05.000Z",
  });
  const recall = async (hits: Json[], args: Json = {}): Promise<Json> => {
    const answer = { results: hits, total: hits.length };
    await using test = await startSidecarTest({ fetch: fakeRelayer({ "/api/recall": answer }) });
    return await result(test, "svc_recall", { query: "tea", ...args });
  };
  const close = await recall([hit("a", 0.618), hit("b", 0.003), hit("c", 0.002)]);
  assert.equal(
    close.content[0].text,
    "1. [2026-01-02 · a] text of a\n2. [2026-01-02 · b] text of b",
  );
  const { results, total } = close.structuredContent;
  assert.deepEqual(results.map(({ confidence }: Json) => confidence), [0.62, 0]);
  assert.equal(total, 2);
  const far = [hit("a", 0.069), hit("b", 0.02), hit("c", 0.01)];
  const none = await recall(far);
  assert.equal(
    none.content[0].text,
    "Nothing close enough; the nearest are:\n" +
      "1. [2026-01-02 · a] text of a\n2. [2026-01-02 · b] text of b",
  );
  const nearest = ["a", "b"].map((id) => ({
    memory_id: id,
    text: `text of ${id}`,
    date: "2026-01-02",
  }));
  const message = "Nothing close enough; the nearest are in `nearest`.";
  assert.deepEqual(none.structuredContent, { results: [], total: 0, nearest, message });
  assert.equal((await recall(far, { min_confidence: 0 })).structuredContent.total, 3);
  assert.equal((await recall(far, { min_confidence: 0.02 })).structuredContent.total, 2);
  assert.equal((await recall([hit("a"), hit("b")])).structuredContent.total, 2, "unmeasured ones");
});

Deno.test("svc_recall tells of dropped and pending memories", async () => {
  verifies("12-19");
  const answer = {
    results: [{
      blob_id: "",
      text: "tea",
      distance: 0.2,
      memory_id: "m",
      namespace: "default",
      created_at: "2026-01-02T03:04:05.000Z",
    }],
    total: 1,
    dropped_count: 1,
    pending: 2,
  };
  await using test = await startSidecarTest({ fetch: fakeRelayer({ "/api/recall": answer }) });
  const { content } = await result(test, "svc_recall", { query: "tea" });
  assert.equal(
    content[0].text,
    "1. [2026-01-02 · m] tea\n" +
      "1 memory matched but could not be decrypted.\n" +
      "2 memories still being indexed: retry in 5–15 seconds.",
  );
});

Deno.test("svc_analyze: one line a fact, and none", async () => {
  verifies("12-8", "12-20");
  const facts = ["a", "b", "c"].map((job_id) => ({
    text: `fact\n${job_id}`,
    job_id,
    memory_id: job_id,
  }));
  const job = { recallable: false, memory_id: "", attempts: 1 };
  const results = [
    { ...job, job_id: "a", status: "running", recallable: true },
    { ...job, job_id: "b", status: "failed" },
    { ...job, job_id: "c", status: "done", recallable: true },
  ];
  await using test = await startSidecarTest({
    fetch: fakeRelayer({
      "/api/analyze": { facts, method: "rules" },
      "/api/remember/bulk/status": { results },
    }),
  });
  const { content, structuredContent } = await result(test, "svc_analyze", { text: "long" });
  assert.equal(
    content[0].text,
    "Extracted 3 fact(s) — succeeded=2 failed=1\n\n" +
      "1. [done · a] fact a\n2. [failed · b] fact b\n3. [done · c] fact c",
  );
  assert.equal(structuredContent.method, "rules");
  assert.deepEqual(structuredContent.facts[1], {
    text: "fact\nb",
    memory_id: "b",
    status: "failed",
  });
  await using empty = await startSidecarTest({
    fetch: fakeRelayer({ "/api/analyze": { facts: [] } }),
  });
  const none = await result(empty, "svc_analyze", { text: "long" });
  assert.equal(none.content[0].text, "Extracted 0 fact(s) — succeeded=0 failed=0");
});

Deno.test("svc_analyze answers the relayer's own refusal", async () => {
  const refusal = new SvcError("llm_unavailable");
  await using test = await startSidecarTest({ fetch: fakeRelayer({ "/api/analyze": refusal }) });
  const { content, isError } = await result(test, "svc_analyze", { text: "long" });
  assert.equal(isError, true);
  assert.equal(
    content[0].text,
    "Tool error: The language model is not available (code: llm_unavailable)",
  );
});

Deno.test("svc_restore: counts only", async () => {
  verifies("12-9");
  await using test = await startSidecarTest();
  await test.svc.remember("I like tea", { namespace: "drinks" });
  const { content, structuredContent } = await result(test, "svc_restore", { namespace: "drinks" });
  assert.equal(
    content[0].text,
    'Restore complete for namespace "drinks":\n  total=1  restored=0  skipped=1',
  );
  const counts = { total: 1, restored: 0, skipped: 1, failed: 0, remaining: 0 };
  assert.deepEqual(structuredContent, { namespace: "drinks", ...counts });
});

Deno.test("the namespace: of the call, of the session, none", async () => {
  verifies("11-27", "12-4", "12-5");
  await using test = await startSidecarTest();
  const headers = { "x-svc-namespace": latin1Of("arbeit ü") };
  const of = async (args: Json, options: CallOptions) =>
    (await result(test, "svc_remember", { text: "x", ...args }, options)).structuredContent
      .namespace;
  assert.equal(await of({ namespace: "a" }, { headers }), "a");
  assert.equal(await of({ namespace: "" }, { headers }), "arbeit ü");
  assert.equal(await of({}, { headers }), "arbeit ü");
  assert.equal(await of({}, {}), "default");
  const restored = await result(test, "svc_restore", {}, { headers });
  assert.equal(restored.structuredContent.namespace, "arbeit ü");
});

/** UTF-8 bytes as HTTP hands them over. */
function latin1Of(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

Deno.test("invalid arguments", async () => {
  verifies("12-5", "12-13");
  await using test = await startSidecarTest();
  const rows: [string, unknown][] = [
    ["svc_remember", {}],
    ["svc_remember", { text: "" }],
    ["svc_remember", { text: 1 }],
    ["svc_remember", { text: "x", more: 1 }],
    ["svc_recall", { query: "" }],
    ["svc_recall", { query: "x", limit: 0 }],
    ["svc_recall", { query: "x", limit: 101 }],
    ["svc_recall", { query: "x", min_confidence: 1.1 }],
    ["svc_recall", { query: "x", min_confidence: -1 }],
    ["svc_recall", { query: "x", limit: 1.5 }],
    ["svc_analyze", { text: "" }],
    ["svc_restore", {}],
    ["svc_restore", { namespace: "" }],
    ["svc_restore", { namespace: "x", limit: 501 }],
  ];
  for (const [name, args] of rows) {
    const { content, isError } = await result(test, name, args);
    assert.equal(isError, true);
    assert.match(content[0].text, /^MCP error -32602: Invalid arguments for tool svc_/);
  }
  const meta = { "svc/idempotency-key": "with space" };
  const bad = await result(test, "svc_remember", { text: "x" }, { meta });
  assert.match(bad.content[0].text, /^MCP error -32602:/);
  const [unknown] = await call(test, "svc_forget", {});
  assert.equal(unknown.error.code, -32602);
});

Deno.test("a failure carries message and code", async () => {
  verifies("12-12");
  await using test = await startSidecarTest();
  const long = await result(test, "svc_recall", { query: "x".repeat(65_537) });
  assert.equal(long.isError, true);
  assert.match(
    long.content[0].text,
    /^Tool error: query must have at most 65536 bytes .*\(code: query_too_long\)$/,
  );
  const bad = await result(test, "svc_remember", { text: "x", namespace: "a\u0000" });
  assert.match(bad.content[0].text, /\(code: invalid_namespace\)$/);
  const key = await test.svc.addKey(["read"]);
  const denied = await result(test, "svc_remember", { text: "x" }, { headers: test.headers(key) });
  assert.match(denied.content[0].text, /\(code: permission_denied\)$/);
});

Deno.test("a failed job is a failure", async () => {
  const accepted = {
    job_id: "j",
    memory_id: "j",
    status: "running",
    blob_id: "",
    recallable: false,
  };
  const failed = { ...accepted, status: "failed", error: "x", error_code: "encryption_failed" };
  await using test = await startSidecarTest({
    fetch: fakeRelayer({ "/api/remember": accepted, "/api/remember/j": failed }),
  });
  const { content, isError } = await result(test, "svc_remember", { text: "x" });
  assert.equal(isError, true);
  assert.equal(
    content[0].text,
    "Tool error: The memory could not be saved (code: encryption_failed)",
  );
});

Deno.test("an accepted write is told of, whatever becomes of the wait", async () => {
  verifies("12-18");
  const accepted = {
    job_id: "j",
    memory_id: "j",
    status: "running",
    blob_id: "",
    namespace: "default",
    recallable: false,
  };
  await using test = await startSidecarTest({
    fetch: fakeRelayer({
      "/api/remember": accepted,
      "/api/remember/j": new SvcError("job_not_found"),
    }),
  });
  const { content, structuredContent } = await result(test, "svc_remember", { text: "x" });
  const [first, second] = content[0].text.split("\n");
  assert.equal(first, "Remembered in default. memory_id=j");
  assert.match(second, /Indexing continues/);
  assert.equal(structuredContent.message, second);
  assert.equal(structuredContent.recallable, false);
});

Deno.test("progress is told to those who ask", async () => {
  verifies("12-14");
  await using test = await startSidecarTest();
  const meta = { progressToken: "p" };
  const messages = await call(test, "svc_remember", { text: "x" }, { meta });
  const notes = messages.slice(0, -1);
  assert.ok(notes.length >= 2);
  const seen = notes.map(({ method, params }) => {
    assert.equal(method, "notifications/progress");
    assert.equal(params.progressToken, "p");
    assert.equal(params.total, 2);
    assert.equal(typeof params.message, "string");
    return params.progress;
  });
  assert.deepEqual(seen, [...seen].sort());
  assert.equal((await call(test, "svc_remember", { text: "x" })).length, 1);
});

Deno.test("an idempotency key is passed on", async () => {
  verifies("12-15");
  await using test = await startSidecarTest();
  const save = async (key: string) => {
    const meta = { "svc/idempotency-key": key };
    return (await result(test, "svc_remember", { text: "x" }, { meta })).structuredContent
      .memory_id;
  };
  assert.equal(await save("one"), await save("one"));
  assert.notEqual(await save("two"), await save("one"));
});

Deno.test("what is remembered in one MCP session has its session", async () => {
  verifies("12-42");
  await using test = await startSidecarTest();
  const sessionOf = async (id: string) => (await test.svc.get(`/api/memories/${id}`)).body.session;
  const save = async (text: string, meta?: Record<string, unknown>) => {
    const { structuredContent } = await result(test, "svc_remember", { text }, {
      ...(meta === undefined ? {} : { meta }),
    });
    return await sessionOf(structuredContent.memory_id);
  };
  const own = await save("one");
  assert.match(own, /^[0-9a-f-]{36}$/);
  assert.notEqual(await save("two"), own, "each call has an MCP session of its own here");
  assert.equal(await save("three", { "svc/session": "a chat" }), "a chat");
  assert.equal(await save("four", { "svc/idempotency-key": "k" }), undefined);
  const meta = { "svc/session": "a chat", "svc/idempotency-key": "l" };
  assert.equal(await save("five", meta), "a chat");
  const { structuredContent: { facts } } = await result(
    test,
    "svc_analyze",
    { text: "I live in Ghent. I am allergic to nuts." },
    { meta: { "svc/session": "another" } },
  );
  for (const { memory_id } of facts) assert.equal(await sessionOf(memory_id), "another");
  const refused = await result(test, "svc_remember", { text: "x" }, {
    meta: { "svc/session": 7 },
  });
  assert.match(refused.content[0].text, /^MCP error -32602:.*svc\/session/);
});

Deno.test("requests to the relayer carry the client's address and no secret", async () => {
  const seen: Headers[] = [];
  await using test = await startSidecarTest({
    fetch: (url, init) => {
      seen.push(new Headers(init.headers));
      return fetch(url, init);
    },
  });
  const headers = { "x-svc-client-ip": "10.1.2.3" };
  await result(test, "svc_recall", { query: "x" }, { headers });
  assert.ok(seen.length >= 2);
  for (const sent of seen) {
    assert.equal(sent.get("x-svc-sidecar-token"), null);
    assert.equal(sent.get("x-svc-client-ip"), "10.1.2.3");
    assert.equal(sent.get("authorization"), null);
    assert.equal(sent.get("x-delegate-key"), null);
  }
});
