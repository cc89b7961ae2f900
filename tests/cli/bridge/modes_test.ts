import assert from "node:assert/strict";
import type { LoginOutcome, LoginRequests, LoginTarget } from "../../../cli/login/mod.ts";
import { deleteCredentials, writeCredentials } from "../../../src/client/credentials_file.ts";
import { SvcError } from "../../../src/errors.ts";
import { verifies } from "../../requirements.ts";
import { FakeRelayer } from "./fake_relayer.ts";
import { textOf, TOOLS } from "./host_peer.ts";
import { newCredentials, startBridge } from "./setup.ts";

const CHANGED = "notifications/tools/list_changed";
const MEMORY_CALLS = [
  ["svc_remember", { text: "t" }],
  ["svc_recall", { query: "q" }],
  ["svc_analyze", { text: "t" }],
  ["svc_restore", { namespace: "n" }],
] as const;

/** Logins that end when the test says so. */
class TestLogins implements LoginRequests {
  readonly targets: LoginTarget[] = [];
  readonly outcomes: ((outcome: LoginOutcome) => void)[] = [];
  closed = false;

  start(target: LoginTarget) {
    this.targets.push(target);
    const { promise, resolve } = Promise.withResolvers<LoginOutcome>();
    this.outcomes.push(resolve);
    return Promise.resolve({
      url: `${target.webUrl}/connect/mcp?number=${this.targets.length}`,
      expiresAt: new Date("2026-01-01T00:05:00Z"),
      keySuffix: "01234567",
      outcome: promise,
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

Deno.test("without credentials every memory tool says how to sign in", async () => {
  verifies("13.2-3", "13.2-4");
  await using svc = await startBridge({ credentials: null });
  await svc.host.initialize();
  assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);
  for (const [name, args] of MEMORY_CALLS) {
    const result = await svc.host.call(name, args);
    assert.equal(result.isError, true);
    assert.match(textOf(result), /^Tool error: .*svc_login.*`svc-mcp login`.*\(code: \w+\)$/);
  }
  await assert.rejects(svc.host.call("svc_other"), /-32602 Unknown tool/);
  assert.equal((await svc.host.request("resources/list")).error.code, -32601);
});

for (
  const [what, text] of [
    ["not JSON", "{"],
    ["incomplete", '{"version":1,"delegatePrivateKey":"00"}'],
    ["not a file", undefined],
  ] as const
) {
  Deno.test(`a credentials file that is ${what} ends nothing and is kept`, async () => {
    verifies("13.2-3", "13.2-4");
    const home = await Deno.makeTempDir();
    const path = `${home}/credentials.json`;
    if (text === undefined) await Deno.mkdir(path);
    else await Deno.writeTextFile(path, text);
    await using svc = await startBridge({ credentials: null, credentialsPath: path });
    assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);
    const result = await svc.host.call("svc_recall", { query: "q" });
    assert.match(textOf(result), /The credentials file is not used: .*svc_login/);
    if (text !== undefined) assert.equal(await Deno.readTextFile(path), text);
    await svc.end();
    await Deno.remove(home, { recursive: true });
  });
}

Deno.test("a completed login is used at once and announced", async () => {
  verifies("13.2-5", "13.3-3", "12-10");
  await using relayer = new FakeRelayer();
  const logins = new TestLogins();
  await using svc = await startBridge({
    credentials: null,
    args: ["--relayer", relayer.url, "--web-url", "http://localhost:5173"],
    openLogins: () => logins,
  });
  await svc.host.initialize();
  const result = await svc.host.call("svc_login");
  const { login_url, expires_at } = result.structuredContent;
  assert.equal(login_url, "http://localhost:5173/connect/mcp?number=1");
  assert.equal(expires_at, "2026-01-01T00:05:00.000Z");
  assert.equal(textOf(result).split(login_url).length, 3, "the address, repeated");
  assert.match(textOf(result), /01234567/);
  assert.deepEqual(svc.opened, [login_url]);
  const said = await svc.host.heard("notifications/message");
  assert.ok(said.params.data.includes(login_url));
  assert.deepEqual(logins.targets, [{
    relayer: relayer.url,
    webUrl: "http://localhost:5173",
    label: "test host",
  }]);
  await svc.host.call("svc_login");
  assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);

  const credentials = await newCredentials(relayer.url);
  await writeCredentials(svc.path, credentials);
  logins.outcomes[1]!({ status: "signed-in", accountId: credentials.accountId });
  await svc.host.heard(CHANGED);
  assert.deepEqual(await svc.host.tools(), TOOLS.signedIn);
  assert.equal(textOf(await svc.host.call("svc_recall", { query: "tea" })), '{"query":"tea"}');
  assert.equal(
    relayer.seen[0]?.headers.get("authorization"),
    `Bearer ${credentials.delegatePrivateKey}`,
  );
  const names = relayer.messages("tools/call").map(({ params }) => params.name);
  assert.deepEqual(names, ["svc_recall"], "signing in is no business of the relayer");
  await svc.end();
  assert.ok(logins.closed);
  assert.ok(!svc.log.join().includes(credentials.delegatePrivateKey));
});

Deno.test("logins that fail say so, and change nothing", async () => {
  verifies("13.2-5");
  const logins = new TestLogins();
  await using svc = await startBridge({
    credentials: null,
    openLogins: () => logins,
    args: ["--no-browser", "--label", "laptop"],
  });
  await svc.host.initialize();
  const outcomes: [LoginOutcome, RegExp][] = [
    [{ status: "expired" }, /Nobody approved/],
    [{ status: "failed", problem: "the disk is full" }, /the disk is full/],
  ];
  let messages = 0;
  for (const [outcome, wanted] of outcomes) {
    await svc.host.call("svc_login");
    messages++;
    logins.outcomes.at(-1)!(outcome);
    const said = await svc.host.heard("notifications/message", ++messages);
    assert.match(said.params.data, wanted);
  }
  assert.deepEqual(svc.opened, []);
  assert.equal(logins.targets[0]?.label, "laptop");
  assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);
  const refused = await svc.host.call("svc_login", { url: "http://elsewhere.example" });
  assert.match(textOf(refused), /^MCP error -32602:/);
  logins.start = () => Promise.reject(new SvcError("internal_error", "There is no free port"));
  const failed = await svc.host.call("svc_login");
  assert.equal(textOf(failed), "Tool error: There is no free port (code: internal_error)");
});

Deno.test("--login leaves the file alone and asks for a new sign-in", async () => {
  verifies("13.2-3", "13.2-5");
  await using relayer = new FakeRelayer();
  const credentials = await newCredentials(relayer.url, { webUrl: "http://localhost:4321" });
  const logins = new TestLogins();
  await using svc = await startBridge({ credentials, args: ["--login"], openLogins: () => logins });
  await svc.host.initialize();
  const before = await Deno.readTextFile(svc.path);
  assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);
  await svc.host.call("svc_login");
  const { webUrl, relayer: target } = logins.targets[0]!;
  assert.deepEqual([target, webUrl], [relayer.url, "http://localhost:4321"], "the saved ones");
  assert.equal(await Deno.readTextFile(svc.path), before);
  const renewed = await newCredentials(relayer.url);
  await writeCredentials(svc.path, renewed);
  logins.outcomes[0]!({ status: "signed-in", accountId: renewed.accountId });
  await svc.host.heard(CHANGED);
  await svc.host.call("svc_recall", { query: "q" });
  const keys = new Set(relayer.seen.map(({ headers }) => headers.get("authorization")));
  assert.deepEqual([...keys], [`Bearer ${renewed.delegatePrivateKey}`]);
});

Deno.test("logout deletes the file and takes effect at once", async () => {
  verifies("13.2-6", "13.3-3", "12-11");
  await using relayer = new FakeRelayer();
  const credentials = await newCredentials(relayer.url);
  await using svc = await startBridge({ credentials });
  await svc.host.initialize();
  await svc.host.call("svc_recall", { query: "q" });
  const result = await svc.host.call("svc_logout");
  assert.deepEqual(result.structuredContent, { removed: true });
  assert.match(textOf(result), /on-chain key .* is not revoked/);
  await assert.rejects(Deno.stat(svc.path), Deno.errors.NotFound);
  await svc.host.heard(CHANGED);
  assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);
  const refused = await svc.host.call("svc_recall", { query: "q" });
  assert.match(textOf(refused), /You are not signed in/);
  const again = await svc.host.call("svc_logout");
  assert.deepEqual(again.structuredContent, { removed: false });
  assert.equal(relayer.messages("tools/call").length, 1);
});

Deno.test("a 401 keeps mode and file, names the causes and the remedy, and may pass", async () => {
  verifies("13.2-7");
  for (const transport of ["http", "sse"]) {
    let rejects = true;
    await using relayer = new FakeRelayer({
      before: () =>
        rejects
          ? Response.json({
            jsonrpc: "2.0",
            id: null,
            error: { code: -32001, message: "No", data: { code: "account_not_authorized" } },
          }, { status: 401 })
          : undefined,
    });
    const credentials = await newCredentials(relayer.url);
    await using svc = await startBridge({ credentials, args: ["--transport", transport] });
    await svc.host.initialize();
    const before = await Deno.readTextFile(svc.path);
    for (const [name, args] of MEMORY_CALLS) {
      const result = await svc.host.call(name, args);
      assert.equal(result.isError, true);
      const text = textOf(result);
      assert.match(text, /rejected your key.*removed.*environment.*proxy or network fault/s);
      assert.match(text, /svc_logout.*sign in again.*--prod.*code: account_not_authorized/s);
    }
    assert.equal(await Deno.readTextFile(svc.path), before);
    assert.deepEqual(await svc.host.tools(), TOOLS.signedIn);
    rejects = false;
    assert.equal(textOf(await svc.host.call("svc_recall", { query: "q" })), '{"query":"q"}');
    // A key that is removed while a session is open.
    rejects = true;
    assert.match(textOf(await svc.host.call("svc_recall", { query: "q" })), /rejected your key/);
    rejects = false;
    assert.equal(textOf(await svc.host.call("svc_recall", { query: "q" })), '{"query":"q"}');
    assert.deepEqual(svc.host.messages.filter(({ method }) => method === CHANGED), []);
  }
});

Deno.test("a file changed by another process is reloaded", async () => {
  verifies("13.2-8", "13.1-5");
  await using first = new FakeRelayer();
  await using second = new FakeRelayer();
  await using svc = await startBridge({ credentials: null });
  await svc.host.initialize();
  assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);
  // Seen by the look at the file, without a call.
  await writeCredentials(svc.path, await newCredentials(first.url));
  await svc.host.heard(CHANGED);
  assert.deepEqual(await svc.host.tools(), TOOLS.signedIn);
  // Seen by the next call.
  await writeCredentials(svc.path, await newCredentials(second.url));
  await svc.host.call("svc_recall", { query: "q" });
  assert.equal(second.messages("tools/call").length, 1);
  await deleteCredentials(svc.path);
  const refused = await svc.host.call("svc_recall", { query: "q" });
  assert.match(textOf(refused), /You are not signed in/);
});

Deno.test("another relayer than the saved one is announced and never written", async () => {
  verifies("13.1-2", "13.1-5");
  await using saved = new FakeRelayer();
  await using other = new FakeRelayer();
  const credentials = await newCredentials(saved.url);
  const args = ["--relayer", other.url, "--send-key", "--colour=red", "--transport", "udp"];
  await using svc = await startBridge({ credentials, args });
  const before = await Deno.readTextFile(svc.path);
  await svc.host.call("svc_recall", { query: "q" });
  assert.deepEqual([saved.seen.length, other.messages("tools/call").length], [0, 1]);
  assert.equal(await Deno.readTextFile(svc.path), before);
  const notes = svc.log.map((line) => JSON.parse(line)).filter(({ event }) => event === "note");
  const reasons = notes.map(({ reason }) => reason).join("\n");
  assert.match(reasons, /in this process only: it may have your key/);
  assert.match(reasons, /--colour is unknown and ignored/);
  assert.match(reasons, /--transport must be auto, http or sse\. It is not used/);
});
