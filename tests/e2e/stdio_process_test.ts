import assert from "node:assert/strict";
import { readCredentials, writeCredentials } from "../../src/client/credentials_file.ts";
import { FakeRelayer } from "../cli/bridge/fake_relayer.ts";
import { newCredentials } from "../cli/bridge/setup.ts";
import { Dashboard } from "../cli/dashboard.ts";
import { inHome } from "../program.ts";
import { verifies } from "../requirements.ts";
import { packageStart, StdioPackage, terminal } from "./stdio.ts";

Deno.test("closed standard input ends session and process; the log is JSON and has no secret", async () => {
  verifies("13-2", "13-3", "13.3-8");
  await inHome(async (home) => {
    await using relayer = new FakeRelayer();
    const path = `${home}/.svc/credentials.json`;
    const credentials = await newCredentials(relayer.url);
    await writeCredentials(path, credentials);
    const text = "a text of the user";
    const lines: number[] = [];
    for (const debug of ["0", "1"]) {
      await using svc = new StdioPackage(packageStart(home), { SVC_MCP_DEBUG: debug });
      await svc.host.initialize();
      await svc.host.call("svc_remember", { text });
      assert.equal(await svc.end(), 0);
      // Parsing every line of standard output and standard error is part of the test.
      const events = svc.log.map(({ event }) => event);
      assert.ok(events.includes("started") && events.includes("ended"));
      assert.equal(events.includes("request"), debug === "1");
      assert.equal(events.includes("credentials read"), debug === "1");
      lines.push(events.length);
      const log = svc.errors.join("\n");
      for (const secret of [credentials.delegatePrivateKey, text]) assert.ok(!log.includes(secret));
    }
    assert.ok(lines[0]! < lines[1]!);
    assert.equal(relayer.trace.filter((line) => line === "DELETE /api/mcp").length, 2);
    const opened = relayer.messages("initialize").length;
    assert.equal(opened, 2, "one session a process");
  });
});

Deno.test({
  name: "a signal ends session and process, also that of a closed terminal",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    verifies("13.3-8");
    await inHome(async (home) => {
      await using relayer = new FakeRelayer();
      await writeCredentials(`${home}/.svc/credentials.json`, await newCredentials(relayer.url));
      const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
      for (const signal of signals) {
        await using svc = new StdioPackage(packageStart(home));
        await svc.host.call("svc_recall", { query: "q" });
        Deno.kill(svc.pid, signal);
        await svc.host.ended;
        assert.equal(await svc.end(), 0, signal);
      }
      const closed = relayer.trace.filter((line) => line === "DELETE /api/mcp");
      assert.equal(closed.length, signals.length);
    });
  },
});

Deno.test("a host that only closes its end gets an exit, also with a call under way", async () => {
  verifies("13.3-8");
  await inHome(async (home) => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    await using relayer = new FakeRelayer({
      onRequest: async () => {
        arrived.resolve();
        await release.promise;
        return {};
      },
    });
    await writeCredentials(`${home}/.svc/credentials.json`, await newCredentials(relayer.url));
    await using svc = new StdioPackage(packageStart(home));
    void svc.host.call("svc_recall", { query: "q" });
    await arrived.promise;
    assert.equal(await svc.end(), 0);
    release.resolve();
  });
});

Deno.test("--help and --logout act and exit 0", async () => {
  verifies("13.2-1");
  await inHome(async (home) => {
    const start = packageStart(home);
    const help = await terminal(start, "--help", "--colour");
    assert.equal(help.code, 0, help.err);
    assert.match(help.out, /^Usage: svc-mcp/);
    const path = `${home}/.svc/credentials.json`;
    await writeCredentials(path, await newCredentials("http://127.0.0.1:1"));
    const logout = await terminal(start, "--logout");
    assert.equal(logout.code, 0, logout.err);
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
    assert.equal((await terminal(start, "--logout")).code, 0);
  });
});

Deno.test("login runs in the foreground, prints its address on standard error, and exits", async () => {
  verifies("13.2-2");
  await inHome(async (home) => {
    const start = packageStart(home, "login", "--relayer", "http://127.0.0.1:1");
    const child = new Deno.Command(start.command, {
      args: start.args,
      env: start.env,
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const output = new Response(child.stdout).text();
    let said = "";
    let approved = false;
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += chunk;
      const url = /http:\/\/\S+state=[0-9a-f]{64}\b/.exec(said)?.[0];
      if (url === undefined || approved) continue;
      approved = true;
      assert.equal((await new Dashboard(url).approve()).status, 200);
    }
    // The relayer of this test cannot be reached: a problem that does not undo the login.
    assert.equal((await child.status).code, 0, said);
    const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
    assert.ok(credentials !== undefined);
    assert.ok(!(said + await output).includes(credentials.delegatePrivateKey));
  });
});
