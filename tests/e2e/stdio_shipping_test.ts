import assert from "node:assert/strict";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { compile, EXECUTABLE_BYTES } from "../../build/stdio_package.ts";
import { readCredentials, writeCredentials } from "../../src/client/credentials_file.ts";
import { Dashboard } from "../cli/dashboard.ts";
import { textOf, TOOLS } from "../cli/bridge/host_peer.ts";
import { newCredentials } from "../cli/bridge/setup.ts";
import { inHome } from "../program.ts";
import { verifies } from "../requirements.ts";
import { runCommand, startServing } from "./mcp_relayer.ts";
import { packageStart, StdioPackage, terminal } from "./stdio.ts";
import { bundled, permissionsFor, type Variant, VARIANTS } from "./stdio_variants.ts";

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:1";

/** The program's own terminal commands, which are not shipped with the package. */
const PROGRAM: Variant = {
  name: "the program",
  ignore: false,
  start: (home) => {
    const launched = packageStart(home);
    const args = launched.args.map((arg) => arg.replace(/cli\/svc_mcp\.ts$/, "main.ts"));
    return Promise.resolve({ ...launched, args });
  },
};

for (const { name, ignore, start } of VARIANTS) {
  Deno.test({
    name: `${name}: serves a host that is not signed in`,
    ignore,
    fn: async () => {
      verifies("13-1");
      await inHome(async (home) => {
        const env = { SVC_SERVER_URL: NOWHERE };
        await using svc = new StdioPackage(await start(home, NOWHERE), env);
        const { serverInfo, capabilities } = await svc.host.initialize();
        assert.equal(serverInfo.name, "svc");
        assert.deepEqual(capabilities.tools, { listChanged: true });
        assert.deepEqual(await svc.host.tools(), TOOLS.authRequired);
        const refused = await svc.host.call("svc_recall", { query: "tea" });
        assert.equal(refused.isError, true);
        assert.match(textOf(refused), /svc_login/);
        assert.equal(await svc.end(), 0);
        assert(svc.log.length > 0, "every line of standard error is JSON");
      });
    },
  });

  Deno.test({
    name: `${name}: makes a session where the relayer decrypts with one`,
    ignore,
    fn: async () => {
      const sessions: string[] = [];
      await using relayer = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        (request) => {
          if (request.method === "GET") return Response.json({ packageId: `0x${"ab".repeat(32)}` });
          const session = request.headers.get("x-seal-session");
          if (session !== null) sessions.push(session);
          return session === null
            ? Response.json({ error: "x", code: "decrypt_credential_required" }, { status: 400 })
            : Response.json({ results: [], total: 0 });
        },
      );
      const base = `http://127.0.0.1:${relayer.addr.port}`;
      await inHome(async (home) => {
        const credentials = await newCredentials(base);
        await writeCredentials(`${home}/.svc/credentials.json`, credentials);
        const said = await terminal(await start(home, base), "recall", "tea");
        assert.deepEqual([said.code, said.err], [0, ""]);
        const [session = ""] = sessions;
        const { address } = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(session)));
        assert.equal(address, credentials.delegateAddress);
      });
    },
  });

  Deno.test({
    name: `${name}: signs in, remembers and recalls in one process, and keeps the key to itself`,
    ignore,
    fn: async () => {
      verifies("14.2-5", "13.4-1", "13.4-6");
      await inHome(async (home) => {
        const { program, base, env } = await startServing(home);
        await using _program = program;
        const launched = await start(home, base);
        const debug = { SVC_SERVER_URL: base, SVC_MCP_DEBUG: "1" };
        await using svc = new StdioPackage(launched, debug);
        await svc.host.initialize();
        const url = (await svc.host.call("svc_login")).structuredContent.login_url;
        const dashboard = new Dashboard(url);
        const argv = await Deno.readTextFile(`/proc/${svc.pid}/cmdline`).catch(() => "");
        const key = ["--public-key", dashboard.parameter("publicKey"), "--json"];
        const made = JSON.parse(await runCommand(["account", "create", ...key], env));
        const changed = svc.host.heard("notifications/tools/list_changed");
        const { status } = await dashboard.approve({ accountId: made.account_id });
        assert.equal(status, 200);
        await changed;
        assert.deepEqual(await svc.host.tools(), TOOLS.managing);
        await svc.host.call("svc_remember", { text: "I am allergic to peanuts" });
        const found = await svc.host.call("svc_recall", { query: "peanuts" });
        assert.match(textOf(found), /I am allergic to peanuts/);

        const shown = await terminal({ ...launched, env: { ...launched.env, ...debug } }, "status");
        assert.equal(shown.code, 0, shown.err);
        assert.match(shown.out, /\(active\)/);
        const saved = await terminal(launched, "remember", "I drink tea", "--json");
        assert.equal(JSON.parse(saved.out).recallable, true, saved.err);
        const listed = await terminal(launched, "recall", "tea", "--limit=1");
        assert.match(listed.out, /^1\. I drink tea\n {3}just now · fits \d+ %\n$/);
        const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
        assert.equal(credentials?.accountId, made.account_id);
        const identity = await generateIdentity();
        await Deno.writeTextFile(`${home}/.svc/keys.txt`, identity);
        const [path, opening] = [`${home}/.svc/all.age`, ["--identity", `${home}/.svc/keys.txt`]];
        const recipient = await identityToRecipient(identity);
        const bundle = await terminal(
          launched,
          "export",
          "--bundle",
          path,
          "--recipient",
          recipient,
        );
        assert.match(bundle.out, /^2 memories: /, bundle.err);
        const verified = await terminal(launched, "export", "verify", path, ...opening);
        assert.match(verified.out, /The key of this computer signed it/, verified.err);
        const taken = await terminal(launched, "import", path, ...opening);
        assert.match(taken.out, /2 are there already/, taken.err);
        const gone = await terminal(launched, "logout");
        assert.equal(gone.code, 0, gone.err);
        assert.equal((await terminal(launched, "status")).code, 3);

        assert.equal(await svc.end(), 0);
        const said = JSON.stringify(svc.host.messages) + svc.errors.join("\n");
        const terminals = shown.out + shown.err + gone.out + gone.err;
        const log = program.errors.join("\n");
        for (const place of [url, argv, said, terminals, log]) assertHides(place, credentials!);
      });
    },
  });
}

for (const { name, ignore, start } of [...VARIANTS, PROGRAM]) {
  Deno.test({
    name: `${name}: a command whose output is lost fails, unless its reader had enough`,
    ignore: ignore || Deno.build.os !== "linux",
    fn: async () => {
      verifies("13.4-6");
      await inHome(async (home) => {
        const { command, args, env } = await start(home, NOWHERE);
        for (const [end, wanted] of [["> /dev/full", 1], ["| true", 0]] as const) {
          const script = `set -o pipefail; "$@" ${end}`;
          const { code, stderr } = await new Deno.Command("bash", {
            args: ["-c", script, "bash", command, ...args, "recall", "--help"],
            env: { ...env, PATH: Deno.env.get("PATH") ?? "" },
            clearEnv: true,
            stdin: "null",
          }).output();
          const said = new TextDecoder().decode(stderr);
          assert.equal(code, wanted, said);
          assert.match(
            said,
            wanted === 0
              ? /^$/
              : /^(The output could not be written \(ENOSPC\)\.|No space left .*)\n$/,
          );
        }
      });
    },
  });

  Deno.test({
    name: `${name}: sends nothing for this machine to a proxy`,
    ignore,
    fn: async () => {
      const listen = { hostname: "127.0.0.1", port: 0, onListen() {} };
      let proxied = 0;
      await using proxy = Deno.serve(listen, () => {
        proxied++;
        return new Response(null, { status: 502 });
      });
      await using relayer = Deno.serve(listen, () => Response.json({ results: [], total: 0 }));
      const base = `http://127.0.0.1:${relayer.addr.port}`;
      const HTTP_PROXY = `http://127.0.0.1:${proxy.addr.port}`;
      await inHome(async (home) => {
        await writeCredentials(`${home}/.svc/credentials.json`, await newCredentials(base));
        const launched = await start(home, base);
        for (const more of [{}, { no_proxy: "example.com" }, { NO_PROXY: "example.com" }]) {
          const env = { ...launched.env, HTTP_PROXY, http_proxy: HTTP_PROXY, ...more };
          const said = await terminal({ ...launched, env }, "recall", "tea");
          assert.deepEqual([said.code, said.err, proxied], [0, "", 0]);
        }
      });
    },
  });
}

/** The key in no spelling. */
function assertHides(text: string, { delegatePrivateKey }: { delegatePrivateKey: string }): void {
  const key = Uint8Array.fromHex(delegatePrivateKey);
  const spellings = [
    delegatePrivateKey,
    key.toBase64().replace(/=+$/, ""),
    key.toBase64({ alphabet: "base64url" }).replace(/=+$/, ""),
  ];
  for (const spelling of spellings) {
    assert(!text.toLowerCase().includes(spelling.toLowerCase()), "the key was shown");
  }
}

Deno.test("the bundle names no folder of the machine it was made on", async () => {
  const text = await Deno.readTextFile(await bundled());
  assert.match(text, /^#!\/usr\/bin\/env node\n/);
  for (const place of [Deno.cwd(), Deno.env.get("HOME") ?? "/root", "registry.npmjs"]) {
    assert(!text.includes(place), place);
  }
  assert(text.length < 1_500_000, `${text.length} characters`);
});

Deno.test("an executable is made of the bundle, within its size", async () => {
  await inHome(async (home) => {
    // Deno itself as the base: what comes out has the size of the real one, but does not run.
    await compile(await bundled(), `${home}/svc-mcp`, { base: Deno.execPath() });
    const { size } = await Deno.stat(`${home}/svc-mcp`);
    assert(size < EXECUTABLE_BYTES, `${size} bytes`);
  });
});

Deno.test("the bundle needs permission for no more variables than are used", async () => {
  await inHome(async (home) => {
    const start = packageStart(home);
    const few = permissionsFor(home, NOWHERE).map((permission) =>
      permission.startsWith("--allow-env=") ? "--allow-env=HOME" : permission
    );
    const args = ["run", "--no-prompt", "--no-config", ...few, await bundled()];
    const { code, out, err } = await terminal({ ...start, args }, "status", "--relayer", NOWHERE);
    assert.equal(code, 3, err);
    assert.match(out, /^You are not signed in\. Run: svc-mcp login\n/);
  });
});
