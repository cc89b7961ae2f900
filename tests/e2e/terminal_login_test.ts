import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { Dashboard, IDS } from "../cli/dashboard.ts";
import { probeAll } from "../cli/login_probes.ts";
import { inHome, linesOf, Program } from "../program.ts";
import { verifies } from "../requirements.ts";
import { VARIANTS } from "./stdio_variants.ts";

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:1";

for (const { name, ignore, start } of VARIANTS) {
  Deno.test({
    name: `${name}: login in the foreground saves the key and shows it nowhere`,
    ignore,
    fn: async () => {
      verifies("13.4-1", "14.1-1", "14.2-5", "14.2-6", "14.2-7");
      await inHome(async (home) => {
        const { command, args, env } = await start(home, NOWHERE);
        const child = new Deno.Command(command, {
          args: [...args, "login", "--relayer", NOWHERE],
          env,
          clearEnv: true,
          stdin: "null",
          stdout: "piped",
          stderr: "piped",
        }).spawn();
        const output = new Response(child.stdout).text();
        const said: string[] = [];
        let argv = "";
        for await (const line of linesOf(child.stderr)) {
          said.push(line);
          if (!line.includes("/connect/mcp?")) continue;
          argv = await Deno.readTextFile(`/proc/${child.pid}/cmdline`).catch(() => "");
          const dashboard = new Dashboard(line.trim());
          await probeAll(dashboard);
          await assert.rejects(Deno.stat(`${home}/.svc`), Deno.errors.NotFound);
          assert.equal((await dashboard.approve()).status, 200);
        }
        assert.equal((await child.status).code, 0, said.join("\n"));
        const path = `${home}/.svc/credentials.json`;
        const { credentials, warnings } = await readCredentials(path);
        assert.deepEqual(warnings, [], "the permissions are right");
        assert.match(await output, new RegExp(`^Signed in to account ${IDS.accountId} at `));
        assert.match(
          said.join("\n"),
          /signed in, but the relayer at http:\/\/127\.0\.0\.1:1 cannot be reached/,
        );
        const all = [...said, await output, argv].join("\n");
        assert(!all.includes(credentials!.delegatePrivateKey));
      });
    },
  });
}

Deno.test("the relayer's program has the commands, too", async () => {
  verifies("13.4-1", "13.4-4");
  await inHome(async (home) => {
    const env = { HOME: home };
    await using install = new Program(["install", "cursor", "--yes"], env);
    assert.equal(await install.end(), 0, install.errors.join("\n"));
    const config = JSON.parse(await Deno.readTextFile(`${home}/.cursor/mcp.json`));
    assert.match(config.mcpServers.svc.args.at(-1), /cli\/svc_mcp\.ts$/);
    await using logout = new Program(["logout"], env);
    assert.equal(await logout.end(), 0, logout.errors.join("\n"));
    assert.equal(await logout.output, "You are not signed in.\n");
    await using login = new Program(["login", "--help"], env);
    assert.equal(await login.end(), 0);
    assert.match(await login.output, /^Usage: svc login/);
  });
});
