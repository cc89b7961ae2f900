import assert from "node:assert/strict";
import { listenFailure, portFailure } from "../../src/program/listen_failure.ts";
import { inHome, type LogLine, Program, relayerEnv } from "../program.ts";
import { verifies } from "../requirements.ts";

const isRelayer = (line: LogLine) => line.process === "relayer";
const isSidecar = (line: LogLine) => line.process === "sidecar";

/** Resolves once no process holds the data directory. */
async function untilReleased(home: string): Promise<void> {
  using file = await Deno.open(`${home}/.svc/relayer/relayer.lock`, { write: true });
  await file.lock(true);
}

async function health(port: string | number | undefined): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}/health`);
  return await response.json();
}

Deno.test("the launcher starts both processes, restarts the dead and ends with both", async () => {
  verifies("1-6");
  await inHome(async (home) => {
    await using program = new Program(["start"], relayerEnv(home));
    const relayer = await program.event("child process started", isRelayer);
    const { port } = await program.event("listening");
    assert.equal((await health(port)).status, "ok");

    Deno.kill(Number(relayer.pid), "SIGKILL");
    const ended = await program.event("child process ended; starting it again", isRelayer);
    assert.equal(ended.exit_code, 137);
    assert.equal(ended.delay_ms, 200);
    const next = await program.event("listening");
    assert.equal((await health(next.port)).status, "ok");

    program.kill("SIGTERM");
    await program.event("shutting down", (line) => line.signal === "SIGTERM");
    await program.event("stopped");
    assert.equal(await program.end(), 0);
    await untilReleased(home);
    assert.match(await program.output, /task -q svc account create --save/);
    const key = (await Deno.readTextFile(`${home}/.svc/relayer.key`)).trim();
    assert.ok(!program.errors.join("\n").includes(key));
  });
});

Deno.test("a dead sidecar is started again", async () => {
  await inHome(async (home) => {
    await using program = new Program(["start"], relayerEnv(home));
    const sidecar = await program.event("child process started", isSidecar);
    await program.event("sidecar listening");
    Deno.kill(Number(sidecar.pid), "SIGKILL");
    await program.event("child process ended; starting it again", isSidecar);
    await program.event("sidecar listening");
  });
});

Deno.test("without its launcher the relayer ends at once", async () => {
  await inHome(async (home) => {
    await using program = new Program(["start"], relayerEnv(home));
    await program.event("listening");
    program.kill("SIGKILL");
    await untilReleased(home);
  });
});

Deno.test("a second relayer on the same data directory is refused", async () => {
  verifies("15-10");
  await inHome(async (home) => {
    await using first = new Program(["start"], relayerEnv(home));
    await first.event("listening");
    await using second = new Program(["start"], relayerEnv(home));
    assert.equal(await second.end(), 78);
    const errors = second.errors.join("\n");
    assert.ok(errors.includes(`Another relayer uses ${home}/.svc/relayer`), errors);
  });
});

Deno.test("a taken port is named, and not tried again", async () => {
  await inHome(async (home) => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const env = { ...relayerEnv(home), SVC_PORT: String(taken.addr.port) };
    await using program = new Program(["start"], { ...env, SIDECAR_AUTOSTART: "false" });
    assert.equal(await program.end(), 78);
    assert.match(program.errors.join("\n"), /SVC_PORT: 127\.0\.0\.1:\d+ is in use/);
  });
});

Deno.test("an address this machine does not have is named, and not tried again", async () => {
  verifies("15-3");
  await inHome(async (home) => {
    for (const host of ["192.0.2.1", "nohost.invalid"]) {
      const env = {
        ...relayerEnv(home),
        SVC_HOST: host,
        SVC_PUBLIC_URL: "https://memory.example.org",
        SVC_BEHIND_PROXY: "192.0.2.2",
        SIDECAR_AUTOSTART: "false",
      };
      await using program = new Program(["start"], env);
      assert.equal(await program.end(), 78);
      const text = program.errors.join("\n");
      assert.ok(text.includes(`SVC_HOST: ${host} is no address of this machine`), text);
    }
  });
});

Deno.test("other machines are let in by nobody's oversight", async () => {
  verifies("15-50", "15-51");
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), SVC_HOST: "0.0.0.0", SIDECAR_AUTOSTART: "false" };
    await using refused = new Program(["start"], env);
    assert.notEqual(await refused.end(), 0);
    const text = refused.errors.join("\n");
    assert.match(text, /SVC_HOST=0\.0\.0\.0 lets other machines in: set SVC_PUBLIC_URL/);
    assert.match(
      text,
      /without TLS: set SVC_TLS_CERT_FILE and SVC_TLS_KEY_FILE, or SVC_BEHIND_PROXY/,
    );
    assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), [], "nothing was made");

    const url = "https://memory.example.org";
    const told = { ...env, SVC_PUBLIC_URL: url, SVC_BEHIND_PROXY: "192.0.2.2" };
    await using program = new Program(["start"], told);
    const { port } = await program.event("listening");
    const response = await fetch(`http://127.0.0.1:${port}/config`);
    assert.equal((await response.json()).mcpUrl, `${url}/api/mcp`);
  });
});

Deno.test("a port that needs more rights is named", () => {
  const error = listenFailure("127.0.0.1", 80, new Deno.errors.PermissionDenied());
  assert.equal(error?.code, "invalid_parameter");
  assert.match(error.message, /^SVC_PORT: listening on 80 needs more rights/);
  assert.equal(listenFailure("127.0.0.1", 80, new Error("Too many open files")), undefined);
  const web = portFailure("SVC_WEB_PORT", "localhost", 80, new Deno.errors.PermissionDenied());
  assert.match(String(web?.message), /^SVC_WEB_PORT: listening on 80 needs more rights/);
});

Deno.test("data of another relayer key is refused", async () => {
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), SIDECAR_AUTOSTART: "false" };
    {
      await using program = new Program(["start"], env);
      await program.event("listening");
    }
    const path = `${home}/.svc/relayer.key`;
    await Deno.writeTextFile(path, "ab".repeat(32));
    await using program = new Program(["start"], env);
    assert.equal(await program.end(), 78);
    const expected =
      `The data in ${home}/.svc/relayer belongs to another relayer key than that of ${path}`;
    assert.ok(program.errors.includes(expected), program.errors.join("\n"));
  });
});

Deno.test("without its relayer key the data is left alone, and no other key is made", async () => {
  verifies("15-11");
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), SIDECAR_AUTOSTART: "false" };
    {
      await using program = new Program(["start"], env);
      await program.event("listening");
    }
    const path = `${home}/.svc/relayer.key`;
    await Deno.rename(path, `${home}/kept`);
    {
      await using program = new Program(["start"], env);
      assert.equal(await program.end(), 78);
      const expected = `${path} does not exist, but the data in ${home}/.svc/relayer is sealed`;
      assert.ok(program.errors.some((line) => line.startsWith(expected)), program.errors.join());
      await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
    }
    await Deno.rename(`${home}/kept`, path);
    await using program = new Program(["start"], env);
    await program.event("listening");
  });
});

Deno.test("every problem of the settings is printed before anything is started", async () => {
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), SVC_CIPHER: "sael", SVC_JOB_CONCURRENCY: "many" };
    await using program = new Program(["start"], env);
    assert.equal(await program.end(), 78);
    assert.deepEqual(program.errors, [
      'SVC_JOB_CONCURRENCY must be a whole number from 1 to 256, got "many"',
      "SVC_CIPHER must be local, memory, postgres, seal, a path or an import specifier of a " +
      'plugin, got "sael"',
    ]);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), []);
  });
});

Deno.test("the relayer alone takes its key from the file, and shuts down at SIGINT", async () => {
  await inHome(async (home) => {
    await using program = new Program(["serve"], { ...relayerEnv(home), SVC_PROT: "1" });
    const warning = await program.event("settings");
    assert.equal(warning.reason, "SVC_PROT is unknown; did you mean SVC_PORT?");
    const { port } = await program.event("listening");
    assert.equal((await health(port)).status, "ok");
    program.kill("SIGINT");
    assert.equal(await program.end(), 0);
  });
});

Deno.test("settings and permissions can be printed without starting anything", async () => {
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), SIDECAR_AUTH_TOKEN: "a-token-of-the-test" };
    await using config = new Program(["--print-config"], env);
    assert.equal(await config.end(), 0);
    const text = await config.output;
    assert.ok(text.includes(`SVC_DATA_DIR=${home}/.svc/relayer # default\n`));
    assert.ok(text.includes("SIDECAR_AUTH_TOKEN=[secret]\n") && !text.includes("a-token"));
    await using permissions = new Program(["--print-permissions"], env);
    assert.equal(await permissions.end(), 0);
    const lists = await permissions.output;
    assert.ok(lists.endsWith("sidecar\n  --allow-net=127.0.0.1\n"));
    assert.match(lists, /^relayer\n {2}--allow-net=127\.0\.0\.1:0\n/);
    await using help = new Program(["start", "--help"], env);
    assert.equal(await help.end(), 0);
    assert.match(await help.output, /Usage: svc start /);
    await using unknown = new Program(["strat"], env);
    assert.equal(await unknown.end(), 2);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), []);
  });
});

Deno.test("at a failpoint the relayer dies as if the power had failed", async () => {
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), SVC_TEST: "1", SVC_FAILPOINT: "accept" };
    await using program = new Program(["start"], env);
    const { port } = await program.event("listening");
    const url = { ...env, SVC_PUBLIC_URL: `http://127.0.0.1:${port}` };
    await using create = new Program(["account", "create", "--save"], url);
    assert.equal(await create.end(), 0, create.errors.join("\n"));
    await using remember = new Program(["remember", "I am allergic to peanuts"], env);
    const died = await program.event("child process ended; starting it again", isRelayer);
    assert.equal(died.exit_code, 137);
    remember.kill("SIGKILL");
  });
});
