import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { freePort } from "../free_port.ts";
import { LOCKED } from "../locked.ts";
import { inHome, linesOf } from "../program.ts";
import { REGISTRY_ENV } from "../registry.ts";

const SCRIPT = fileURLToPath(new URL("../../devnet/localnet.ts", import.meta.url));

Deno.test("start:localnet runs network and program, and ends with a signal", async () => {
  await inHome(async (home) => {
    const port = String(freePort());
    const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
    for (let start = 0; start < 2; start++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", "-A", "--quiet", ...LOCKED, SCRIPT],
        clearEnv: true,
        env: {
          ...REGISTRY_ENV,
          HOME: home,
          DENO_DIR: cache,
          NO_COLOR: "1",
          LOCALNET_PORT: "0",
          SVC_PORT: port,
          SVC_WEB_PORT: "0",
          SIDECAR_URL: "http://127.0.0.1:0",
          SVC_EMBEDDER: "memory",
        },
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const out = new Response(child.stdout).text();
      const lines: string[] = [];
      const log = linesOf(child.stderr);
      for (let line = ""; !/ info listening /.test(line);) {
        const next = await log.next();
        assert.ok(!next.done, lines.join("\n"));
        lines.push(line = next.value);
      }
      const reading = (async () => {
        for await (const line of log) lines.push(line);
      })();
      const answer = await fetch(`http://127.0.0.1:${port}/health`);
      const { dependencies } = await answer.json();
      for (const name of ["chain", "key_service", "blob_store"]) {
        assert.equal(dependencies[name].status, "ok", `${name}: ${lines.join("\n")}`);
      }
      const config = await (await fetch(`http://127.0.0.1:${port}/config`)).json();
      assert.equal(config.network, "localnet");
      assert.equal(config.sponsorEnabled, true);
      child.kill("SIGTERM");
      assert.equal((await child.status).code, 0, lines.join("\n"));
      const [told] = await Promise.all([out, reading]);
      assert.match(told, /export SVC_ACCOUNTS=sui SVC_SUI_RPC_URL=http:/);
    }
  });
});
