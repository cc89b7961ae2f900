import assert from "node:assert/strict";
import { TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { startSidecarTest, type TestSidecar } from "./fixture.ts";
import { poll, turns } from "../within.ts";

/** Events of an open SSE session. */
class Stream implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";
  path = "";

  constructor(readonly response: Response) {
    this.#reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(
    test: TestSidecar,
    headers: Record<string, string | null> = {},
  ): Promise<Stream> {
    const stream = new Stream(await test.send("GET", "/api/mcp/sse", undefined, headers));
    stream.path = (await stream.next()).replace("event: endpoint\ndata: ", "");
    return stream;
  }

  /** The next event or comment, without the empty line. */
  async next(): Promise<string> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const event = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return event;
      }
      const { value, done } = await this.#reader.read();
      if (done) return "end";
      this.#text += value;
    }
  }

  /** The next message. */
  async message() {
    for (;;) {
      const event = await this.next();
      if (event.startsWith(":")) continue;
      assert.match(event, /^event: message\ndata: [^\r\n]+$/);
      return JSON.parse(event.slice("event: message\ndata: ".length));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const REMEMBER = {
  jsonrpc: "2.0",
  id: 5,
  method: "tools/call",
  params: { name: "svc_remember", arguments: { text: "I like tea" } },
};

Deno.test("the first event is the endpoint, then a sign of life", async () => {
  verifies("11-16", "11-17", "11-33");
  await using test = await startSidecarTest();
  await using stream = new Stream(await test.send("GET", "/api/mcp/sse"));
  assert.equal(stream.response.headers.get("content-type"), "text/event-stream");
  assert.equal(stream.response.headers.get("cache-control"), "no-cache, no-transform");
  assert.match(
    await stream.next(),
    /^event: endpoint\ndata: \/api\/mcp\/messages\?sessionId=[0-9a-f]{32}$/,
  );
  assert.equal(await stream.next(), ":keepalive");
});

Deno.test("requests are served without initialize, and in batches", async () => {
  verifies("11-20");
  await using test = await startSidecarTest();
  await using stream = await Stream.open(test);
  const response = await test.send("POST", stream.path, LIST);
  assert.equal(response.status, 202);
  await response.body?.cancel();
  assert.equal((await stream.message()).result.tools.length, 5);
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  await (await test.send("POST", stream.path, [{ ...ping, id: 3 }, ping])).text();
  assert.deepEqual([(await stream.message()).id, (await stream.message()).id].sort(), [2, 3]);
});

Deno.test("messages without credentials come from the stream's own address", async () => {
  verifies("11-18", "11-29");
  await using test = await startSidecarTest();
  await using stream = await Stream.open(test);
  const none = { authorization: null, "x-svc-account-id": null };
  const send = async (headers: Record<string, string | null>) => {
    const response = await test.send("POST", stream.path, LIST, headers);
    await response.text();
    return response.status;
  };
  assert.equal(await send(none), 202);
  assert.equal(await send({ ...none, accept: null }), 202);
  assert.equal(await send({ ...none, "x-svc-client-ip": "127.0.0.2" }), 401);
  assert.equal(await send({ "x-svc-client-ip": "127.0.0.2" }), 202);
  assert.equal(await send({ authorization: `Bearer ${"ab".repeat(32)}` }), 403);
  assert.equal(await send({ "content-type": "text/plain" }), 415);
});

Deno.test("a session ends with its connection", async () => {
  verifies("11-14", "11-19");
  await using test = await startSidecarTest();
  const stream = await Stream.open(test);
  assert.deepEqual(test.sidecar.stats(), { sse: 1, streamable: 0, sessions: 1 });
  await stream[Symbol.asyncDispose]();
  assert.deepEqual(test.sidecar.stats(), { sse: 0, streamable: 0, sessions: 0 });
  assert.equal((await test.send("POST", stream.path, LIST)).status, 404);
});

Deno.test("a session ends with its connection, over the network", async () => {
  await using test = await startSidecarTest();
  const gone = new AbortController();
  const response = await fetch(`${test.base}/api/mcp/sse`, {
    headers: { ...test.headers(), accept: "text/event-stream" },
    signal: gone.signal,
  });
  const reader = response.body!.getReader();
  await reader.read();
  assert.equal(test.sidecar.stats().sse, 1);
  gone.abort();
  await reader.read().catch(() => {});
  await poll(() => test.sidecar.stats().sse, (count) => count === 0);
  assert.equal(test.sidecar.stats().sessions, 0);
});

Deno.test("a write that a bridge sends again after its stream broke is one memory", async () => {
  verifies("17.2-4");
  const clock = new TestClock();
  await using test = await startSidecarTest({ now: clock.now }, { clock });
  const remember = async (body: unknown = REMEMBER): Promise<string> => {
    await using stream = await Stream.open(test);
    await (await test.send("POST", stream.path, body)).text();
    const { result } = await stream.message();
    return result.structuredContent.memory_id;
  };
  const first = await remember();
  assert.equal(await remember(), first);
  assert.notEqual(await remember({ ...REMEMBER, id: 6 }), first);
  clock.advance(61_000);
  assert.notEqual(await remember(), first);
});

Deno.test("the older naming: headers, tool names, list", async () => {
  verifies("17.2-1", "17.2-2", "17.2-3");
  await using test = await startSidecarTest();
  const { accountId } = test.svc.account;
  const alias = {
    "x-svc-account-id": null,
    "x-memwal-account-id": accountId,
    "x-memwal-namespace": "work",
  };
  const call = (name: string) => ({ ...REMEMBER, params: { ...REMEMBER.params, name } });
  for (const [headers, prefix] of [[alias, "memwal_"], [{}, "svc_"]] as const) {
    await using stream = await Stream.open(test, headers);
    await (await test.send("POST", stream.path, LIST, headers)).text();
    const { result } = await stream.message();
    assert.deepEqual(
      result.tools.map((tool: { name: string }) => tool.name),
      ["remember", "recall", "list", "analyze", "restore"].map((name) => prefix + name),
    );
    for (const name of ["svc_remember", "memwal_remember"]) {
      await (await test.send("POST", stream.path, call(name), headers)).text();
      const saved = (await stream.message()).result.structuredContent;
      assert.equal(saved.namespace, prefix === "svc_" ? "default" : "work");
    }
  }
});

Deno.test("without aliases the older naming is unknown", async () => {
  await using test = await startSidecarTest({ limits: { aliases: false } });
  const { accountId } = test.svc.account;
  const alias = { "x-svc-account-id": null, "x-memwal-account-id": accountId };
  assert.equal((await test.send("GET", "/api/mcp/sse", undefined, alias)).status, 401);
  await using stream = await Stream.open(test);
  const params = { ...REMEMBER.params, name: "memwal_remember" };
  await (await test.send("POST", stream.path, { ...REMEMBER, params })).text();
  assert.equal((await stream.message()).error.code, -32602);
});

Deno.test("a client that does not read is cut off", async () => {
  await using test = await startSidecarTest();
  const reader = (await test.send("GET", "/api/mcp/sse")).body!.getReader();
  const { value } = await reader.read();
  const path = /data: (\S+)/.exec(new TextDecoder().decode(value))![1]!;
  const batch = Array.from({ length: 100 }, (_, id) => ({ ...LIST, id }));
  for (let i = 0; i < 20 && test.sidecar.stats().sse === 1; i++) {
    await (await test.send("POST", path, batch)).text();
    await turns();
  }
  assert.deepEqual(test.sidecar.stats(), { sse: 0, streamable: 0, sessions: 0 });
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  });
});
