import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { verifies } from "../requirements.ts";
import { Dashboard, IDS } from "./dashboard.ts";
import { Terminal } from "./terminal.ts";

/** Runs a login while a dashboard does something with the address it prints. */
async function login(
  terminal: Terminal,
  args: readonly string[],
  act: (dashboard: Dashboard, err: string) => Promise<unknown>,
) {
  const seen = Promise.withResolvers<string>();
  let err = "";
  const account = { ...IDS, account_id: IDS.accountId, active: true };
  const running = terminal.run(args, {
    writeError: (text) => {
      err += text;
      const url = /https?:\/\/\S+\/connect\/mcp\S+/.exec(err)?.[0];
      if (url !== undefined) seen.resolve(url);
    },
    fetch: () => Promise.resolve(Response.json(account)),
  });
  const dashboard = new Dashboard(await seen.promise);
  await act(dashboard, err);
  return { ...await running, err, dashboard };
}

Deno.test("login prints the address and the end of the key, waits, and saves", async () => {
  verifies("13.4-1", "14.2-2");
  await using terminal = await Terminal.open();
  const args = ["login", "--relayer=http://127.0.0.1:8123", "--web-url", "http://localhost:5199"];
  const said = await login(terminal, [...args, "--label", "Büro"], async (dashboard, err) => {
    assert.equal(dashboard.url.origin, "http://localhost:5199");
    assert.equal(dashboard.parameter("relayer"), "http://127.0.0.1:8123");
    assert.equal(dashboard.parameter("label"), "Büro");
    const tail = dashboard.parameter("publicKey").slice(-8);
    assert.match(err, new RegExp(`Key: {6}Büro \\(ends in ${tail}\\)`));
    assert.match(err, /Relayer: {2}http:\/\/127\.0\.0\.1:8123\n/);
    assert.equal((await dashboard.approve()).status, 200);
  });
  assert.equal(said.code, 0);
  const { credentials } = await readCredentials(terminal.credentialsPath);
  assert.equal(credentials?.label, "Büro");
  assert.equal(credentials?.delegatePublicKeyHex, said.dashboard.parameter("publicKey"));
  assert.equal(
    said.out,
    `Signed in to account ${IDS.accountId} at http://127.0.0.1:8123.\n` +
      `The key is in ${terminal.credentialsPath}.\n`,
  );
  assert(!(said.out + said.err).includes(credentials!.delegatePrivateKey));
});

Deno.test("login takes addresses of the saved credentials, and replaces them only at success", async () => {
  verifies("13.4-1", "14.2-1");
  await using terminal = await Terminal.open();
  const old = await terminal.signIn({
    relayerUrl: "http://127.0.0.1:8234",
    webUrl: "http://localhost:5234",
  });
  const said = await login(terminal, ["--login", "--json"], async (dashboard) => {
    assert.equal(dashboard.url.origin, "http://localhost:5234");
    assert.equal(dashboard.parameter("relayer"), "http://127.0.0.1:8234");
    assert.equal(dashboard.parameter("label"), "MCP Client");
    await dashboard.approve({ state: "0".repeat(64) });
    assert.deepEqual((await readCredentials(terminal.credentialsPath)).credentials, old);
    await dashboard.approve();
  });
  assert.deepEqual(JSON.parse(said.out), {
    account_id: IDS.accountId,
    relayer: "http://127.0.0.1:8234",
    key_suffix: said.dashboard.parameter("publicKey").slice(-8),
    credentials_file: terminal.credentialsPath,
  });
  const { credentials } = await readCredentials(terminal.credentialsPath);
  assert.notEqual(credentials?.delegatePrivateKey, old.delegatePrivateKey);
});

Deno.test("login opens a browser unless it must not", async () => {
  await using terminal = await Terminal.open();
  for (
    const [args, env, opens] of [[[], {}, 1], [["--no-browser"], {}, 0], [[], {
      SVC_NO_BROWSER: "1",
    }, 0]] as const
  ) {
    const opened: string[] = [];
    const seen = Promise.withResolvers<string>();
    const running = terminal.run(["login", ...args], {
      env,
      openBrowser: (url) => opened.push(url) > 0,
      writeError: (text) => {
        const url = /\S+\/connect\/mcp\S+/.exec(text)?.[0];
        if (url !== undefined) seen.resolve(url);
      },
      fetch: () => Promise.reject(new TypeError("down")),
    });
    const url = await seen.promise;
    await new Dashboard(url).approve();
    assert.equal((await running).code, 0, "a relayer that is down does not undo the login");
    assert.deepEqual(opened, opens === 1 ? [url] : []);
  }
});

Deno.test("login over another relayer than the saved one does not warn about the old key", async () => {
  await using terminal = await Terminal.open();
  await terminal.signIn();
  const args = ["login", "--relayer", "http://192.0.2.7:8000"];
  const said = await login(terminal, args, (dashboard) => dashboard.approve());
  assert(!said.err.includes("where you signed in"), said.err);
  assert.match(said.err, /192\.0\.2\.7:8000 is plain http/);
});

Deno.test("a login that cannot be saved ends with 1", async () => {
  await using terminal = await Terminal.open();
  await terminal.write(".svc", "not a folder");
  const said = await login(terminal, ["login"], (dashboard) => dashboard.approve());
  assert.deepEqual([said.code, said.out], [1, ""]);
  assert.match(said.err, /Signing in failed: .* is not a directory/);
});

Deno.test("login and logout need to know where the file is", async () => {
  await using terminal = await Terminal.open();
  for (const command of ["login", "logout", "install"]) {
    const args = command === "install" ? [command, "cursor"] : [command];
    const { code, err } = await terminal.run(args, { env: { HOME: "" } });
    assert.equal(code, 1);
    assert.match(err, /No home directory is known/);
  }
});

Deno.test("logout deletes the file and says that the account still lists the key", async () => {
  verifies("13.4-1", "13.4-5");
  for (const args of [["logout"], ["--logout"]]) {
    await using terminal = await Terminal.open();
    const { delegatePublicKeyHex } = await terminal.signIn({ webUrl: "http://localhost:5173" });
    const gone = await terminal.run(args);
    assert.equal(gone.code, 0);
    const tail = delegatePublicKeyHex.slice(-8);
    assert.match(gone.out, new RegExp(`^Signed out\\.\nThe account still lists the key …${tail}`));
    assert.match(gone.out, /dashboard \(http:\/\/localhost:5173\)/);
    assert.deepEqual(await terminal.list(".svc"), []);
    const again = await terminal.run(args);
    assert.deepEqual([again.code, again.out], [0, "You are not signed in.\n"]);
    assert.equal((await terminal.run([...args, "--json"])).out, '{"removed":false}\n');
  }
});
