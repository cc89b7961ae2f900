import { join } from "node:path";
import { runAccount } from "../../src/program/commands/account.ts";
import {
  type RelayerBoot,
  relayerEnvironment,
  sidecarBoot,
} from "../../src/program/launcher/boot.ts";
import { childSpec } from "../../src/program/launcher/child_spec.ts";
import { relayerPermissions } from "../../src/program/launcher/permissions.ts";
import type { ChildSpec } from "../../src/program/launcher/supervisor.ts";
import { prepare } from "../../src/program/launcher/prepare.ts";
import { loadRelayerKey, runCommand } from "../../src/program/key_source.ts";
import { pluginPermissions, pluginVariables } from "../../src/program/plugins.ts";
import { freePort } from "../free_port.ts";
import { lockedIn, ROOT } from "../locked.ts";
import { IS_ON_POSTGRES } from "../test_store.ts";
import { Child } from "./child.ts";
import { type Identity, makeIdentity } from "./wire.ts";

/** Variables by name. */
export type Env = Readonly<Record<string, string>>;

/** Folder of Deno's cache, where the packages are: a home folder of its own has none. */
const DENO_DIR: string = await denoDir();

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

/** Settings of a relayer that keeps everything in a database of its own. */
async function onPostgres(): Promise<Env> {
  // Here: other tests load no driver.
  const { takeDatabase } = await import("../postgres/databases.ts");
  return { SVC_STORE: "postgres", SVC_DATABASE_URL: await takeDatabase() };
}

/** A child with other permissions. */
function withFlags(spec: ChildSpec, flags: readonly string[] | undefined): ChildSpec {
  if (flags === undefined) return spec;
  const args = spec.args.filter((arg) => !arg.startsWith("--allow-"));
  const at = args.indexOf("--no-prompt") + 1;
  return { ...spec, args: [...args.slice(0, at), ...flags, ...args.slice(at)] };
}

/** A relayer that listens. */
export class RunningRelayer implements AsyncDisposable {
  /** Its process, or its launcher's. */
  readonly child: Child;
  /** Where it listens. */
  readonly url: string;

  /** Wraps a process that listens. */
  constructor(child: Child, port: string) {
    this.child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Ends it as a power cut would. */
  async crash(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.child.ended();
  }

  /** Stops it as an operator would; answers the exit code. */
  async stop(): Promise<number> {
    this.child.kill("SIGTERM");
    return (await this.child.ended()).code;
  }

  /** Crashes what still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.child[Symbol.asyncDispose]();
  }
}

/** A home folder of its own with a relayer's data, removed afterwards. */
export class Installation implements AsyncDisposable {
  /** The home folder. */
  readonly home: string;
  /** The relayer's settings. */
  readonly env: Env;
  /** The checkout whose `main.ts` is started: that of an earlier version, or this one. */
  folder: string = ROOT;
  /** Every process that was started. */
  readonly children: Child[] = [];
  /** Where a relayer answers the sidecar's calls. */
  readonly internalUrl: string = `http://127.0.0.1:${freePort()}`;

  private constructor(home: string, env: Env) {
    this.home = home;
    this.env = env;
  }

  /** Address of the database with everything, where that is asked for of all tests. */
  get database(): string | undefined {
    return IS_ON_POSTGRES ? this.env["SVC_DATABASE_URL"] : undefined;
  }

  /** Makes a home; nothing is started. */
  static async create(env: Env = {}): Promise<Installation> {
    const home = await Deno.makeTempDir({ prefix: "svc_" });
    return new Installation(home, {
      HOME: home,
      SVC_PORT: "0",
      SVC_FIRST_ACCOUNT: "false",
      SVC_WEB_PORT: "0",
      SIDECAR_URL: "http://127.0.0.1:0",
      SVC_LOG_FORMAT: "json",
      SVC_LOG_LEVEL: "debug",
      SVC_RATE_LIMIT_DISABLED: "true",
      // Words at random are a seed phrase now and then.
      SVC_SECRETS: "allow",
      ...(IS_ON_POSTGRES ? await onPostgres() : {}),
      ...env,
    });
  }

  /** The data directory. */
  get dataDir(): string {
    return this.env["SVC_DATA_DIR"] ?? `${this.home}/.svc/relayer`;
  }

  /** Everything the processes wrote. */
  get logs(): string {
    return this.children.map((child) => child.output + child.errors).join("\n");
  }

  /** Makes an account with one key; works while the relayer runs. */
  async account(): Promise<Identity> {
    const output: string[] = [];
    const code = await runAccount(["create", "--json"], {
      env: this.env,
      cwd: this.home,
      write: (text) => output.push(text),
      writeError: (text) => output.push(text),
    });
    if (code !== 0) throw new Error(output.join(""));
    const { account_id, private_key } = JSON.parse(output.join(""));
    return await makeIdentity(private_key, account_id);
  }

  /**
   * Starts the relayer's process with exactly the permissions and the start line the launcher
   * gives it, and waits until it listens.
   */
  async start(env: Env = {}): Promise<RunningRelayer> {
    const child = await this.spawnRelayer(env);
    return await this.#listening(child);
  }

  /**
   * As {@linkcode start}, without waiting.
   *
   * @param flags Permissions instead of those of the launcher.
   */
  async spawnRelayer(env: Env = {}, flags?: readonly string[]): Promise<Child> {
    const all = { ...this.env, ...env };
    const { settings, castings } = await prepare(all, this.home);
    const asked = await pluginPermissions(castings, all, settings.dataDir);
    const { key } = await loadRelayerKey(settings, runCommand);
    const boot: RelayerBoot = {
      env: relayerEnvironment(all, settings, pluginVariables(castings)),
      relayerKey: key.reveal(),
      internalUrl: this.internalUrl,
    };
    const spec = childSpec({
      command: "serve",
      permissions: relayerPermissions(settings, castings, asked, this.internalUrl),
      env: Deno.env.toObject(),
      proxies: false,
      boot: () => boot,
      castings,
    });
    return this.#keep(new Child({ ...withFlags(spec, flags), boot: JSON.stringify(boot) }));
  }

  /** Starts the sidecar's process as the launcher does, with these permissions. */
  async spawnSidecar(flags: readonly string[]): Promise<Child> {
    const { settings } = await prepare(this.env, this.home);
    const boot = sidecarBoot(settings, settings.sidecarToken?.reveal() ?? "", this.internalUrl);
    const spec = childSpec({
      command: "sidecar",
      permissions: { net: [], read: [], write: [], env: [], ffi: [], sys: [], run: false },
      env: Deno.env.toObject(),
      proxies: false,
      boot: () => boot,
      castings: [],
    });
    return this.#keep(new Child({ ...withFlags(spec, flags), boot: JSON.stringify(boot) }));
  }

  /**
   * Starts `main.ts` with arguments, with every permission.
   *
   * @param before What a shell does before it becomes the program.
   */
  spawnProgram(args: readonly string[], env: Env = {}, before?: string): Child {
    return this.#keep(
      new Child({
        args: [
          "run",
          "--no-prompt",
          "-A",
          ...lockedIn(this.folder),
          join(this.folder, "main.ts"),
          ...args,
        ],
        env: { DENO_DIR, NO_COLOR: "1", ...this.env, ...env },
        before,
      }),
    );
  }

  /** Starts the program as {@linkcode spawnProgram} does, and waits until its relayer listens. */
  async launch(
    args: readonly string[] = ["start"],
    env: Env = {},
    before?: string,
  ): Promise<RunningRelayer> {
    return await this.#listening(this.spawnProgram(args, env, before));
  }

  /** Runs `main.ts` with arguments to its end. */
  async run(
    args: readonly string[],
    env: Env = {},
  ): Promise<{ code: number; output: string; errors: string }> {
    await using child = this.spawnProgram(args, env);
    const { code } = await child.ended();
    return { code, output: child.output, errors: child.errors };
  }

  /** Ends every process and removes the home. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.children) await child[Symbol.asyncDispose]();
    await Deno.remove(this.home, { recursive: true });
  }

  #keep(child: Child): Child {
    this.children.push(child);
    return child;
  }

  async #listening(child: Child): Promise<RunningRelayer> {
    return new RunningRelayer(child, (await child.until(LISTENING))[1]!);
  }
}

/** Log line of a relayer that listens. */
export const LISTENING: RegExp = /"event":"listening".*"port":(\d+)/;
