import assert from "node:assert/strict";
import { dirname } from "node:path";
import { mock } from "node:test";
import { openListener } from "../../cli/login/listener.ts";
import { readCredentials, writeCredentials } from "../../src/client/credentials_file.ts";
import { makeDelegateKey } from "../../src/client/mod.ts";
import { addressOf } from "../../src/wire/keys.ts";
import { verifyStrict } from "../../src/wire/signing/verify.ts";
import { headOf } from "../http/raw_request.ts";
import { startRelayer, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { IDS, openLogins, ORIGIN } from "./dashboard.ts";

Deno.test("the address has port, public key, address, label, relayer and state, and no secret", async () => {
  verifies("14.2-1", "14.2-2");
  await using fixture = await openLogins();
  const { login, dashboard } = await fixture.start({
    label: "Müller & Söhne",
    relayer: "https://r.example/a",
    webUrl: "https://d.example/app",
  });
  const { url } = dashboard;
  assert.equal(url.origin + url.pathname, "https://d.example/app/connect/mcp");
  assert.deepEqual([...url.searchParams.keys()], [
    "port",
    "publicKey",
    "delegateAddress",
    "label",
    "relayer",
    "state",
  ]);
  assert.match(login.url, /&label=M%C3%BCller%20%26%20S%C3%B6hne&relayer=https%3A%2F%2Fr\.exam/);
  const publicKey = dashboard.parameter("publicKey");
  assert.match(publicKey, /^[0-9a-f]{64}$/);
  assert.match(dashboard.parameter("state"), /^[0-9a-f]{64}$/);
  assert.equal(dashboard.parameter("delegateAddress"), addressOf(publicKey));
  assert.equal(login.keySuffix, publicKey.slice(-8));
  assert(dashboard.port >= 1025 && dashboard.port <= 65_535);
  const other = await fixture.start();
  assert.notEqual(other.dashboard.parameter("state"), dashboard.parameter("state"));
  assert.notEqual(other.dashboard.parameter("publicKey"), publicKey);
  assert.notEqual(other.dashboard.port, dashboard.port);
});

Deno.test("the listener is on 127.0.0.1 only", async () => {
  verifies("14.2-1");
  await using fixture = await openLogins();
  const { dashboard } = await fixture.start();
  assert(await dashboard.isListening());
  const outside = Deno.networkInterfaces().find(({ family, address }) =>
    family === "IPv4" && !address.startsWith("127.")
  );
  const elsewhere = outside?.address ?? "127.0.0.2";
  await assert.rejects(Deno.connect({ hostname: elsewhere, port: dashboard.port }));
});

Deno.test("an approval writes the file, answers Connected and closes the listener", async () => {
  verifies("14.2-1", "14.2-5", "14.1-3");
  await using svc = await startRelayer();
  const seen: string[] = [];
  await using fixture = await openLogins({
    fetch: async (url, init) => {
      seen.push(url);
      const { status, headers, text } = await svc.fetch(new Request(url, init));
      return new Response(text, { status, headers });
    },
    sleep: () => Promise.resolve(),
  });
  const { login, dashboard } = await fixture.start();
  const publicKey = dashboard.parameter("publicKey");
  const { accountId } = svc.account;
  await svc.backends.accounts.admin!.addKey(accountId, {
    publicKey,
    label: "Laptop",
    permissions: ["read", "write"],
  });
  const answer = await dashboard.approve({ accountId: accountId.replace(/[a-f]/g, toUpper) });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(answer.text, /Connected/);
  assert.equal(answer.headers.get("access-control-allow-origin"), dashboard.url.origin);
  assert.deepEqual(await login.outcome, { status: "signed-in", accountId });
  assert.deepEqual(
    seen,
    ["/version", "/api/account"].map((path) => `http://127.0.0.1:8000${path}`),
  );
  assert(!(await dashboard.isListening()));
  const { credentials } = await readCredentials(fixture.path);
  assert.equal(credentials?.delegatePublicKeyHex, publicKey);
  assert.deepEqual(
    { ...credentials, delegatePrivateKey: "", createdAt: "" },
    {
      delegatePrivateKey: "",
      delegatePublicKeyHex: publicKey,
      delegateAddress: dashboard.parameter("delegateAddress"),
      walletAddress: IDS.walletAddress,
      accountId,
      packageId: IDS.packageId,
      relayerUrl: "http://127.0.0.1:8000",
      label: "Laptop",
      createdAt: "",
      version: 1,
      webUrl: dashboard.url.origin,
    },
  );
  assert.deepEqual(await fixture.files(), ["credentials.json"]);
});

const toUpper = (text: string): string => text.toUpperCase();

Deno.test("a key the relayer does not accept is reported and the login kept", async () => {
  verifies("14.2-5");
  const refusals: [() => Promise<Response>, RegExp][] = [
    [() => Promise.reject(new TypeError("refused")), /at http:.*8000 cannot be reached/],
    [
      () => Promise.resolve(Response.json({ error: "", code: "account_not_authorized" }, s(401))),
      /does not accept the key \(code: account_not_authorized\)/,
    ],
    [() => Promise.resolve(new Response("<html>", s(200))), /is not a relayer/],
    [
      () => Promise.resolve(Response.json({ account_id: "0x" + "0".repeat(64), active: true })),
      /another account/,
    ],
    [
      () => Promise.resolve(Response.json({ account_id: IDS.accountId, active: false })),
      /deactivated/,
    ],
  ];
  for (const [fetch, problem] of refusals) {
    let calls = 0;
    await using fixture = await openLogins({
      fetch: (url) => {
        if (url.endsWith("/api/account")) calls++;
        return fetch();
      },
      sleep: () => Promise.resolve(),
    });
    const { login, dashboard } = await fixture.start();
    assert.equal((await dashboard.approve({ label: "Desk" })).status, 200);
    const outcome = await login.outcome;
    assert(outcome.status === "signed-in");
    assert.match(outcome.problem ?? "", problem);
    assert.equal((await readCredentials(fixture.path)).credentials?.label, "Desk");
    assert.equal(calls, /not accept/.test(outcome.problem ?? "") ? 4 : 1);
  }
});

const s = (status: number): ResponseInit => ({ status });

Deno.test("the proof is the new key's signature over the account id", async () => {
  verifies("14.2-4");
  await using fixture = await openLogins();
  const { dashboard } = await fixture.start();
  const { accountId } = IDS;
  const state = dashboard.parameter("state");
  const { status, body, headers } = await dashboard.post("/proof", { accountId, state });
  assert.equal(status, 200);
  assert.equal(headers.get("access-control-allow-origin"), dashboard.url.origin);
  assert.deepEqual(Object.keys(body), ["proof"]);
  assert.match(body.proof, /^[0-9a-f]{128}$/);
  const message = new Uint8Array(16 + 32);
  message.set(new TextEncoder().encode("svc-delegate-v1:"));
  message.set(Uint8Array.fromHex(accountId.slice(2)), 16);
  const signature = Uint8Array.fromHex(body.proof);
  assert(verifyStrict(dashboard.parameter("publicKey"), message, signature));
  assert.deepEqual(await fixture.files(), []);
  assert.equal((await dashboard.approve()).status, 200, "a proof does not use the address up");
});

Deno.test("an approval counts when its browser is gone before the answer", async () => {
  const connected = Promise.withResolvers<Deno.TcpConn>();
  const finished = Promise.withResolvers<void>();
  const state = "a".repeat(64);
  const listener = await openListener({
    origin: ORIGIN,
    routes: {
      "/callback": async () => {
        (await connected.promise).close();
        return [new Response("connected"), finished.resolve];
      },
    },
  });
  const text = JSON.stringify({ ...IDS, state });
  const head = headOf("POST", "/callback", [
    ["origin", ORIGIN],
    ["content-type", "application/json; charset=utf-8"],
    ["content-length", String(text.length)],
  ], `localhost:${listener.port}`);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  await connection.write(new TextEncoder().encode(head + text));
  connected.resolve(connection);
  await finished.promise;
  listener.close();
});

Deno.test("a name given on the dashboard is cleaned", async () => {
  await using fixture = await openLogins();
  const { login, dashboard } = await fixture.start();
  await dashboard.approve({ label: " Desk\u001b[31m\n" });
  await login.outcome;
  assert.equal((await readCredentials(fixture.path)).credentials?.label, "Desk[31m");
});

Deno.test("a URL works once, and old credentials stay until it does", async () => {
  verifies("14.2-1", "14.2-8", "16-17");
  await using fixture = await openLogins();
  const pair = await makeDelegateKey();
  await writeCredentials(fixture.path, {
    delegatePrivateKey: pair.privateKey,
    delegatePublicKeyHex: pair.publicKey,
    delegateAddress: pair.address,
    ...IDS,
    relayerUrl: "http://127.0.0.1:8000",
    createdAt: "2026-01-01T00:00:00.000Z",
    version: 1,
  });
  const before = await Deno.readTextFile(fixture.path);
  const { login, dashboard } = await fixture.start();
  assert.equal((await dashboard.approve({ state: "0".repeat(64) })).status, 403);
  assert.equal(await Deno.readTextFile(fixture.path), before);
  const answers = await Promise.allSettled([dashboard.approve(), dashboard.approve()]);
  const accepted = answers.filter((answer) =>
    answer.status === "fulfilled" && answer.value.status === 200
  );
  assert.equal(accepted.length, 1);
  const written = await Deno.readTextFile(fixture.path);
  assert.notEqual(written, before);
  assert.equal((await login.outcome).status, "signed-in");
  await assert.rejects(dashboard.approve({ walletAddress: IDS.accountId }));
  assert.equal(await Deno.readTextFile(fixture.path), written);
});

Deno.test("a late request gets 410 and closes the listener", async () => {
  verifies("14.2-6", "14.2-8");
  for (const path of ["/proof", "/callback"]) {
    const clock = new TestClock();
    clock.freeze();
    await using fixture = await openLogins({ now: clock.now });
    const { login, dashboard } = await fixture.start();
    assert.equal(login.expiresAt.getTime() - clock.now(), 300_000);
    clock.advance(299_999);
    const state = dashboard.parameter("state");
    assert.equal((await dashboard.post("/proof", { ...IDS, state })).status, 200);
    clock.advance(1);
    const { status, body } = await dashboard.post(path, dashboard.approval());
    assert.deepEqual([status, body.code], [410, "login_expired"]);
    assert.deepEqual(await login.outcome, { status: "expired" });
    assert(!(await dashboard.isListening()));
    assert.deepEqual(await fixture.files(), []);
  }
});

Deno.test("after five minutes the login is over, and latecomers are told for a while", async () => {
  verifies("14.2-6", "14.2-8", "16-17");
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    await using fixture = await openLogins();
    const { login, dashboard } = await fixture.start();
    mock.timers.tick(300_000);
    assert.deepEqual(await login.outcome, { status: "expired" });
    assert.equal((await dashboard.approve()).status, 410);
    assert(!(await dashboard.isListening()));
    const next = await fixture.start();
    mock.timers.tick(300_000);
    mock.timers.tick(60_000);
    assert(!(await next.dashboard.isListening()));
    assert.deepEqual(await fixture.files(), []);
  } finally {
    mock.timers.reset();
  }
});

Deno.test("at most three are open; the first to succeed closes the others", async () => {
  verifies("14.2-8");
  await using fixture = await openLogins();
  const all = [];
  for (let i = 0; i < 4; i++) all.push(await fixture.start());
  const [oldest, second, third, newest] = [all[0]!, all[1]!, all[2]!, all[3]!];
  assert.deepEqual(await oldest.login.outcome, { status: "closed" });
  const listening = await Promise.all(all.map(({ dashboard }) => dashboard.isListening()));
  assert.deepEqual(listening, [false, true, true, true]);
  assert.equal((await third.dashboard.approve()).status, 200);
  assert.equal((await third.login.outcome).status, "signed-in");
  for (const { login, dashboard } of [second, newest]) {
    assert.deepEqual(await login.outcome, { status: "closed" });
    assert(!(await dashboard.isListening()));
  }
  const { credentials } = await readCredentials(fixture.path);
  assert.equal(credentials?.delegatePublicKeyHex, third.dashboard.parameter("publicKey"));
});

Deno.test("a file that cannot be written is said in the browser and in the outcome", async () => {
  verifies("14.2-5");
  await using fixture = await openLogins();
  const { login, dashboard } = await fixture.start();
  const directory = dirname(fixture.path);
  await Deno.mkdir(`${directory}-elsewhere`);
  await Deno.symlink(`${directory}-elsewhere`, directory);
  const { status, body } = await dashboard.approve();
  assert.deepEqual([status, body.code], [500, "storage_unavailable"]);
  const outcome = await login.outcome;
  assert(outcome.status === "failed");
  assert.match(outcome.problem, /is a symbolic link/);
  assert.deepEqual(await fixture.files(), []);
});

Deno.test("no listener within five seconds is an error", async () => {
  verifies("14.2-2");
  await using fixture = await openLogins({ listen: () => Promise.reject(new Error("EMFILE")) });
  await assert.rejects(fixture.start(), { code: "internal_error" });
});

Deno.test("the end of the logins closes what is open", async () => {
  const fixture = await openLogins();
  const { login, dashboard } = await fixture.start();
  await fixture[Symbol.asyncDispose]();
  assert.deepEqual(await login.outcome, { status: "closed" });
  assert(!(await dashboard.isListening()));
});
