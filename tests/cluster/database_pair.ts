import { Pool } from "pg";
import { programs } from "../postgres_programs.ts";
import { serverUser } from "../postgres_server.ts";
import { poll } from "../within.ts";
import type { Machine, Machines } from "./machines.ts";
import { familyOf, signal } from "./processes.ts";

/** Of all servers: each has an address of its own. */
const PORT = 15_432;
/** Room of a server whose disk is to be filled, more than any run uses: what is used is RAM. */
const DISK = "16g";
/** Room that is left when it is made smaller, and then filled. */
const LEFT_BYTES = 64 << 20;
const SETTINGS = [
  "unix_socket_directories=",
  "max_connections=200",
  "max_wal_size=128MB",
  "min_wal_size=32MB",
  "wal_keep_size=32MB",
  // Whoever is cut off is known to be gone soon.
  "wal_sender_timeout=10s",
  "wal_receiver_timeout=10s",
  "logging_collector=on",
];

/** A server of PostgreSQL on a machine, and its disk. */
class Server {
  readonly machine: Machine;
  readonly #folder: string;
  readonly #user: { readonly uid: number; readonly gid: number } | undefined;
  /** Whether its disk is its own, so that it can be full. */
  readonly isLimited: boolean;
  #process: Deno.ChildProcess | undefined;

  private constructor(
    machine: Machine,
    folder: string,
    user: { readonly uid: number; readonly gid: number } | undefined,
    isLimited: boolean,
  ) {
    this.machine = machine;
    this.#folder = folder;
    this.#user = user;
    this.isLimited = isLimited;
  }

  /** @param limited Whether its disk is to be its own, which only root can make, and not always. */
  static async make(machine: Machine, limited: boolean): Promise<Server> {
    const folder = await Deno.makeTempDir({ prefix: "svc_server_" });
    const user = await serverUser();
    const own = "uid" in user ? user : undefined;
    await Deno.mkdir(`${folder}/disk`);
    const options = `size=${DISK},mode=700`;
    const args = ["-t", "tmpfs", "-o", options, "tmpfs", `${folder}/disk`];
    const isMounted = limited && (await new Deno.Command("mount", { args }).output()).success;
    if (own !== undefined) {
      for (const path of [folder, `${folder}/disk`]) await Deno.chown(path, own.uid, own.gid);
    }
    return new Server(machine, folder, own, isMounted);
  }

  get #data(): string {
    return `${this.#folder}/disk/data`;
  }

  /** Address of its database, where it is the primary or not. */
  url(database: string): string {
    return `postgres://svc@${this.machine.address}:${PORT}/${database}?sslmode=disable`;
  }

  async run<Row>(sql: string, database = "postgres"): Promise<Row[]> {
    const pool = new Pool({ connectionString: this.url(database), max: 1 });
    // One that ends between two statements.
    pool.on("error", () => {});
    try {
      return (await pool.query(sql)).rows as Row[];
    } finally {
      await pool.end();
    }
  }

  /** A program of the server's package, as its user, on its machine. */
  #command(name: string, args: readonly string[]): Deno.Command {
    const as = this.#user === undefined ? [] : [
      "setpriv",
      `--reuid=${this.#user.uid}`,
      `--regid=${this.#user.gid}`,
      "--clear-groups",
    ];
    const [program, ...rest] = this.machine.on([...as, `${programs()}/${name}`, ...args]);
    return new Deno.Command(program, {
      args: rest,
      cwd: "/",
      clearEnv: true,
      env: {
        LC_ALL: "C.UTF-8",
        TZ: "UTC",
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    });
  }

  async #finish(name: string, ...args: readonly string[]): Promise<void> {
    const { success, stderr } = await this.#command(name, args).output();
    if (!success) throw new Error(`${name}: ${new TextDecoder().decode(stderr)}`);
  }

  /** Makes an empty one. */
  async create(): Promise<void> {
    await this.#finish("initdb", "-D", this.#data, "-U", "svc", "-A", "trust", "-E", "UTF8", "-N");
    const hosts = "host all all all trust\nhost replication all all trust\n";
    await Deno.writeTextFile(`${this.#data}/pg_hba.conf`, hosts);
  }

  /** Makes a copy of another one, which goes on following it. */
  async copy(from: Server): Promise<void> {
    await Deno.remove(this.#data, { recursive: true }).catch(() => {});
    const { address } = from.machine;
    const where = ["-h", address, "-p", String(PORT), "-U", "svc"];
    const how = ["-R", "-X", "stream", "--checkpoint=fast"];
    await this.#finish("pg_basebackup", ...where, "-D", this.#data, ...how);
  }

  /** Starts it and waits until it answers; `more` are addresses besides its own. */
  async start(more: readonly string[] = []): Promise<void> {
    const listen = [this.machine.address, ...more].join();
    const log = `log_directory=${this.#folder}`;
    const settings = [...SETTINGS, log, "log_filename=log", `listen_addresses=${listen}`];
    const all = settings.flatMap((one) => ["-c", one]);
    this.#process = this.#command("postgres", ["-D", this.#data, "-p", String(PORT), ...all])
      .spawn();
    this.#process.stderr.cancel();
    await poll(() => this.run("select 1").then(() => true, () => false), Boolean);
  }

  /** Ends it and everything it started at once, as a power cut would. */
  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    signal(await familyOf(this.#process.pid), "SIGKILL");
    await this.#process.status;
    this.#process = undefined;
  }

  /** Ends it in good order. */
  async stop(): Promise<void> {
    this.#process!.kill("SIGINT");
    await this.#process!.status;
    this.#process = undefined;
  }

  /** Whether nothing runs any more, as when a disk is full. */
  async hasEnded(): Promise<boolean> {
    const ended = this.#process!.status.then(() => true);
    return await Promise.race([ended, new Promise<boolean>((no) => setTimeout(no, 0, false))]);
  }

  /** The last lines of its log. */
  async said(): Promise<string[]> {
    const text = await Deno.readTextFile(`${this.#folder}/log`).catch(() => "");
    return text.split("\n").slice(-40);
  }

  /** Leaves no room on its disk. */
  async fill(): Promise<void> {
    const args = ["-B1", "--output=used", `${this.#folder}/disk`];
    const { stdout } = await new Deno.Command("df", { args }).output();
    const [, used] = new TextDecoder().decode(stdout).trim().split("\n");
    // It is written to meanwhile, and cannot be made smaller than it is used.
    await this.#resize(String(Number(used) + LEFT_BYTES));
    using file = await Deno.open(`${this.#folder}/disk/full`, { create: true, write: true });
    const block = new Uint8Array(1 << 20);
    try {
      for (;;) await file.write(block);
    } catch {
      // It is full.
    }
  }

  /** Gives the room back. */
  async empty(): Promise<void> {
    await this.#resize(DISK);
    await Deno.remove(`${this.#folder}/disk/full`);
  }

  async #resize(size: string): Promise<void> {
    const args = ["-o", `remount,size=${size}`, `${this.#folder}/disk`];
    const { success, stderr } = await new Deno.Command("mount", { args }).output();
    if (!success) throw new Error(`mount: ${new TextDecoder().decode(stderr)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    if (this.isLimited) {
      await new Deno.Command("umount", { args: ["-l", `${this.#folder}/disk`] }).output();
    }
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/**
 * A server and a copy that is asked with each commit, so that it has whatever was answered. One of
 * them has the address under which relayers know the database.
 */
export class DatabasePair implements AsyncDisposable {
  readonly #machines: Machines;
  readonly #address: string;
  #primary: Server;
  #standby: Server;
  #ready: Promise<void> = Promise.resolve();

  private constructor(machines: Machines, address: string, primary: Server, standby: Server) {
    this.#machines = machines;
    this.#address = address;
    this.#primary = primary;
    this.#standby = standby;
  }

  /** @param limited Whether disks are to be filled. */
  static async start(machines: Machines, limited: boolean): Promise<DatabasePair> {
    await using stack = new AsyncDisposableStack();
    const primary = stack.use(await Server.make(await machines.add("database-1"), limited));
    const standby = stack.use(await Server.make(await machines.add("database-2"), limited));
    const address = machines.reserve();
    await machines.give(address, primary.machine);
    await primary.create();
    await primary.start([address]);
    await primary.run("create database svc");
    const pair = new DatabasePair(machines, address, primary, standby);
    await pair.#follow();
    stack.move();
    return pair;
  }

  /** Where relayers find the database, whichever server has it. */
  get url(): string {
    return `postgres://svc@${this.#address}:${PORT}/svc?sslmode=disable`;
  }

  get primary(): Server {
    return this.#primary;
  }

  get standby(): Server {
    return this.#standby;
  }

  /** Resolves once the standby has everything again. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * The primary dies, and an operator makes the standby the primary. Resolves when it is; a new
   * standby is made of the machine that died, behind that.
   */
  async failOver(): Promise<void> {
    await this.#ready;
    const [dead, next] = [this.#primary, this.#standby];
    await dead.kill();
    await next.stop();
    await this.#machines.give(this.#address, next.machine);
    await next.start([this.#address]);
    await next.run("select pg_promote()");
    // Until there is another one, nobody else can be asked.
    await this.#ask(next, "");
    this.#primary = next;
    this.#standby = dead;
    this.#ready = this.#follow();
    this.#ready.catch(() => {});
  }

  /** The primary crashes and is started again where it was. */
  async crash(): Promise<void> {
    await this.#ready;
    await this.#primary.kill();
    await this.#primary.start([this.#address]);
  }

  /** Starts the primary again if it has ended, as whatever supervises it does. */
  async supervise(): Promise<void> {
    if (await this.#primary.hasEnded()) await this.#primary.start([this.#address]);
  }

  async #follow(): Promise<void> {
    const { primary, standby } = this;
    await standby.copy(primary);
    await standby.start();
    await this.#ask(primary, "*");
    const sql = "select sync_state as state from pg_stat_replication";
    await poll(
      () => primary.run<{ readonly state: string }>(sql),
      ([first]) => first?.state === "sync",
    );
  }

  async #ask(server: Server, names: string): Promise<void> {
    await server.run(`alter system set synchronous_standby_names = '${names}'`);
    await server.run("select pg_reload_conf()");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ready.catch(() => {});
    await this.#standby[Symbol.asyncDispose]();
    await this.#primary[Symbol.asyncDispose]();
  }
}
