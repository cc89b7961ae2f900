import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { checkKey } from "../../../cli/login/check_key.ts";
import { type Credentials, makeDelegateKey } from "../../../src/client/mod.ts";
import { createSidecar } from "../../../src/mcp/mcp.ts";
import { formatPrivateKey } from "../../../src/wire/signing/private_key.ts";
import { TOOLS } from "../../../src/wire/table/tools.ts";
import { type Json, startRelayer, type TestKey } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { answersAreMadeUp } from "../../watched_answers.ts";
import { IDS } from "../dashboard.ts";
import { Terminal } from "../terminal.ts";
import { FakeRelayer } from "./fake_relayer.ts";
import { textOf } from "./host_peer.ts";
import { newCredentials, startBridge } from "./setup.ts";

const TOKEN = "token-of-the-sidecar-tests";
const LISTEN = { hostname: "127.0.0.1", port: 0, onListen() {} };

/** One request as it came. */
interface Recorded {
  readonly method: string;
  readonly target: string;
  readonly headers: [string, string][];
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Somebody's server that writes everything down. */
class Recorder implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly requests: Recorded[] = [];

  constructor(answer: (request: Recorded) => Response | Promise<Response>) {
    this.#server = Deno.serve(LISTEN, async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const body = await request.bytes();
      const seen = { method, target: pathname + search, headers: [...headers], body };
      this.requests.push(seen);
      return await answer(seen);
    });
    answersAreMadeUp(this.url);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Requests of a path. */
  at(path: string): Recorded[] {
    return this.requests.filter(({ target }) => target.startsWith(path));
  }

  /** Asserts that no spelling of the key is anywhere in what came. */
  lacks(key: TestKey): void {
    const { seed } = key;
    const spellings = [
      seed.toHex(),
      Buffer.from(seed).toString("base64").replace(/=+$/, ""),
      Buffer.from(seed).toString("base64url"),
      Buffer.from(seed.toHex()).toString("base64").replace(/=+$/, ""),
      formatPrivateKey(seed),
    ];
    const all = this.requests.map(({ method, target, headers, body }) =>
      [method, target, JSON.stringify(headers), new TextDecoder().decode(body)].join("\n")
    ).join("\n");
    for (const text of spellings) assert.ok(!all.toLowerCase().includes(text.toLowerCase()));
    assert.ok(!this.requests.some(({ body }) => Buffer.from(body).includes(Buffer.from(seed))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** Sends what was recorded to another address, as it came. */
async function passOn(url: string, request: Recorded): Promise<Response> {
  const { method, target, body } = request;
  const headers = request.headers.filter(([name]) => !/^(host|content-length)$/.test(name));
  const init = { method, headers, ...(body.length === 0 ? {} : { body }) };
  return await fetch(url + target, init);
}

/** A relayer with a sidecar on a port, and the credentials of its key. */
async function startHome() {
  const stack = new AsyncDisposableStack();
  const svc = stack.use(await startRelayer());
  const sidecar = stack.use(createSidecar({
    relayerUrl: "http://127.0.0.1:9",
    token: TOKEN,
    fetch: (url, init) => svc.relayer.fetchInternal(new Request(url, init), { isProven: true }),
  }));
  const server = stack.use(Deno.serve(LISTEN, (request, info) => {
    if (!new URL(request.url).pathname.startsWith("/api/mcp")) {
      return svc.relayer.fetch(request, info);
    }
    const headers = new Headers(request.headers);
    headers.set("x-svc-sidecar-token", TOKEN);
    headers.set("x-svc-client-ip", "127.0.0.1");
    return sidecar.fetch(new Request(request, { headers }));
  }));
  const url = `http://127.0.0.1:${server.addr.port}`;
  svc.relayer.listensAt(url);
  const pair = await makeDelegateKey(svc.key.seed);
  const credentials: Credentials = {
    ...IDS,
    delegatePrivateKey: pair.privateKey,
    delegatePublicKeyHex: pair.publicKey,
    delegateAddress: pair.address,
    accountId: svc.account.accountId,
    relayerUrl: url,
    createdAt: "2026-01-01T00:00:00.000Z",
    version: 1,
  };
  return { svc, url, credentials, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Strangers: one that passes everything on, one that plays an old relayer, one that says yes. */
const STRANGERS: Readonly<
  Record<string, (home: string) => (seen: Recorded) => Response | Promise<Response>>
> = {
  "passes on": (home) => (seen) => passOn(home, seen),
  "plays an old relayer": () => ({ target }) =>
    target === "/version"
      ? Response.json({ featureFlags: {} })
      : Response.json({ error: "", code: "not_found" }, { status: 404 }),
  "says yes": () => ({ target }) => {
    if (target === "/api/session-token") {
      return Response.json({ token: `svct1.${"A".repeat(200)}`, expires_in: 3600 });
    }
    if (target.startsWith("/api/mcp")) return new Response(null, { status: 403 });
    const job_id = crypto.randomUUID();
    return Response.json({
      featureFlags: {},
      status: "done",
      recallable: true,
      results: [],
      job_id,
    });
  },
};

/** Asserts that nothing that was recorded does anything at home. */
async function opensNothing(recorder: Recorder, home: string): Promise<void> {
  const signed = recorder.requests.filter(({ headers }) =>
    headers.some(([name]) => name === "x-signature")
  );
  for (const request of signed) {
    const response = await passOn(home, request);
    const { code } = await response.json();
    assert.equal(`${response.status} ${code}`, "401 audience_mismatch", request.target);
  }
  for (const request of recorder.at("/api/mcp")) {
    const response = await passOn(home, request);
    await response.body?.cancel();
    assert.ok(response.status >= 400, `${request.method} ${request.target}`);
  }
}

for (const [name, make] of Object.entries(STRANGERS)) {
  for (const transport of ["auto", "http", "sse"]) {
    Deno.test(`another relayer that ${name} gets no key from the bridge over ${transport}`, async () => {
      verifies("13.1-5", "13.1-7", "13.3-9", "10.12-2");
      await using home = await startHome();
      await using stranger = new Recorder(make(home.url));
      const { credentials } = home;
      await using bridge = await startBridge({
        credentials,
        args: ["--transport", transport],
        env: { SVC_SERVER_URL: stranger.url },
      });
      await bridge.host.initialize();
      const result = await bridge.host.call("svc_remember", { text: "tea" });
      assert.equal(result.isError, true);
      if (name === "plays an old relayer") assert.match(textOf(result), /--send-key/);
      if (name === "passes on") assert.match(textOf(result), /another address .*audience_mismatch/);
      assert.ok(stranger.at("/api/session-token").length > 0);
      stranger.lacks(home.svc.key);
      await opensNothing(stranger, home.url);
      assert.deepEqual(await home.svc.recall("tea"), []);
    });
  }

  Deno.test(`another relayer that ${name} gets no key from terminal commands`, async () => {
    verifies("13.1-7", "14.1-7");
    await using home = await startHome();
    await using stranger = new Recorder(make(home.url));
    await using terminal = await Terminal.open();
    await terminal.signIn(home.credentials);
    const commands = [
      "status",
      "remember tea",
      "recall tea",
      "list",
      "namespaces",
      "forget a --yes",
    ];
    for (const [at, command] of commands.entries()) {
      const words = command.split(" ");
      const env = { SVC_SERVER_URL: stranger.url };
      const said = at % 2 === 0
        ? await terminal.run([...words, "--relayer", stranger.url])
        : await terminal.run(words, { env: { HOME: terminal.home, ...env } });
      assert.match(said.err, /your key stays here/);
      if (name === "passes on" && command !== "status") assert.match(said.err, /another address/);
    }
    assert.ok(stranger.at("/api/").length >= commands.length - 1);
    await checkKey({ ...home.credentials, relayerUrl: stranger.url }, {
      fetch: (url, init) => fetch(url, init),
      sleep: () => Promise.resolve(),
    });
    stranger.lacks(home.svc.key);
    // The check of a new key is for the relayer that the key is made for; it may be an old one.
    const fresh = stranger.requests.findLastIndex(({ target }) => target === "/version");
    stranger.requests.splice(fresh);
    await opensNothing(stranger, home.url);
    assert.deepEqual(await home.svc.recall("tea"), []);
  });
}

Deno.test("at home the bridge shows tokens, over both transports, and no key", async () => {
  verifies("13.3-1", "13.3-9", "14.1-7", "11-41");
  await using home = await startHome();
  await using between = new Recorder((seen) => passOn(home.url, seen));
  home.svc.relayer.listensAt(between.url);
  const credentials = { ...home.credentials, relayerUrl: between.url };
  for (const transport of ["http", "sse"]) {
    await using bridge = await startBridge({ credentials, args: ["--transport", transport] });
    await bridge.host.initialize();
    const saved = await bridge.host.call("svc_remember", { text: `tea over ${transport}` });
    assert.equal(saved.isError, undefined, textOf(saved));
    const found = await bridge.host.call("svc_recall", { query: "tea" });
    assert.match(textOf(found), new RegExp(`tea over ${transport}`));
  }
  const shown = between.at("/api/mcp").map(({ headers }) => new Headers(headers));
  assert.ok(shown.every((headers) => /^Bearer svct1\./.test(headers.get("authorization") ?? "")));
  between.lacks(home.svc.key);
  // One token for each connection, however many requests.
  assert.equal(between.at("/api/session-token").length, 2);
});

/** Results as 0.1.0 gave them. */
const RESULTS_BEFORE: Readonly<Record<string, Json>> = {
  svc_remember: {
    memory_id: "01a211c9-1892-7000-ab46-7e334ce1eb68",
    job_id: "01a211c9-1892-7000-ab46-7e334ce1eb68",
    blob_id: "zpJZcNZGfj00Sv4t_VaCTdiYmp-QAV0x_ZR_Ynb0AK8",
    namespace: "default",
    status: "uploaded",
    recallable: true,
  },
  svc_recall: {
    results: [{
      blob_id: "zpJZcNZGfj00Sv4t_VaCTdiYmp-QAV0x_ZR_Ynb0AK8",
      text: "I like tea",
      distance: 0.29,
      score: 0.79,
      memory_id: "01a211c9-1892-7000-ab46-7e334ce1eb68",
      namespace: "default",
      created_at: "2026-11-25T08:18:41.426Z",
      importance: 0.5,
    }],
    total: 1,
  },
};

Deno.test("a relayer of 0.1 is used as it is: hosts get what fits, and what it lacks is said", async () => {
  verifies("13.3-9", "13.3-10");
  await using relayer = new FakeRelayer({
    onRequest: ({ params: { name } }) => {
      const structuredContent = RESULTS_BEFORE[name];
      if (structuredContent !== undefined) {
        return { content: [{ type: "text", text: "as ever" }], structuredContent };
      }
      const error = { code: -32602, message: `Tool ${name} not found` };
      return Response.json({ jsonrpc: "2.0", id: 1, error });
    },
  });
  const credentials = await newCredentials(relayer.url);
  await using bridge = await startBridge({ credentials });
  await bridge.host.initialize();
  for (const [name, args] of [["remember", { text: "x" }], ["recall", { query: "x" }]] as const) {
    const { structuredContent } = await bridge.host.call(`svc_${name}`, args);
    TOOLS[name].output().parse(structuredContent);
  }
  const missing = await bridge.host.call("svc_list", {});
  assert.equal(missing.isError, true);
  assert.match(textOf(missing), /has no svc_list for your key: .*\(code: not_found\)/);
});

Deno.test("a saved relayer that makes no tokens gets the key; another one by --send-key", async () => {
  verifies("13.1-8", "13.3-9");
  const old = STRANGERS["plays an old relayer"]!;
  await using home = await startHome();
  await using relayer = new Recorder(old(home.url));
  const bearers = () =>
    relayer.at("/api/mcp").map(({ headers }) => new Headers(headers).get("authorization"));
  const key = `Bearer ${home.credentials.delegatePrivateKey}`;
  for (
    const [relayerUrl, args] of [
      [relayer.url, []],
      [`${relayer.url}/elsewhere`, ["--relayer", relayer.url]],
      [home.url, ["--relayer", relayer.url, "--send-key"]],
    ] as const
  ) {
    relayer.requests.length = 0;
    await using bridge = await startBridge({
      credentials: { ...home.credentials, relayerUrl },
      args: [...args],
    });
    await bridge.host.call("svc_recall", { query: "tea" });
    assert.equal(bearers()[0], key);
  }
  // No variable allows it.
  relayer.requests.length = 0;
  const env = { SVC_SERVER_URL: relayer.url, SVC_SEND_KEY: "1" };
  await using bridge = await startBridge({ credentials: home.credentials, env });
  await bridge.host.call("svc_recall", { query: "tea" });
  assert.deepEqual(bearers(), []);
});
