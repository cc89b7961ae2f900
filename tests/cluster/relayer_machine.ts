import { fileURLToPath } from "node:url";
import { LOCKED } from "../locked.ts";
import { linesOf } from "../program.ts";
import { CACHE_ENV, REGISTRY_ENV } from "../registry.ts";
import { within } from "../within.ts";
import { Clock } from "./clocks.ts";
import type { Machine } from "./machines.ts";
import { commandOf, familyOf, signal } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));
/** Of all relayers: each has an address of its own. */
const PORT = 8_000;
/** Lines of its log that are kept for whoever asks why. */
const KEPT_LINES = 200;

/**
 * Starts the program so that what it starts itself goes by another clock: it finds a script where it
 * found Deno, in a view of the files that nobody else has. It passes no such variables on.
 */
const WITH_CLOCK = 'exec 9<"$0"; mount --bind "$1" "$0"; shift; exec /proc/self/fd/9 "$@"';

/** A machine with a relayer and its sidecar, started as an operator does. */
export class RelayerMachine implements AsyncDisposable {
  readonly machine: Machine;
  readonly clock: Clock | undefined;
  /** The last lines of its log. */
  readonly said: string[] = [];
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  #process: Deno.ChildProcess | undefined;

  private constructor(
    machine: Machine,
    folder: string,
    env: Readonly<Record<string, string>>,
    clock: Clock | undefined,
  ) {
    this.machine = machine;
    this.clock = clock;
    this.#folder = folder;
    this.#env = env;
  }

  /** @param clocks Whether its clock is to be put forward and back, which only root can do. */
  static async make(
    machine: Machine,
    settings: Readonly<Record<string, string>>,
    clocks: boolean,
  ): Promise<RelayerMachine> {
    const folder = await Deno.makeTempDir({ prefix: "svc_machine_" });
    const env = {
      ...REGISTRY_ENV,
      SVC_LOG_FORMAT: "json",
      NO_COLOR: "1",
      ...CACHE_ENV,
      ...settings,
      SVC_HOST: machine.address,
      SVC_PORT: String(PORT),
      SVC_RELAYER_NAME: machine.name,
      SVC_DATA_DIR: `${folder}/data`,
    };
    const clock = clocks ? await Clock.make(folder) : undefined;
    if (clock !== undefined) {
      const lines = Object.entries(clock.env).map(([name, value]) => `export ${name}=${value}`);
      const text = ["#!/bin/sh", ...lines, `exec ${Deno.execPath()} "$@"`, ""].join("\n");
      await Deno.writeTextFile(`${folder}/clocked`, text, { mode: 0o755 });
      await Deno.copyFile(Deno.execPath(), `${folder}/deno`);
    }
    return new RelayerMachine(machine, folder, env, clock);
  }

  /** Host and port. */
  get address(): string {
    return `${this.machine.address}:${PORT}`;
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const args = ["run", "--no-prompt", "-A", ...LOCKED, MAIN, "start"];
    const [deno, script] = [`${this.#folder}/deno`, `${this.#folder}/clocked`];
    const own = this.clock === undefined
      ? [Deno.execPath(), ...args]
      : ["unshare", "-m", "sh", "-c", WITH_CLOCK, deno, script, ...args];
    const [program, ...rest] = this.machine.on(own);
    this.#process = new Deno.Command(program, {
      args: rest,
      clearEnv: true,
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...this.#env },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const listening = Promise.withResolvers<void>();
    this.#read(this.#process.stderr, listening).catch(listening.reject);
    await within(listening.promise, () => `${this.machine.name}: ${this.said.join("\n")}`);
  }

  async #read(errors: ReadableStream<Uint8Array>, listening: PromiseWithResolvers<void>) {
    for await (const line of linesOf(errors)) {
      if (this.said.push(line) > KEPT_LINES) this.said.shift();
      if (/"event":"listening".*"port":\d+/.test(line)) listening.resolve();
    }
    listening.reject(new Error(`${this.machine.name} has ended: ${this.said.join("\n")}`));
  }

  /** Process ids of its relayer and its sidecar; `undefined` while there is none. */
  async child(command: "serve" | "sidecar"): Promise<number | undefined> {
    for (const pid of await familyOf(this.#process!.pid)) {
      if ((await commandOf(pid)).includes(command)) return pid;
    }
    return undefined;
  }

  /** Ends everything on it at once, as a power cut would. */
  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    signal(await familyOf(this.#process.pid), "SIGKILL");
    await this.#process.status;
    this.#process = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await Deno.remove(this.#folder, { recursive: true });
  }
}
