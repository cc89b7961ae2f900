import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import { Gate, intercepted } from "../memory/intercepted.ts";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { messagesOf, startSidecarTest } from "./fixture.ts";
import { call, fakeRelayer, result } from "./tool_calls.ts";

const ACCEPTED = {
  job_id: "j",
  memory_id: "m",
  status: "done",
  blob_id: "b",
  namespace: "default",
  recallable: true,
};

Deno.test("descriptions say when and how to call", async () => {
  verifies("12-3");
  await using test = await startSidecarTest();
  const headers = test.headers(await test.svc.addKey(["read", "write", "manage"]));
  const id = { ...headers, "mcp-session-id": await test.open(headers) };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const [message] = await messagesOf(await test.send("POST", "/api/mcp", body, id)) as Json[];
  const described = new Map<string, string>(
    message.result.tools.map(({ name, description }: Json) => [name, description]),
  );
  const table: Record<string, RegExp[]> = {
    svc_remember: [
      /saves .*fact/i,
      /when the user asks to remember or save/,
      /complete statement, never a summary/,
    ],
    svc_recall: [/searches what the user had saved/i, /before answering/, /never instructions/],
    svc_list: [/newest first/, /wants to see what is saved/],
    svc_update: [/wrong or has changed/, /asks the user first/i],
    svc_forget: [/deletes one memory for good/i, /never because a memory says so/],
    svc_analyze: [/preferences, habits, people, plans/, /transcript or note/, /saves each/],
    svc_restore: [/for repair only/i, /counts, no texts/],
  };
  assert.deepEqual([...described.keys()].sort(), Object.keys(table).sort());
  for (const [name, patterns] of Object.entries(table)) {
    for (const pattern of patterns) assert.match(described.get(name) ?? "", pattern);
  }
});

Deno.test("svc_remember does not wait for the blob", async () => {
  verifies("12-6");
  const gate = new Gate();
  const blobStore = intercepted(memoryBlobStore(), {
    async put(next, ...args) {
      await gate.pass();
      return await next(...args);
    },
  });
  await using test = await startSidecarTest({}, { backends: { blobStore } });
  gate.close();
  const { content, structuredContent } = await result(test, "svc_remember", { text: "tea" });
  const { memory_id, ...rest } = structuredContent;
  assert.equal(content[0].text, `Remembered in default. memory_id=${memory_id}`);
  assert.deepEqual(rest, { namespace: "default", recallable: true });
  const found = await result(test, "svc_recall", { query: "tea" });
  assert.equal(found.structuredContent.results[0].memory_id, memory_id);
  gate.open();
  await test.svc.relayer.idle();
});

Deno.test("svc_remember says what was there already, and behind what a memory is kept", async () => {
  verifies("12-32");
  const config = { deduplicate: true };
  await using test = await startSidecarTest({}, { config });
  const save = (text: string) => result(test, "svc_remember", { text });
  const first = (await save("My sister lives in Brno.")).structuredContent.memory_id;
  const twin = await save("my sister lives in Brno");
  assert.equal(twin.content[0].text, `Already remembered in default. memory_id=${first}`);
  const echo = await save("You mentioned that your sister lives in Brno.");
  const message = `It says what memory_id=${first} says; recall shows that one.`;
  assert.equal(echo.structuredContent.message, message);
});

Deno.test("a client that validates finds every result to fit its schema", async () => {
  verifies("12-17");
  const facts = [{ text: "tea", job_id: "j", memory_id: "m" }];
  await using fake = await startSidecarTest({
    fetch: fakeRelayer({
      "/api/analyze": { facts },
      "/api/remember/bulk/status": { results: [ACCEPTED] },
    }),
  });
  await using test = await startSidecarTest();
  await test.svc.remember("I like tea", { metadata: { a: 1 } });
  const calls = [
    [test, "svc_remember", { text: "I like milk" }],
    [test, "svc_recall", { query: "tea" }],
    [test, "svc_recall", { query: "tea", namespace: "empty" }],
    [test, "svc_list", {}],
    [test, "svc_list", { limit: 1 }],
    [test, "svc_restore", { namespace: "default" }],
    [fake, "svc_analyze", { text: "I like tea" }],
  ] as const;
  for (const [side, name, args] of calls) {
    const client = new Client({ name: "validating", version: "1" });
    const requestInit = { headers: side.headers() };
    const url = new URL(`${side.base}/api/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    await client.listTools();
    const answer = await client.callTool({ name, arguments: args }) as Json;
    assert.equal(answer.isError, undefined, name);
    assert.equal(answer.content.length, 1);
    assert.equal(answer.content[0].type, "text");
    assert.equal(typeof answer.structuredContent, "object");
    await client.close();
  }
});

Deno.test("what a call leaves out has the defaults of the table", async () => {
  verifies("12-22", "12-4");
  const sent: Json[] = [];
  const recalled = { results: [], total: 0 };
  const restored = { namespace: "n", total: 0, restored: 0, skipped: 0, failed: 0, remaining: 0 };
  const fake = fakeRelayer({
    "/api/recall": recalled,
    "/api/restore": restored,
    "/api/remember": ACCEPTED,
  });
  await using test = await startSidecarTest({
    fetch: (url, init) => {
      if (init.body instanceof Uint8Array) {
        // Of its own for each MCP session.
        const { session: _, ...body } = JSON.parse(new TextDecoder().decode(init.body));
        sent.push(body);
      }
      return fake(url, init);
    },
  });
  await call(test, "svc_recall", { query: "tea" });
  await call(test, "svc_recall", { query: "tea", limit: 100, namespace: "a" });
  await call(test, "svc_restore", { namespace: "n" });
  await call(test, "svc_restore", { namespace: "n", limit: 500 });
  await call(test, "svc_remember", { text: "tea" });
  assert.deepEqual(sent, [
    { query: "tea", limit: 10 },
    { query: "tea", limit: 100, namespace: "a" },
    { namespace: "n", limit: 10 },
    { namespace: "n", limit: 500 },
    { text: "tea", trust: "agent" },
  ]);
});

Deno.test("of two statements about one thing the older one is marked", async () => {
  verifies("10.16-1");
  await using test = await startSidecarTest({}, { config: { conflicts: "suggest" } });
  const facts = ["My phone number is 555-0188.", "My phone number is 555-0142."];
  for (const text of facts) await call(test, "svc_remember", { text });
  const { content, structuredContent } = await result(test, "svc_recall", {
    query: "my phone number 555-0188",
  });
  const [first, second] = content[0].text.split("\n");
  assert.match(first, /555-0142\.$/);
  assert.match(second, /555-0188\. \(older: one above says otherwise\)$/);
  assert.deepEqual(
    structuredContent.results.map(({ older }: Json) => older),
    [undefined, true],
  );
  const { body: { memories } } = await test.svc.get("/api/memories");
  assert.deepEqual(memories.map(({ trust }: Json) => trust), ["agent", "agent"]);
});

Deno.test("an idempotency key of analyze is passed on, too", async () => {
  verifies("12-15");
  const keys: (string | null)[] = [];
  const fake = fakeRelayer({ "/api/analyze": { facts: [] }, "/api/remember": ACCEPTED });
  await using test = await startSidecarTest({
    fetch: (url, init) => {
      const key = new Headers(init.headers).get("idempotency-key");
      if (init.method === "POST") keys.push(key);
      return fake(url, init);
    },
  });
  const meta = { "svc/idempotency-key": "one" };
  await call(test, "svc_analyze", { text: "long" }, { meta });
  await call(test, "svc_remember", { text: "tea" }, { meta });
  assert.deepEqual(keys, ["one", "one"]);
});

Deno.test("a cancelled call ends the wait, not the write", async () => {
  verifies("11-26");
  const polled = Promise.withResolvers<void>();
  await using test = await startSidecarTest({
    fetch: (url, init) => {
      if (!/\/api\/remember\/./.test(url)) return fetch(url, init);
      polled.resolve();
      return new Promise((_, reject) =>
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason))
      );
    },
  });
  const id = { "mcp-session-id": await test.open() };
  const params = { name: "svc_remember", arguments: { text: "I like tea" } };
  const body = { jsonrpc: "2.0", id: 7, method: "tools/call", params };
  const stream = await test.send("POST", "/api/mcp", body, id);
  await polled.promise;
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
  assert.equal((await test.send("POST", "/api/mcp", cancel, id)).status, 202);
  assert.deepEqual(await messagesOf(stream), []);
  assert.deepEqual(await test.svc.recall("tea"), ["I like tea"]);
});

Deno.test("in a batch, a cancelled call keeps no other from its response, and no stream open", async () => {
  verifies("11-26");
  const polls = new Gate();
  await using test = await startSidecarTest({
    fetch: async (url, init) => {
      if (/\/api\/remember\/./.test(url)) await polls.pass(init.signal ?? undefined);
      return await fetch(url, init);
    },
  });
  await test.svc.remember("tea");
  const session = { "mcp-session-id": await test.open() };
  const post = (body: Json) => test.send("POST", "/api/mcp", body, session);
  const save = (id: number) => {
    const params = { name: "svc_remember", arguments: { text: `tea ${id}` } };
    return { jsonrpc: "2.0", id, method: "tools/call", params };
  };
  const cancel = (requestId: number) => {
    return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
  };
  const idsOf = async (stream: Response) => (await messagesOf(stream)).map(({ id }: Json) => id);

  polls.close();
  const two = await post([save(1), save(2)]);
  await polls.reached;
  await post(cancel(1));
  polls.open();
  assert.deepEqual(await idsOf(two), [2], "the other's response is still to come");

  polls.close();
  const three = await post([save(3), save(4), { jsonrpc: "2.0", id: 5, method: "ping" }]);
  await polls.reached;
  await post([cancel(3), cancel(4), cancel(5), cancel(6)]);
  assert.deepEqual(await idsOf(three), [5], "the other's response was there before");

  polls.close();
  const alone = await post(save(7));
  await polls.reached;
  await post([cancel(7)]);
  assert.deepEqual(await idsOf(alone), [], "there is no other");
});

Deno.test("an id that is in use is refused until its response is there, or its client has left", async () => {
  const calls = new Gate();
  let answered = Promise.withResolvers<void>();
  await using test = await startSidecarTest({
    fetch: async (url, init) => {
      if (!url.endsWith("/api/recall")) return await fetch(url, init);
      await calls.pass(init.signal ?? undefined);
      const found = await (await fetch(url, init)).json();
      answered.resolve();
      return Response.json(found);
    },
  });
  await test.svc.remember("tea");
  const session = { "mcp-session-id": await test.open() };
  const post = (body: Json) => test.send("POST", "/api/mcp", body, session);
  const resultIn = async (stream: Response): Promise<Json> => (await messagesOf(stream))[0]?.result;
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const params = { name: "svc_recall", arguments: { query: "tea" } };
  const recall = { jsonrpc: "2.0", id: 1, method: "tools/call", params };

  calls.close();
  const found = await post(recall);
  await calls.reached;
  for (const body of [ping, [{ ...ping, id: 2 }, ping]]) {
    const refused = await post(body);
    assert.equal(refused.status, 400);
    const { id, error } = await refused.json();
    assert.deepEqual([id, error.code, error.message], [1, -32600, "The id is in use"]);
    assert.equal(error.data.code, "invalid_request");
  }
  calls.open();
  assert.equal((await resultIn(found)).structuredContent.total, 1);
  assert.deepEqual(await resultIn(await post(ping)), {});

  calls.close();
  const left = await post(recall);
  await calls.reached;
  await left.body?.cancel();
  assert.deepEqual(await resultIn(await post(ping)), {});
  answered = Promise.withResolvers();
  calls.open();
  await answered.promise;
  // Its call ends before the test does.
  await test.svc.recall("tea");
});

Deno.test("tool calls spend what their key may spend on signed requests", async () => {
  verifies("7-25");
  const rateLimit = { ...DEFAULT_CONFIG.rateLimit, keyPerMinute: 12 };
  await using test = await startSidecarTest({}, { config: { rateLimit } });
  const save = () => result(test, "svc_remember", { text: `tea ${crypto.randomUUID()}` });
  for (let i = 0; i < 2; i++) assert.equal((await save()).isError, undefined);
  const third = await save();
  assert.equal(third.isError, true);
  assert.match(third.content[0].text, /\(code: rate_limited\)$/);
  const signed = await test.svc.post("/api/remember", { text: "tea" });
  assert.deepEqual([signed.status, signed.body.layer], [429, "delegate_key"]);
  const other = { key: await test.svc.addKey() };
  assert.equal((await test.svc.post("/api/remember", { text: "tea" }, other)).status, 202);
});

Deno.test("a text that was remembered already is said to be, in text and data", async () => {
  verifies("12-19");
  await using test = await startSidecarTest({}, { config: { deduplicate: true } });
  const remember = () => result(test, "svc_remember", { text: "I like tea" });
  const first = await remember();
  assert.deepEqual([first.structuredContent.message], [undefined]);
  const { content, structuredContent } = await remember();
  assert.match(content[0].text, /^Already remembered in default\. memory_id=[-\w]+$/);
  assert.equal(structuredContent.message, "It was remembered already, word for word.");
  assert.equal(structuredContent.memory_id, first.structuredContent.memory_id);
});

Deno.test("svc_remember says that a language is found by words only", async () => {
  const accepted = {
    memory_id: "m",
    job_id: "m",
    namespace: "default",
    recallable: true,
    unread_language: "pt",
  };
  await using test = await startSidecarTest({ fetch: fakeRelayer({ "/api/remember": accepted }) });
  const saved = await result(test, "svc_remember", { text: "Moro no Porto" });
  const message = "Found by words only: the relayer's embedder does not read Portuguese.";
  assert.equal(saved.content[0].text, `Remembered in default. memory_id=m\n${message}`);
  assert.equal(saved.structuredContent.message, message);
});
