import assert from "node:assert/strict";
import { textOf } from "../cli/bridge/host_peer.ts";
import { freePort } from "../free_port.ts";
import { inHome } from "../program.ts";
import { verifies } from "../requirements.ts";
import { runCommand, startServing } from "./mcp_relayer.ts";
import { packageStart, StdioPackage } from "./stdio.ts";

/** Variables of a relayer that keeps its port over restarts and counts nothing. */
const fixed = (port: string): Record<string, string> => ({
  SVC_PORT: port,
  SVC_RATE_LIMIT_DISABLED: "true",
});

/** Makes an account whose key the package finds, and stops the relayer again. */
async function withAccount(home: string, extra: Record<string, string>): Promise<void> {
  const { program, env } = await startServing(home, extra);
  await using _program = program;
  await runCommand(["account", "create", "--save"], env);
}

Deno.test("a relayer that is down at the start is named, and used once it is up", async () => {
  verifies("13.2-9", "13.2-10");
  await inHome(async (home) => {
    const port = String(freePort());
    await withAccount(home, fixed(port));
    await using svc = new StdioPackage(packageStart(home));
    await svc.host.request("ping");
    const asked = performance.now();
    await svc.host.initialize();
    const initialized = performance.now();
    assert.ok(initialized - asked < 300, `initialize took ${initialized - asked} ms`);
    const down = await svc.host.call("svc_recall", { query: "tea" });
    const failed = performance.now() - initialized;
    assert.ok(failed < 5000, `the error took ${failed} ms`);
    assert.equal(down.isError, true);
    assert.match(
      textOf(down),
      new RegExp(`http://127\\.0\\.0\\.1:${port} cannot be reached .*refused`, "i"),
    );

    const { program } = await startServing(home, fixed(port));
    await using _program = program;
    const until = Date.now() + 20_000;
    for (;;) {
      const saved = await svc.host.call("svc_remember", { text: "Tea without milk" });
      if (saved.isError !== true) break;
      assert.ok(Date.now() < until, textOf(saved));
    }
    const found = await svc.host.call("svc_recall", { query: "tea" });
    assert.match(textOf(found), /Tea without milk/);
    assert.equal(await svc.end(), 0);
  });
});

for (const transport of ["http", "sse"]) {
  Deno.test(`a relayer killed among 200 writes stores each once, or the host hears of an error (${transport})`, async () => {
    verifies("13.3-6");
    await inHome(async (home) => {
      const extra = fixed(String(freePort()));
      const first = await startServing(home, extra);
      await using _first = first.program;
      await runCommand(["account", "create", "--save"], first.env);
      await using svc = new StdioPackage(packageStart(home, "--transport", transport));
      await svc.host.initialize();
      await svc.host.call("svc_recall", { query: "warm" });

      const enough = Promise.withResolvers<void>();
      let answered = 0;
      const texts = Array.from(
        { length: 200 },
        (_, index) => `Fact number ${index} of the kill test`,
      );
      const calls = texts.map(async (text) => {
        const result = await svc.host.call("svc_remember", { text });
        if (++answered === 40) enough.resolve();
        return result;
      });
      await enough.promise;
      first.program.kill("SIGKILL");
      assert.ok(answered < 200, "killed too late");
      await first.program.end();
      const second = await startServing(home, extra);
      await using _second = second.program;

      const results = await Promise.all(calls);
      const { memories } = JSON.parse(
        await runCommand(["list", "--limit", "500", "--json"], second.env),
      );
      const counts = new Map<string, number>();
      for (const { text } of memories) counts.set(text, (counts.get(text) ?? 0) + 1);
      const wrong = texts.filter((text, index) => {
        const count = counts.get(text) ?? 0;
        return results[index].isError === true ? count > 1 : count !== 1;
      });
      assert.deepEqual(wrong, [], "lost or stored twice");
      assert.equal(await svc.end(), 0);
    });
  });
}
