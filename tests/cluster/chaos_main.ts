/**
 * Lets everything go wrong in a cluster, 200 times, and counts what was lost:
 * `deno task chaos [--rounds n] [--seed n] [--between n] [--only words]`. As root with `iproute2`, `nftables` and
 * `libfaketime` all of it; else less, which it says.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { missing } from "../balancers.ts";
import { freePort } from "../free_port.ts";
import { NO_POSTGRES } from "../postgres_server.ts";
import { chaos } from "./chaos.ts";
import { startCluster } from "./cluster.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    between: { type: "string", default: "50" },
    only: { type: "string", default: "" },
  },
});

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

const seconds = (ms = NaN) => (ms / 1000).toFixed(1).padStart(6);

const reason = NO_POSTGRES ?? missing("haproxy");
if (reason !== undefined) {
  say(reason);
  Deno.exit(1);
}
await using cluster = await startCluster({
  port: freePort(),
  embedder: "memory",
  breakable: true,
});
try {
  const result = await chaos(cluster, {
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    between: Number(values.between),
    only: values.only,
    told: say,
  });
  say("times  median    most  goal, seconds until everybody is served again");
  for (const { fault: { name, goalMs }, backMs } of result.outcomes) {
    const [middle, most] = [backMs[backMs.length >> 1], backMs.at(-1)];
    const goal = goalMs === undefined ? "      " : seconds(goalMs);
    say(
      `${String(backMs.length).padStart(5)}  ${seconds(middle)}  ${seconds(most)}${goal}  ${name}`,
    );
  }
  for (const line of result.left) say(`not tried: ${line}`);
  const { accepted, calls, sessions } = result;
  say(`${accepted} memories accepted, ${calls} calls answered, ${sessions} MCP sessions begun:`);
  say("none lost, none doubled, none brought back, each found behind its answer");
} catch (error) {
  for (const { machine, said } of cluster.relayers) {
    say(`--- ${machine.name}`);
    for (const line of said.slice(-40)) say(line);
  }
  for (const server of [cluster.database.primary, cluster.database.standby]) {
    say(`--- ${server.machine.name}`);
    for (const line of await server.said()) say(line);
  }
  throw error;
}
