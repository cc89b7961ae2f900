import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { missing } from "../balancers.ts";
import { freePort } from "../free_port.ts";
import { chaos } from "./chaos.ts";
import { startCluster } from "./cluster.ts";
import { LOCKED } from "../locked.ts";
import { NO_POSTGRES } from "../postgres_server.ts";
import { linesOf, Program } from "../program.ts";

const SCRIPT = fileURLToPath(new URL("./main.ts", import.meta.url));

const MISSING = NO_POSTGRES ?? missing("haproxy");
/** One of each fault that loopback has at most. */
const ROUNDS = 7;

Deno.test({
  name: "the local cluster takes a memory and finds it, and ends with a signal",
  ignore: MISSING !== undefined,
  async fn() {
    const args = ["--port", String(freePort()), "--embedder", "memory"];
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", ...LOCKED, SCRIPT, ...args],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const env: Record<string, string> = {};
    const lines = linesOf(child.stdout);
    for await (const line of lines) {
      for (const [, name = "", value = ""] of line.matchAll(/(SVC_\w+)=(\S+)/g)) env[name] = value;
      if (line.startsWith("export ")) break;
    }
    for (const words of [["remember", "I am allergic to peanuts"], ["recall", "peanuts"]]) {
      await using command = new Program(words, env);
      assert.equal(await command.end(), 0, command.errors.join("\n"));
      if (words[0] === "recall") assert.match(await command.output, /allergic to peanuts/);
    }
    child.kill("SIGTERM");
    assert.equal((await child.status).code, 0);
  },
});

Deno.test({
  name: "whatever ends in a cluster, nothing is lost, doubled, brought back or stale",
  ignore: MISSING !== undefined,
  async fn() {
    await using cluster = await startCluster({
      port: freePort(),
      embedder: "memory",
      breakable: true,
    });
    const { accepted } = await chaos(cluster, { rounds: ROUNDS, seed: 1, between: 10 });
    assert.ok(accepted >= ROUNDS * 10);
  },
});
