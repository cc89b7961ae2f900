import assert from "node:assert/strict";
import type { Json } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { startSidecarTest } from "../../mcp/fixture.ts";
import { ALL_TOOLS } from "../../../cli/bridge/local_tools.ts";
import { eventResponse, FakeRelayer } from "./fake_relayer.ts";
import { textOf, TOOLS } from "./host_peer.ts";
import { newCredentials, startBridge } from "./setup.ts";

const META = "io.modelcontextprotocol/";
const SESSIONLESS = {
  [`${META}protocolVersion`]: "2026-07-28",
  [`${META}clientInfo`]: { name: "modern host", version: "1" },
  [`${META}clientCapabilities`]: {},
};

Deno.test("initialize and ping are answered locally, with the revision that was asked for", async () => {
  verifies("13.2-9", "11-38");
  // A relayer that accepts connections and never answers.
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const credentials = await newCredentials(`http://127.0.0.1:${listener.addr.port}`);
  await using svc = await startBridge({ credentials });
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    const result = await svc.host.initialize(revision);
    assert.equal(result.protocolVersion, revision);
    assert.deepEqual(result.capabilities, { tools: { listChanged: true }, logging: {} });
    assert.equal(result.serverInfo.name, "svc");
  }
  for (const revision of ["2026-07-28", "1999-01-01", ""]) {
    assert.equal((await svc.host.initialize(revision)).protocolVersion, "2025-11-25");
  }
  assert.deepEqual((await svc.host.request("ping")).result, {});
  assert.deepEqual(await svc.host.tools(), TOOLS.signedIn);
  assert.deepEqual((await svc.host.request("logging/setLevel", { level: "error" })).result, {});
  const wrong = await svc.host.request("logging/setLevel", { level: "loud" });
  assert.equal(wrong.error.code, -32602);
});

Deno.test("the memory tools are described as the relayer describes them", async () => {
  verifies("13.2-4", "12-16");
  await using sidecar = await startSidecarTest();
  const session = await sidecar.open();
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const response = await sidecar.send("POST", "/api/mcp", list, { "mcp-session-id": session });
  const [, data = ""] = /^data: (.*)$/m.exec(await response.text()) ?? [];
  const theirs: Json[] = JSON.parse(data).result.tools;
  const ours: Json[] = JSON.parse(JSON.stringify(ALL_TOOLS));
  for (const tool of theirs) {
    const own = ours.find(({ name }) => name === tool.name);
    for (const key of Object.keys(own)) assert.deepEqual(own[key], tool[key], tool.name + key);
  }
  assert.equal(theirs.length, 5);
  // The longest list that a host is given: models read it whole.
  const managing = ours.filter(({ name }) => TOOLS.managing.includes(name));
  assert.equal(managing.length, 8);
  assert.ok(JSON.stringify({ tools: managing }).length < 8000);
  const hints = (name: string) =>
    Object.values(ours.find((tool) => tool.name === name).annotations);
  for (const [name, title] of [["svc_login", "Sign in"], ["svc_logout", "Sign out"]]) {
    const tool = ours.find((own) => own.name === name);
    assert.equal(tool.title, title);
    assert.deepEqual(tool.inputSchema.properties ?? {}, {});
    assert.equal(tool.inputSchema.additionalProperties, false);
  }
  assert.deepEqual(hints("svc_login"), [false, false, false, true]);
  assert.deepEqual(hints("svc_logout"), [false, true, true, false]);
});

Deno.test("the sessionless revision is spoken to hosts that ask for it", async () => {
  await using relayer = new FakeRelayer();
  const credentials = await newCredentials(relayer.url);
  await using svc = await startBridge({ credentials });
  const ask = async (method: string, params: Json = {}, id?: Json) => {
    const meta = { ...SESSIONLESS, ...params._meta };
    return (await svc.host.request(method, { ...params, _meta: meta }, id)).result;
  };
  const discovered = await ask("server/discover");
  assert.deepEqual(discovered.supportedVersions, ["2026-07-28"]);
  assert.deepEqual(discovered.capabilities, { tools: { listChanged: true }, logging: {} });
  const listed = await ask("tools/list");
  for (const result of [discovered, listed]) {
    assert.equal(result.resultType, "complete");
    assert.deepEqual([result.ttlMs, result.cacheScope], [0, "private"]);
    assert.equal(result._meta[`${META}serverInfo`].name, "svc");
  }
  assert.equal(listed.tools.length, 7);
  const called = await ask("tools/call", {
    name: "svc_recall",
    arguments: { query: "q" },
    _meta: { progressToken: 7 },
  });
  assert.equal(called.resultType, "complete");
  assert.equal(textOf(called), '{"query":"q"}');
  const [passed] = relayer.messages("tools/call");
  assert.deepEqual(passed.params._meta, { progressToken: 7 }, "the relayer's session has its own");

  void svc.host.request("subscriptions/listen", {
    notifications: { toolsListChanged: true },
    _meta: SESSIONLESS,
  }, "listen:0");
  const acknowledged = await svc.host.heard("notifications/subscriptions/acknowledged");
  assert.deepEqual(acknowledged.params.notifications, { toolsListChanged: true });
  assert.equal(acknowledged.params._meta[`${META}subscriptionId`], "listen:0");
  await ask("tools/call", { name: "svc_logout" });
  const changed = await svc.host.heard("notifications/tools/list_changed");
  assert.equal(changed.params._meta[`${META}subscriptionId`], "listen:0");

  const meta = { ...SESSIONLESS, [`${META}protocolVersion`]: "2030-01-01" };
  const { error } = await svc.host.request("tools/list", { _meta: meta });
  assert.equal(error.code, -32022);
  assert.deepEqual(error.data, { supported: ["2026-07-28"], requested: "2030-01-01" });
});

Deno.test("what is no message gets an error and ends nothing", async () => {
  await using svc = await startBridge({ credentials: null });
  const { host } = svc;
  const next = async (line: string): Promise<Json> => {
    const before = host.messages.length;
    await host.raw(line);
    await host.request("ping", undefined, "last");
    await host.request("ping", undefined, "last");
    return host.messages.slice(before).find((message) => message.id !== "last");
  };
  assert.equal((await next("{not json")).error.code, -32700);
  assert.equal((await next("{}")).error.code, -32600);
  assert.equal((await next('"text"')).error.code, -32600);
  assert.equal((await next('{"jsonrpc":"2.0","id":7}')).id, 7, "its sender waits");
  assert.equal((await next("[]")).error.code, -32600);
  assert.equal((await next("x".repeat(9 * 1024 * 1024))).error.code, -32700);
  const batch = [
    { jsonrpc: "2.0", id: "a", method: "ping" },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: "b", method: "ping" },
  ];
  const answers = await next(JSON.stringify(batch));
  assert.deepEqual(answers, [
    { jsonrpc: "2.0", id: "a", result: {} },
    { jsonrpc: "2.0", id: "b", result: {} },
  ]);
});

Deno.test("progress reaches the host while the call waits; other methods are passed on", async () => {
  const progress = (progressToken: Json): Json => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken, progress: 1, total: 2 },
  });
  await using relayer = new FakeRelayer({
    onRequest: ({ id, method }) =>
      method === "tools/call"
        ? eventResponse([progress("mine"), progress("nobody's"), {
          jsonrpc: "2.0",
          id,
          result: { content: [] },
        }])
        : eventResponse([{ jsonrpc: "2.0", id, error: { code: -32601, message: "Not here" } }]),
  });
  const credentials = await newCredentials(relayer.url);
  await using svc = await startBridge({ credentials });
  await svc.host.call("svc_recall", { query: "q" }, { progressToken: "mine" });
  const heard = svc.host.messages.filter(({ method }) => method === "notifications/progress");
  assert.deepEqual(heard, [progress("mine")]);
  const { error } = await svc.host.request("prompts/list", {});
  assert.deepEqual(error, { code: -32601, message: "Not here" });
  assert.equal(relayer.messages("prompts/list").length, 1);
});

for (const transport of ["http", "sse"]) {
  Deno.test(`a cancelled call is cancelled at the relayer, and not answered (${transport})`, async () => {
    const arrived = Promise.withResolvers<Json>();
    const cancelled = Promise.withResolvers<Json>();
    await using relayer = new FakeRelayer({
      before: ({ message }) => {
        if (message?.method === "notifications/cancelled") cancelled.resolve(message);
        return undefined;
      },
      onRequest: async (message) => {
        arrived.resolve(message);
        await cancelled.promise;
        return {};
      },
    });
    const credentials = await newCredentials(relayer.url);
    await using svc = await startBridge({ credentials, args: ["--transport", transport] });
    void svc.host.request("tools/call", { name: "svc_recall", arguments: { query: "q" } }, "x");
    const { id } = await arrived.promise;
    await svc.host.notify("notifications/cancelled", { requestId: "x" });
    assert.equal((await cancelled.promise).params.requestId, id);
    await svc.host.request("ping");
    assert.ok(!svc.host.messages.some((message) => message.id === "x"));
  });
}

Deno.test("an input that breaks ends the bridge like one that is closed", async () => {
  verifies("13.3-8");
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.error(new Error("The host is gone")),
  });
  await using svc = await startBridge({ credentials: null, input: broken });
  await svc.host.ended;
  assert.ok(svc.log.some((line) => line.includes("input broke")));
});

Deno.test("a host that leaves at once leaves no session at the relayer", async () => {
  verifies("13.3-8");
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<undefined>();
  await using relayer = new FakeRelayer({
    before: ({ message }) => {
      if (message?.method !== "initialize") return undefined;
      asked.resolve();
      return answered.promise;
    },
  });
  await using svc = await startBridge({ credentials: await newCredentials(relayer.url) });
  await svc.host.initialize();
  await asked.promise;
  const ended = svc.end();
  answered.resolve(undefined);
  await ended;
  const closed = relayer.seen.filter(({ method }) => method === "DELETE");
  assert.deepEqual(closed.map(({ headers }) => headers.get("mcp-session-id")), ["session-1"]);
});
