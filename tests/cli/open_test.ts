import assert from "node:assert/strict";
import { isSameUser, usersOf } from "../../cli/login/same_user.ts";
import { ownerPath, readOwner, writeOwner } from "../../src/client/owner_file.ts";
import { makeRecoveryWords } from "../../src/client/recovery_words.ts";
import { verifies } from "../requirements.ts";
import { type Said, Terminal } from "./terminal.ts";

const WEB = "http://localhost:5173";
const OWNER = `0x${"a1".repeat(32)}`;

/** A terminal on whose computer an account was made, and its words. */
async function opened(): Promise<[Terminal, string]> {
  const terminal = await Terminal.open();
  await terminal.signIn({ webUrl: WEB });
  const words = makeRecoveryWords();
  await writeOwner(ownerPath(terminal.credentialsPath), { words, owner: OWNER, webUrl: WEB });
  return [terminal, words];
}

/** Opens the dashboard, and does something with its address meanwhile. */
async function open(terminal: Terminal, use: (url: URL) => Promise<void>): Promise<Said> {
  const using = Promise.withResolvers<void>();
  const said = terminal.run(["open"], {
    openBrowser: (url) => {
      use(new URL(url)).then(using.resolve, using.reject);
      return true;
    },
  });
  await using.promise;
  return await said;
}

async function ask(url: URL, body: unknown, origin = WEB): Promise<Response> {
  const { port = "" } = Object.fromEntries(new URLSearchParams(url.hash.slice(1)));
  return await fetch(`http://127.0.0.1:${port}/owner`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify(body),
  });
}

const stateOf = (url: URL) => new URLSearchParams(url.hash.slice(1)).get("state");

Deno.test("the words are told once, to the page that was opened", async () => {
  verifies("13.4-8");
  const [terminal, words] = await opened();
  await using _terminal = terminal;
  const { code, out, err } = await open(terminal, async (url) => {
    assert.equal(`${url.origin}${url.pathname}`, `${WEB}/open`);
    const refused = [
      await ask(url, { state: "0".repeat(64) }),
      await ask(url, {}),
      await ask(url, { state: stateOf(url) }, "http://evil.example"),
    ];
    for (const response of refused) {
      assert.equal(response.status, 403);
      assert.ok(!(await response.text()).includes(words));
    }
    const told = await ask(url, { state: stateOf(url) });
    assert.deepEqual(await told.json(), { words });
    assert.equal(told.headers.get("cache-control"), "no-store");
  });
  assert.deepEqual([code, out], [0, "The dashboard is open, signed in.\n"]);
  assert.ok(!err.includes(words));
});

Deno.test("another dashboard than the account's gets no words", async () => {
  const [terminal] = await opened();
  await using _terminal = terminal;
  const run = await terminal.run(["open"], { env: { SVC_WEB_URL: "http://evil.example" } });
  assert.equal(run.code, 2);
  assert.match(run.err, /is opened on http:\/\/localhost:5173, not on http:\/\/evil.example/);
});

Deno.test("without words the dashboard opens as it is", async () => {
  await using terminal = await Terminal.open();
  await terminal.signIn({ webUrl: WEB });
  const urls: string[] = [];
  const openBrowser = (url: string) => urls.push(url) > 0;
  const { code, out } = await terminal.run(["open"], { openBrowser });
  assert.deepEqual([code, urls], [0, [WEB]]);
  assert.match(out, /^Opening http:\/\/localhost:5173 and sign in there/);
});

Deno.test("words of an earlier account are never lost to a new one", async () => {
  const [terminal, words] = await opened();
  await using _terminal = terminal;
  const path = ownerPath(terminal.credentialsPath);
  const later = { words: makeRecoveryWords(), owner: `0x${"b2".repeat(32)}`, webUrl: WEB };
  await writeOwner(path, later);
  await writeOwner(path, later);
  assert.deepEqual(await readOwner(path), later);
  assert.deepEqual(await terminal.list(".svc"), [
    "credentials.json",
    "owner.json",
    "owner_a1a1a1a1.json",
  ]);
  assert.ok((await terminal.read(".svc/owner_a1a1a1a1.json")).includes(words));
  if (Deno.build.os !== "windows") {
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  }
});

Deno.test("whose a connection is", async () => {
  const table =
    `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout
   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 1
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2
`;
  assert.deepEqual(usersOf(table, 50_000, 8080), [1001]);
  assert.deepEqual(usersOf(table, 50_001, 8080), []);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  using _server = await listener.accept();
  assert.equal(await isSameUser(client.localAddr.port, listener.addr.port), true);
});
