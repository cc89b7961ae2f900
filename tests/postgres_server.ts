import { Pool } from "pg";
import { freePort } from "./free_port.ts";
import { dumpOf, programs } from "./postgres_programs.ts";
import { poll } from "./within.ts";

/** Why there is no server to test with; `undefined` where there is one. */
export const NO_POSTGRES: string | undefined = programs() === undefined
  ? "no PostgreSQL server is installed (apt-get install postgresql)"
  : undefined;

/** The server refuses to run as root: Debian's user for it, where this is root. */
export async function serverUser(): Promise<{ uid: number; gid: number } | Record<never, never>> {
  if (Deno.uid() !== 0) return {};
  const id = async (option: string) => {
    const { stdout } = await new Deno.Command("id", { args: [option, "postgres"] }).output();
    return Number(new TextDecoder().decode(stdout));
  };
  return { uid: await id("-u"), gid: await id("-g") };
}

/** A real server of its own, on a port of its own, which is gone with everything in it at the end. */
export class PostgresServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #spawn: () => Promise<Deno.ChildProcess>;
  #process: Deno.ChildProcess;
  #databases = 0;

  private constructor(
    folder: string,
    port: number,
    spawn: () => Promise<Deno.ChildProcess>,
    process: Deno.ChildProcess,
  ) {
    this.#folder = folder;
    this.port = port;
    this.#spawn = spawn;
    this.#process = process;
  }

  /** Starts one; only where {@linkcode NO_POSTGRES} is `undefined`. */
  static async start(
    { options = [], tls, from }: {
      /** Settings, as `name=value`. */
      readonly options?: readonly string[];
      /** Makes the folder of its data; a new one when absent. */
      readonly from?: (folder: string) => Promise<void>;
      /** Certificate and private key, as PEM; without them it speaks in the clear. */
      readonly tls?: { readonly cert: string; readonly key: string };
    } = {},
  ): Promise<PostgresServer> {
    const folder = await Deno.makeTempDir();
    const user = await serverUser();
    const bin = programs()!;
    if ("uid" in user) await Deno.chown(folder, user.uid, user.gid);
    const run = { ...user, cwd: "/", clearEnv: true, env: { LC_ALL: "C.UTF-8", TZ: "UTC" } };
    if (from === undefined) {
      const args = ["-D", `${folder}/data`, "-U", "svc", "-A", "trust", "-E", "UTF8", "-N"];
      const made = await new Deno.Command(`${bin}/initdb`, { ...run, args }).output();
      if (!made.success) throw new Error(new TextDecoder().decode(made.stderr));
    } else await from(`${folder}/data`);
    for (const [name, text] of Object.entries(tls ?? {})) {
      const file = `${folder}/${name}.pem`;
      await Deno.writeTextFile(file, text, { mode: 0o600 });
      if ("uid" in user) await Deno.chown(file, user.uid, user.gid);
    }
    const port = freePort();
    const settings = [
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      // Nothing here outlives the machine.
      "fsync=off",
      "max_connections=200",
      // A file: what it says in the middle of a test would be read in the middle of a test.
      "logging_collector=on",
      `log_directory=${folder}`,
      "log_filename=log",
      ...(tls === undefined ? [] : [
        "ssl=on",
        `ssl_cert_file=${folder}/cert.pem`,
        `ssl_key_file=${folder}/key.pem`,
      ]),
      ...options,
    ];
    const spawn = async (): Promise<Deno.ChildProcess> => {
      const process = new Deno.Command(`${bin}/postgres`, {
        ...run,
        args: ["-D", `${folder}/data`, "-p", String(port), ...settings.flatMap((s) => ["-c", s])],
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      const isReady = new Deno.Command(`${bin}/pg_isready`, {
        args: ["-h", "127.0.0.1", "-p", String(port)],
        stdout: "null",
      });
      await poll(() => isReady.output(), ({ success }) => success);
      return process;
    };
    return new PostgresServer(folder, port, spawn, await spawn());
  }

  /** Address of a database. */
  url(database: string): string {
    return `postgres://svc@127.0.0.1:${this.port}/${database}`;
  }

  /** Makes an empty database and answers its address. */
  async database(): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.run(this.url("postgres"), `create database ${name}`);
    return this.url(name);
  }

  /** Runs a statement, or several without an answer, in the database at an address. */
  async run<Row>(url: string, sql: string): Promise<Row[]> {
    const pool = new Pool({ connectionString: url, max: 1 });
    try {
      return (await pool.query(sql)).rows;
    } finally {
      await pool.end();
    }
  }

  /** Everything in a database, as a backup has it. */
  async dump(url: string): Promise<Uint8Array> {
    return await dumpOf(url);
  }

  /** Ends it as a crash does, and starts it again: what was committed is there. */
  async restart(): Promise<void> {
    await this.#crash();
    this.#process = await this.#spawn();
  }

  /** Ends it, and removes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#crash();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #crash(): Promise<void> {
    this.#process.kill("SIGQUIT");
    await this.#process.status;
  }
}
