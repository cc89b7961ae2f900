import { freePort } from "./free_port.ts";
import { type PostgresServer, serverUser } from "./postgres_server.ts";

/** Where Debian's package puts it. */
const PROGRAM = "/usr/sbin/pgbouncer";

/** Why there is no pooler to test with; `undefined` where there is one. */
export const NO_PGBOUNCER: string | undefined = isThere()
  ? undefined
  : "no pgbouncer is installed (apt-get install pgbouncer)";

function isThere(): boolean {
  try {
    return Deno.statSync(PROGRAM).isFile;
  } catch {
    return false;
  }
}

/** A pooler before a server, which hands its few connections out for a transaction each. */
export async function poolBefore(
  server: PostgresServer,
  url: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = await Deno.makeTempDir();
  const user = await serverUser();
  const port = freePort();
  const users = `${folder}/users.txt`;
  const settings = `${folder}/pgbouncer.ini`;
  await Deno.writeTextFile(users, '"svc" ""\n');
  await Deno.writeTextFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=svc
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 3
`,
  );
  for (const path of [folder, users, settings]) {
    if ("uid" in user) await Deno.chown(path, user.uid, user.gid);
  }
  const process = new Deno.Command(PROGRAM, {
    ...user,
    args: [settings],
    cwd: "/",
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    url: url.replace(`:${server.port}/`, `:${port}/`),
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await process.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
