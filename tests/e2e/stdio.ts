import { fileURLToPath } from "node:url";
import { HostPeer } from "../cli/bridge/host_peer.ts";
import { LOCKED } from "../locked.ts";
import type { LogLine } from "../program.ts";
import { linesOf } from "../program.ts";
import { REGISTRY_ENV } from "../registry.ts";

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** How the package is started, and with which variables. */
export interface PackageStart {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** The package from source, with a home folder of its own and no browser. */
export function packageStart(home: string, ...args: readonly string[]): PackageStart {
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  return {
    command: Deno.execPath(),
    args: ["run", "--no-prompt", "-A", "--quiet", ...LOCKED, root("cli/svc_mcp.ts"), ...args],
    env: { ...REGISTRY_ENV, HOME: home, DENO_DIR: cache, NO_COLOR: "1", SVC_NO_BROWSER: "1" },
  };
}

/** Runs the package as a command, without a terminal, to its end. */
export async function terminal(
  start: PackageStart,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const { code, stdout, stderr } = await new Deno.Command(start.command, {
    args: [...start.args, ...args],
    env: start.env,
    clearEnv: true,
    stdin: "null",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, out: out!, err: err! };
}

/** The package as a host starts it: a child process that speaks JSON-RPC lines. */
export class StdioPackage implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #log: Promise<void>;
  /** The host's end. */
  readonly host: HostPeer;
  /** Every line of standard error so far. */
  readonly errors: string[] = [];

  /** Starts it. */
  constructor({ command, args, env }: PackageStart, more: Readonly<Record<string, string>> = {}) {
    const child = this.#child = new Deno.Command(command, {
      args,
      env: { ...env, ...more },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    const encoder = new TextEncoder();
    const send = (line: string) => this.#input.write(encoder.encode(line + "\n"));
    this.host = new HostPeer(send, linesOf(this.#child.stdout));
    this.#log = (async () => {
      for await (const line of linesOf(child.stderr)) this.errors.push(line);
    })();
  }

  /** Process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** The log: every line of standard error, parsed. */
  get log(): LogLine[] {
    return this.errors.map((line) => JSON.parse(line));
  }

  /** Closes standard input; answers the exit code. */
  async end(): Promise<number> {
    await this.#input.close().catch(() => undefined);
    const { code } = await this.#child.status;
    await Promise.all([this.#log, this.host.ended]);
    return code;
  }

  /** Ends what still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.end();
  }
}
