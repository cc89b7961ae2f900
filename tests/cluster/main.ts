/**
 * Starts several relayers on this machine, to be tried, and stopped or killed one by one.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { missing } from "../balancers.ts";
import { NO_POSTGRES } from "../postgres_server.ts";
import { onStopSignal } from "../../src/program/process_events.ts";
import { startCluster } from "./cluster.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8080" },
    embedder: { type: "string", default: "use-lite" },
  },
});

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

const reason = NO_POSTGRES ?? missing("haproxy");
if (reason !== undefined) {
  say(reason);
  Deno.exit(1);
}
const stopped = Promise.withResolvers<void>();
using _signals = onStopSignal(() => stopped.resolve());
{
  await using cluster = await startCluster({
    port: Number(values.port),
    embedder: values.embedder,
  });
  const { database, machines, relayers, url } = cluster;
  say(`HAProxy ${url}, relayers ${relayers.map(({ address }) => address).join(", ")}`);
  const servers = [database.primary, database.standby].map(({ machine }) => machine.address);
  say(`PostgreSQL at ${servers.join(", its synchronous standby at ")}`);
  if (!machines.apart) {
    say(
      "On loopback addresses of one machine (others need root, ip and nft): none can be cut off.",
    );
  }
  say("For the terminal:");
  say(`export SVC_SERVER_URL=${cluster.url} SVC_CREDENTIALS_FILE=${cluster.credentials}`);
  await stopped.promise;
}
