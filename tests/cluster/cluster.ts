import { startBalancer } from "../balancers.ts";
import { Program } from "../program.ts";
import { DatabasePair } from "./database_pair.ts";
import { type Machine, type Machines, openMachines } from "./machines.ts";
import { RelayerMachine } from "./relayer_machine.ts";

/** Three relayers behind HAProxy, on a PostgreSQL server with a synchronous standby. */
export interface Cluster extends AsyncDisposable {
  readonly machines: Machines;
  /** Address of HAProxy. */
  readonly url: string;
  readonly front: Machine;
  readonly relayers: readonly RelayerMachine[];
  readonly database: DatabasePair;
  /** Credentials of an account, for terminal commands. */
  readonly credentials: string;
}

/** How a cluster is started. */
export interface ClusterOptions {
  /** Port of HAProxy. */
  readonly port: number;
  /** Embedder of the relayers. */
  readonly embedder: string;
  /** Whether disks can be filled and clocks be changed, where this is root. */
  readonly breakable?: boolean;
}

/**
 * Starts all of it, with data that is thrown away at the end: on machines of their own where this is
 * root on Linux with `ip` and `nft`, else on loopback addresses. PostgreSQL and HAProxy must be
 * installed.
 */
export async function startCluster(
  { port, embedder, breakable = false }: ClusterOptions,
): Promise<Cluster> {
  await using stack = new AsyncDisposableStack();
  const machines = stack.use(await openMachines());
  const isBreakable = breakable && Deno.uid() === 0;
  const database = stack.use(await DatabasePair.start(machines, isBreakable));
  const front = await machines.add("front");
  const url = `http://${machines.apart ? front.address : "127.0.0.1"}:${port}`;
  const home = await Deno.makeTempDir({ prefix: "svc_cluster_" });
  stack.defer(() => Deno.remove(home, { recursive: true }));
  const shared = {
    HOME: home,
    SVC_STORE: "postgres",
    SVC_DATABASE_URL: database.url,
    SVC_RELAYER_KEY_FILE: `${home}/relayer.key`,
    SVC_PUBLIC_URL: url,
    SVC_BEHIND_PROXY: machines.apart ? front.address : "127.0.0.1",
    // Nobody but this machine is on its networks.
    SVC_ALLOW_KEY_OVER_HTTP: "true",
    // All apps are at one address, and lose their sessions again and again.
    MCP_MAX_SESSIONS_PER_IP: "10000",
    MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN: "10000",
    SVC_RATE_LIMIT_DISABLED: "true",
    SVC_FIRST_ACCOUNT: "false",
    SVC_WEB_PORT: "0",
    SIDECAR_URL: "http://127.0.0.1:0",
    SVC_DRAIN_SECONDS: "3",
    SVC_EMBEDDER: embedder,
  };
  // Before the relayers: it makes what they share, which is one's to do.
  await using account = new Program(["account", "create", "--save"], {
    ...shared,
    SVC_DATA_DIR: `${home}/account`,
  });
  if (await account.end() !== 0) throw new Error(account.errors.join("\n"));
  const relayers: RelayerMachine[] = [];
  for (const name of ["relayer-1", "relayer-2", "relayer-3"]) {
    const machine = await machines.add(name);
    const isClocked = isBreakable && machines.apart;
    relayers.push(stack.use(await RelayerMachine.make(machine, shared, isClocked)));
  }
  await Promise.all(relayers.map((relayer) => relayer.start()));
  const [first = "", second = "", third = ""] = relayers.map(({ address }) => address);
  const at = [first, second, third] as const;
  const { on } = front;
  stack.use(await startBalancer("haproxy", { front: new URL(url).host, relayers: at, on }));
  const all = stack.move();
  return {
    machines,
    url,
    front,
    relayers,
    database,
    credentials: `${home}/.svc/credentials.json`,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
