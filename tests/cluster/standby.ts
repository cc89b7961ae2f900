import { freePort } from "../free_port.ts";
import { type PostgresServer, programs, serverUser } from "../postgres_server.ts";
import { poll } from "../within.ts";

/** A copy of a server that is asked with each commit, so that it has whatever was answered. */
export async function startStandby(
  server: PostgresServer,
): Promise<AsyncDisposable & { readonly port: number }> {
  const folder = await Deno.makeTempDir();
  const user = await serverUser();
  if ("uid" in user) await Deno.chown(folder, user.uid, user.gid);
  const run = { ...user, cwd: "/", clearEnv: true, env: { LC_ALL: "C.UTF-8", TZ: "UTC" } };
  const from = ["-h", "127.0.0.1", "-p", String(server.port), "-U", "svc"];
  const copied = await new Deno.Command(`${programs()}/pg_basebackup`, {
    ...run,
    args: [...from, "-D", `${folder}/data`, "-R", "-X", "stream", "--checkpoint=fast"],
  }).output();
  if (!copied.success) throw new Error(new TextDecoder().decode(copied.stderr));
  const port = freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "logging_collector=on",
    `log_directory=${folder}`,
    // At least as many as at the other one.
    "max_connections=200",
  ];
  const process = new Deno.Command(`${programs()}/postgres`, {
    ...run,
    args: ["-D", `${folder}/data`, "-p", String(port), ...settings.flatMap((s) => ["-c", s])],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const admin = server.url("postgres");
  await server.run(admin, "alter system set synchronous_standby_names = '*'");
  await server.run(admin, "select pg_reload_conf()");
  const states = () =>
    server.run<{ sync_state: string }>(admin, "select sync_state from pg_stat_replication");
  await poll(states, ([first]) => first?.sync_state === "sync");
  return {
    port,
    async [Symbol.asyncDispose]() {
      process.kill("SIGQUIT");
      await process.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
