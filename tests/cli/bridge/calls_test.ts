import assert from "node:assert/strict";
import type { Json } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { FakeRelayer, type Seen } from "./fake_relayer.ts";
import { textOf } from "./host_peer.ts";
import { newCredentials, startBridge } from "./setup.ts";

const KEY = "svc/idempotency-key";
const isCall = ({ message }: Seen): boolean => message?.method === "tools/call";

for (const status of [404, 405, 501]) {
  Deno.test(`HTTP with SSE is used where Streamable HTTP answers ${status}`, async () => {
    verifies("13.3-1", "13.3-7");
    await using relayer = new FakeRelayer({
      before: ({ path }) => path === "/api/mcp" ? new Response(null, { status }) : undefined,
    });
    const credentials = await newCredentials(relayer.url);
    await using svc = await startBridge({ credentials });
    await svc.host.initialize();
    const result = await svc.host.call("svc_recall", { query: "tea" });
    assert.equal(textOf(result), '{"query":"tea"}');
    const [tried, opened] = relayer.seen;
    assert.equal(`${tried?.method} ${tried?.path}`, "POST /api/mcp");
    assert.equal(`${opened?.method} ${opened?.path}`, "GET /api/mcp/sse");
    for (const { headers } of relayer.seen) {
      assert.equal(headers.get("authorization"), `Bearer ${credentials.delegatePrivateKey}`);
      assert.equal(headers.get("x-svc-account-id"), credentials.accountId);
    }
  });
}

Deno.test("Streamable HTTP is tried first; a transport that is named is the only one", async () => {
  verifies("13.3-1");
  const recall = async (transport: string, status?: number): Promise<[Json, string[]]> => {
    await using relayer = new FakeRelayer({
      before: ({ path }) =>
        path === "/api/mcp" && status ? new Response(null, { status }) : undefined,
    });
    const credentials = await newCredentials(relayer.url);
    await using svc = await startBridge({ credentials, args: ["--transport", transport] });
    const result = await svc.host.call("svc_recall", { query: "tea" });
    return [result, relayer.trace];
  };
  const [, auto] = await recall("auto");
  assert.ok(!auto.includes("GET /api/mcp/sse"));
  const [refused, http] = await recall("http", 404);
  assert.equal(refused.isError, true);
  assert.ok(!http.includes("GET /api/mcp/sse"));
  const [, sse] = await recall("sse");
  assert.equal(sse[0], "GET /api/mcp/sse");
  assert.ok(!sse.includes("POST /api/mcp"));
  const [, failing] = await recall("auto", 403);
  assert.ok(!failing.includes("GET /api/mcp/sse"), "other refusals are no reason");
});

Deno.test("the default namespace: call, flag, variable, none", async () => {
  verifies("13.3-2");
  await using relayer = new FakeRelayer();
  const credentials = await newCredentials(relayer.url);
  const args = { query: "q", text: "t" };
  const sent = async (flags: string[], env: Record<string, string>, name: string, own: Json) => {
    await using svc = await startBridge({ credentials, args: flags, env });
    const result = await svc.host.call(name, { ...args, ...own });
    return JSON.parse(textOf(result)).namespace;
  };
  const env = { SVC_NAMESPACE: "variable" };
  for (const name of ["svc_remember", "svc_recall", "svc_analyze", "svc_restore"]) {
    assert.equal(await sent(["--namespace", "flag"], env, name, { namespace: "call" }), "call");
    assert.equal(await sent(["--namespace", "flag"], env, name, {}), "flag");
  }
  assert.equal(await sent(["--ns=flag"], env, "svc_recall", { namespace: "" }), "flag");
  assert.equal(await sent(["--ns=flag"], env, "svc_recall", { namespace: null }), "flag");
  assert.equal(await sent([], env, "svc_recall", {}), "variable");
  assert.equal(await sent([], {}, "svc_recall", {}), undefined);
  assert.equal(await sent([], {}, "svc_recall", { namespace: "" }), undefined);
  assert.equal(await sent(["--ns=flag"], env, "svc_other", {}), undefined);
});

Deno.test("a refused POST answers the call with an error, whatever the refusal looks like", async () => {
  verifies("13.3-5");
  const rpc = (code: string, message: string): string =>
    JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message, data: { code } } });
  const cases: [status: number, body: string, wanted: RegExp][] = [
    [400, rpc("invalid_request", "No"), /^Tool error: No \(.*\) \(code: invalid_request\)$/],
    [403, "<html>secret page</html>", /HTTP status 403.*code: invalid_request/],
    [413, rpc("body_too_large", "Too large"), /Too large.*code: body_too_large/],
    [429, rpc("rate_limited", "Slow down"), /Slow down.*code: rate_limited/],
    [500, "", /HTTP status 500.*code: sidecar_unavailable/],
    [502, rpc("sidecar_unavailable", "Gone"), /Gone.*code: sidecar_unavailable/],
    [503, JSON.stringify({ error: "Busy", code: "overloaded" }), /Busy.*code: overloaded/],
    [307, "", /HTTP status 307/],
  ];
  for (const transport of ["http", "sse"]) {
    for (const [status, body, wanted] of cases) {
      await using relayer = new FakeRelayer({
        before: (seen) =>
          isCall(seen)
            ? new Response(body, { status, headers: { location: "http://example.invalid/" } })
            : undefined,
      });
      const credentials = await newCredentials(relayer.url);
      await using svc = await startBridge({ credentials, args: ["--transport", transport] });
      const result = await svc.host.call("svc_recall", { query: "tea" });
      assert.equal(result.isError, true);
      assert.match(textOf(result), wanted, `${transport} ${status}`);
      assert.ok(!textOf(result).includes("secret page"));
      assert.equal(relayer.messages("tools/call").length, 1);
    }
  }
});

Deno.test("a write whose answer somebody on the way lost is not said to have failed", async () => {
  verifies("13.3-5", "13.3-6");
  for (const transport of ["http", "sse"]) {
    for (const [status, wanted] of [[502, /is not known/], [504, /is not known/], [503, /503/]]) {
      await using relayer = new FakeRelayer({
        before: (seen) => isCall(seen) ? new Response(null, { status: Number(status) }) : undefined,
      });
      const credentials = await newCredentials(relayer.url);
      await using svc = await startBridge({ credentials, args: ["--transport", transport] });
      for (const name of ["svc_remember", "svc_analyze"]) {
        const result = await svc.host.call(name, { text: "t" });
        assert.equal(result.isError, true);
        assert.match(textOf(result), wanted as RegExp, `${transport} ${status}`);
      }
      assert.equal(relayer.messages("tools/call").length, 2);
    }
  }
});

Deno.test("a result of many megabytes reaches the host at the first call", async () => {
  const memory = "m".repeat(1_000_000);
  const results = Array.from({ length: 10 }, () => ({ text: memory }));
  for (const transport of ["http", "sse"]) {
    await using relayer = new FakeRelayer({
      onRequest: () => ({
        content: [{ type: "text", text: results.map(({ text }) => text).join("\n") }],
        structuredContent: { results },
      }),
    });
    const credentials = await newCredentials(relayer.url);
    await using svc = await startBridge({ credentials, args: ["--transport", transport] });
    const result = await svc.host.call("svc_recall", { query: "tea" });
    assert.equal(result.structuredContent.results.length, results.length, transport);
    assert.equal(relayer.messages("tools/call").length, 1);
  }
});

Deno.test("writes carry a key of their own or the host's, reads carry none", async () => {
  verifies("13.3-6", "13.3-11");
  await using relayer = new FakeRelayer();
  const credentials = await newCredentials(relayer.url);
  await using svc = await startBridge({ credentials });
  const text = { text: "t" };
  await svc.host.call("svc_remember", text);
  await svc.host.call("svc_remember", text);
  await svc.host.call("svc_analyze", text);
  await svc.host.call("svc_remember", text, { [KEY]: "of-the-host" });
  await svc.host.call("svc_recall", { query: "q" });
  await svc.host.call("svc_restore", { namespace: "n" });
  const keys = relayer.messages("tools/call").map(({ params }) => params._meta?.[KEY]);
  const [first, second, third, fourth, ...others] = keys;
  assert.equal(new Set([first, second, third]).size, 3);
  for (const key of [first, second, third]) assert.match(key, /^[\x21-\x7e]{1,128}$/);
  assert.equal(fourth, "of-the-host");
  assert.deepEqual(others, [undefined, undefined]);
  const sessions = relayer.messages("tools/call")
    .map(({ params }) => params._meta?.["svc/session"]);
  const [session] = sessions;
  assert.match(session, /^[0-9a-f-]{36}$/);
  assert.deepEqual(sessions, [session, session, session, session, undefined, undefined]);
});

/** A relayer that breaks its first call off, and counts how often each tool was called. */
function breaking(how: "stream" | "session", honoursKeys: boolean): FakeRelayer {
  let broken = false;
  const relayer: FakeRelayer = new FakeRelayer({
    honoursKeys,
    before: (seen) => {
      if (!isCall(seen) || broken) return undefined;
      broken = true;
      if (how === "session") return new Response(null, { status: 404 });
      if (seen.path === "/api/mcp/messages") {
        queueMicrotask(() => relayer.endStreams());
        return new Response(null, { status: 202 });
      }
      // An event stream that ends before the answer.
      return new Response(":keepalive\n\n", { headers: { "content-type": "text/event-stream" } });
    },
  });
  return relayer;
}

for (const how of ["stream", "session"] as const) {
  for (const transport of ["http", "sse"]) {
    Deno.test(`after a lost ${how} over ${transport}, calls are sent again where they may`, async () => {
      verifies("13.3-6");
      const twice = async (name: string, args: Json, honoursKeys: boolean, meta?: Json) => {
        await using relayer = breaking(how, honoursKeys);
        const credentials = await newCredentials(relayer.url);
        await using svc = await startBridge({ credentials, args: ["--transport", transport] });
        const result = await svc.host.call(name, args, meta);
        const calls = relayer.messages("tools/call");
        const keys = new Set(calls.map(({ params }) => params._meta?.[KEY]));
        assert.equal(keys.size, 1, "the same key");
        assert.equal(relayer.messages("initialize").length, 2, "a new session");
        return { result, times: calls.length };
      };
      for (const honours of [true, false]) {
        const recall = await twice("svc_recall", { query: "q" }, honours);
        assert.equal(recall.times, 2);
        assert.equal(textOf(recall.result), '{"query":"q"}');
        assert.equal((await twice("svc_restore", { namespace: "n" }, honours)).times, 2);
      }
      for (const name of ["svc_remember", "svc_analyze"]) {
        const saved = await twice(name, { text: "t" }, true);
        assert.equal(saved.times, 2);
        assert.notEqual(saved.result.isError, true);
        const unknown = await twice(name, { text: "t" }, false);
        assert.equal(unknown.times, 1);
        assert.equal(unknown.result.isError, true);
        const wanted = how === "stream" ? /is not known/ : /was not saved/;
        assert.match(textOf(unknown.result), wanted);
      }
      // A key that breaks its rule keeps nothing from being stored twice.
      const broken = await twice("svc_remember", { text: "t" }, true, { [KEY]: "not a key" });
      assert.equal(broken.times, 1);
    });
  }
}
