import { startBalancer } from "../balancers.ts";
import { freePort } from "../free_port.ts";
import { PostgresServer } from "../postgres_server.ts";
import { Program } from "../program.ts";
import { startStandby } from "./standby.ts";

/** Three relayers behind HAProxy, on a PostgreSQL server with a synchronous standby. */
export interface Cluster extends AsyncDisposable {
  /** Address of HAProxy. */
  readonly url: string;
  /** Addresses of the relayers, host and port. */
  readonly relayers: readonly [string, string, string];
  /** Ports of the servers. */
  readonly primary: number;
  readonly standby: number;
  /** Credentials of an account, for terminal commands. */
  readonly credentials: string;
}

/**
 * Starts all of it on loopback ports, with data that is thrown away at the end. PostgreSQL and
 * HAProxy must be installed.
 *
 * @param front Port of HAProxy.
 * @param embedder Of the relayers.
 */
export async function startCluster(front: number, embedder: string): Promise<Cluster> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await PostgresServer.start({ options: ["fsync=on"] }));
  const standby = stack.use(await startStandby(server));
  const home = await Deno.makeTempDir({ prefix: "svc_cluster_" });
  stack.defer(() => Deno.remove(home, { recursive: true }));
  const shared = {
    HOME: home,
    SVC_STORE: "postgres",
    SVC_DATABASE_URL: await server.database(),
    SVC_RELAYER_KEY_FILE: `${home}/relayer.key`,
    SVC_PUBLIC_URL: `http://127.0.0.1:${front}`,
    SVC_BEHIND_PROXY: "127.0.0.1",
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
  const ports = [freePort(), freePort(), freePort()] as const;
  const relayers = ports.map((port, i) =>
    stack.use(
      new Program(["start"], {
        ...shared,
        SVC_RELAYER_NAME: `relayer-${i + 1}`,
        SVC_DATA_DIR: `${home}/relayer-${i + 1}`,
        SVC_PORT: String(port),
      }),
    )
  );
  await Promise.all(relayers.map((relayer) => relayer.event("listening")));
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const [first = "", second = "", third = ""] = addresses;
  const at = [first, second, third] as const;
  stack.use(await startBalancer("haproxy", { front: `127.0.0.1:${front}`, relayers: at }));
  const all = stack.move();
  return {
    url: `http://127.0.0.1:${front}`,
    relayers: at,
    primary: server.port,
    standby: standby.port,
    credentials: `${home}/.svc/credentials.json`,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
