import assert from "node:assert/strict";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { messagesOf, startSidecarTest } from "./fixture.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

Deno.test("session ids are random hex of 128 bits, whatever the transport", async () => {
  verifies("11-7");
  const limits = { sessionsPerIp: 100, newSessionsPerIpPerMinute: 100 };
  await using test = await startSidecarTest({ limits });
  const ids: string[] = [];
  for (let i = 0; i < 32; i++) ids.push(await test.open());
  for (let i = 0; i < 32; i++) {
    const response = await test.send("GET", "/api/mcp/sse");
    const reader = response.body!.getReader();
    const event = new TextDecoder().decode((await reader.read()).value);
    ids.push(/sessionId=(\S+)/.exec(event)?.[1] ?? "");
    await reader.cancel();
  }
  for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
  assert.equal(new Set(ids).size, ids.length);
  // None of the 32 digits is fixed, counts up, or has a narrow range.
  for (let at = 0; at < 32; at++) {
    assert.ok(new Set(ids.map((id) => id[at])).size >= 8, `digit ${at}`);
  }
});

Deno.test("the key may be written with 0x, in capitals, and belongs to one session alone", async () => {
  verifies("11-28", "11-5");
  await using test = await startSidecarTest();
  const seed = test.svc.key.seed.toHex();
  for (const token of [`0x${seed}`, seed.toUpperCase()]) {
    const id = await test.open({ authorization: `Bearer ${token}` });
    const headers = { "mcp-session-id": id };
    assert.equal((await test.send("POST", "/api/mcp", LIST, headers)).status, 200);
  }
  const id = { "mcp-session-id": await test.open() };
  const other = test.headers(await test.svc.addKey());
  const { account, key } = await test.svc.addAccount();
  for (const headers of [other, test.headers(key, account.accountId)]) {
    for (const method of ["POST", "GET", "DELETE"]) {
      const body = method === "POST" ? LIST : undefined;
      const response = await test.send(method, "/api/mcp", body, { ...headers, ...id });
      assert.equal(response.status, 403, method);
      assert.equal((await response.json()).error.code, -32603);
    }
  }
  const none = { ...id, authorization: null };
  assert.equal((await test.send("POST", "/api/mcp", LIST, none)).status, 401);
  assert.equal((await test.send("POST", "/api/mcp", LIST, id)).status, 200);
});

Deno.test("a client may accept ranges of types, and write them in capitals", async () => {
  verifies("11-21");
  await using test = await startSidecarTest();
  const both = [
    "*/*",
    "application/*, text/*",
    "Application/JSON, Text/Event-Stream",
    "text/event-stream;q=0.5,application/json",
  ];
  for (const accept of both) {
    const headers = { "mcp-session-id": await test.open({ accept }), accept };
    const response = await test.send("POST", "/api/mcp", LIST, headers);
    assert.equal(response.status, 200, accept);
    const [message] = await messagesOf(response);
    assert.equal((message as Json).result.tools.length, 5);
  }
  const id = { "mcp-session-id": await test.open() };
  for (const accept of [...both, "text/*", "TEXT/event-stream"]) {
    const response = await test.send("GET", "/api/mcp", undefined, { ...id, accept });
    assert.equal(response.status, 200, accept);
    await response.body?.cancel();
  }
  for (const accept of [null, "*/*"]) {
    const response = await test.send("DELETE", "/api/mcp", undefined, {
      "mcp-session-id": await test.open(),
      accept,
    });
    assert.equal(response.status, 200);
  }
});

Deno.test("the list of tools is the same on every connection", async () => {
  verifies("11-23", "11-37");
  const limits = { sessionsPerIp: 100, newSessionsPerIpPerMinute: 100 };
  await using test = await startSidecarTest({ limits });
  const writer = test.headers(await test.svc.addKey(["write"]));
  const lists: Json[] = [];
  const add = async (id: string, headers: Record<string, string> = {}) => {
    const sent = { ...headers, "mcp-session-id": id };
    const [message] = await messagesOf(await test.send("POST", "/api/mcp", LIST, sent));
    lists.push((message as Json).result.tools);
  };
  await add(await test.open());
  await add(await test.open({ "x-svc-namespace": "work" }));
  await add(await test.open(writer), writer);
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18"]) {
    await add(await test.open(), { "mcp-protocol-version": revision });
  }
  const sse = (await test.send("GET", "/api/mcp/sse")).body!.pipeThrough(new TextDecoderStream());
  const reader = sse.getReader();
  let text = "";
  const until = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) return found;
      text += (await reader.read()).value ?? "";
    }
  };
  await (await test.send("POST", await until(/data: (\/\S+)/), LIST)).body?.cancel();
  lists.push(JSON.parse(await until(/event: message\ndata: (.+)\n\n/)).result.tools);
  await reader.cancel();
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const sessionless = await test.send("POST", "/api/mcp", { ...LIST, params: { _meta } }, {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
  });
  lists.push((await sessionless.json()).result.tools);
  assert.equal(lists.length, 8);
  for (const list of lists) assert.deepEqual(list, lists[0]);
});

Deno.test("event streams are UTF-8 with LF alone, and one data line an event", async () => {
  verifies("11-15", "11-33");
  await using test = await startSidecarTest();
  await test.svc.remember("tea\r\nand\u2028milk \u{1f375}\n\ndata: forged\n\n");
  const id = { "mcp-session-id": await test.open() };
  const params = { name: "svc_recall", arguments: { query: "tea" } };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const response = await test.send("POST", "/api/mcp", body, id);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
  assert.equal(response.headers.get("x-accel-buffering"), "no");
  const text = new TextDecoder("utf-8", { fatal: true }).decode(await response.bytes());
  assert.match(text, /^event: message\ndata: [^\r\n]+\n\n$/);
  const { result } = JSON.parse(text.slice(text.indexOf("{")));
  const [hit] = result.structuredContent.results;
  assert.equal(hit.text, "tea\r\nand\u2028milk \u{1f375}\n\ndata: forged\n\n");
});

Deno.test("signs of life come within a second and then at the interval", async () => {
  verifies("11-17");
  await using test = await startSidecarTest({ limits: { keepaliveSeconds: 0.01 } });
  const id = { "mcp-session-id": await test.open() };
  for (
    const response of [
      await test.send("GET", "/api/mcp/sse"),
      await test.send("GET", "/api/mcp", undefined, id),
    ]
  ) {
    const begin = performance.now();
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes(":keepalive\n\n")) text += (await reader.read()).value;
    assert.ok(performance.now() - begin < 1000);
    while (text.split(":keepalive\n\n").length < 4) text += (await reader.read()).value;
    await reader.cancel();
  }
});

Deno.test("nobody hears of what others do", async () => {
  verifies("18-3");
  await using test = await startSidecarTest({ limits: { keepaliveSeconds: 0.01 } });
  const listening = { "mcp-session-id": await test.open() };
  const stream = await test.send("GET", "/api/mcp", undefined, listening);
  const sse = await test.send("GET", "/api/mcp/sse");
  const readers = [stream, sse].map(({ body }) =>
    body!.pipeThrough(new TextDecoderStream()).getReader()
  );
  const texts = readers.map(() => "");
  const readMore = async () => {
    for (const [i, reader] of readers.entries()) {
      texts[i] = `${texts[i]}${(await reader.read()).value}`;
    }
  };
  await readMore();
  const other = { "mcp-session-id": await test.open() };
  const params = { name: "svc_remember", arguments: { text: "tea" } };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  await messagesOf(await test.send("POST", "/api/mcp", body, other));
  await readMore();
  await readMore();
  assert.match(texts[0]!, /^(:keepalive\n\n)+$/);
  assert.match(texts[1]!, /^event: endpoint\ndata: \S+\n\n(:keepalive\n\n)+$/);
  for (const reader of readers) await reader.cancel();
});
