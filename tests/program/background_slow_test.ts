import assert from "node:assert/strict";
import { freePort } from "../free_port.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { poll } from "../within.ts";

/** Runs a command to its end. */
async function run(args: readonly string[], env: Readonly<Record<string, string>>, line?: string) {
  await using program = new Program(args, { ...env, SVC_LOG_FORMAT: "text" });
  if (line !== undefined) await program.write(`${line}\n`);
  const code = await program.end();
  return { code, out: await program.output, errors: program.errors.join("\n") };
}

const isAlive = (pid: number) => Deno.stat(`/proc/${pid}`).then(() => true, () => false);

Deno.test({
  name: "a relayer in the background outlives its terminal, says what it does, and stops",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await inHome(async (home) => {
      const port = freePort();
      const env = { ...relayerEnv(home), SVC_PORT: String(port) };
      assert.match((await run(["stop"], env)).out, /^Nothing runs\.$/m);
      assert.equal((await run(["logs"], env)).code, 1);
      const started = await run(["start", "--background", "--json"], env);
      assert.equal(started.code, 0, started.errors);
      const { pid, log } = JSON.parse(started.out);
      try {
        assert.ok(await isAlive(pid));
        assert.equal((await Deno.stat(log)).mode! & 0o777, 0o600);
        const twice = await run(["start", "--background"], env);
        assert.equal(twice.code, 1);
        assert.match(twice.errors, new RegExp(`as process ${pid}`));
        assert.match((await run(["logs", "--lines", "20"], env)).out, /listening .*port=\d+/);
        const health = await fetch(`http://127.0.0.1:${port}/health`);
        assert.equal(health.status, 200);
        await health.body?.cancel();
        const stopped = await run(["stop"], env);
        assert.deepEqual([stopped.code, stopped.out], [0, "Stopped.\n"]);
        await poll(() => isAlive(pid), (alive) => !alive);
        assert.match(await Deno.readTextFile(log), /stopped\n$/);
      } finally {
        if (await isAlive(pid)) Deno.kill(pid, "SIGKILL");
      }
    });
  },
});

Deno.test("a start in the background that fails says why", async () => {
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), SVC_PORT: String(freePort()) };
    await Deno.mkdir(`${home}/.svc/relayer`, { recursive: true });
    await Deno.writeTextFile(`${home}/.svc/relayer/core.db`, "no database");
    const { code, errors } = await run(["start", "--background"], env);
    assert.equal(code, 1);
    assert.match(errors, /It did not start:/);
    assert.match(errors, /core\.db/);
    const wrong = await run(["start", "--backround"], env);
    assert.equal(wrong.code, 2);
  });
});

Deno.test("a service is shown before it is installed, and is valid", async () => {
  await inHome(async (home) => {
    const env = {
      ...relayerEnv(home),
      PATH: Deno.env.get("PATH")!,
      SVC_DATA_DIR: `${home}/with a space/$data%`,
      SVC_PORT: "8123",
    };
    const shown = await run(["service", "install", "--print", "--json"], env);
    assert.equal(shown.code, 0, shown.errors);
    const { path, text } = JSON.parse(shown.out);
    assert.match(text, /SVC_PORT=8123/);
    assert.equal(await Deno.stat(path).catch(() => "none"), "none", "nothing was written");
    const asked = await run(["service", "install"], env, "n");
    assert.match(asked.out, /Then:\n {2}\w+[^]*Nothing was changed\.\n$/);
    assert.equal(await Deno.stat(path).catch(() => "none"), "none");
    const none = await run(["service", "uninstall"], env);
    assert.equal(none.code, 1);
  });
});
