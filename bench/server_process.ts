import { fileURLToPath } from "node:url";
import { Connection } from "./connection.ts";
import { getRequest } from "./signing_key.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** A port nobody listens on. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Options of {@linkcode ServerProcess.start}. */
export interface ServerOptions {
  /** Module, relative to the repository, and its arguments. */
  readonly args: readonly string[];
  /** Where it will listen. */
  readonly port: number;
  /** All its variables, besides where Deno finds its cache. */
  readonly env?: Readonly<Record<string, string>>;
  /** Path that answers 200 once it is ready. */
  readonly readyPath?: string;
  /** Its certificate, where it speaks TLS. */
  readonly certificate?: string;
}

/** CPU time of a process, milliseconds. */
export interface CpuTime {
  /** All threads. */
  readonly all: number;
  /** The thread that runs the event loop. */
  readonly main: number;
  /** Not CPU time: how long that thread could have run, but others had the cores. */
  readonly mainKept: number;
}

/** A server in a process of its own. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;

  private constructor(
    child: Deno.ChildProcess,
    /** Where it listens. */
    readonly port: number,
    /** From the start of the process to its first good answer, milliseconds. */
    readonly readyMs: number,
  ) {
    this.#child = child;
  }

  /** Starts a server and waits until it answers. */
  static async start(options: ServerOptions): Promise<ServerProcess> {
    const { args, port, env = {}, readyPath = "/version", certificate } = options;
    const home = Deno.env.get("HOME") ?? "";
    const begin = performance.now();
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--lock=deno.lock", "--frozen", "--no-prompt", "-A", ...args],
      cwd: ROOT,
      clearEnv: true,
      env: {
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${home}/.cache/deno`,
        PATH: Deno.env.get("PATH") ?? "",
        ...env,
      },
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    let ended = false;
    void child.status.then(() => ended = true);
    while (!await answers(port, readyPath, certificate)) {
      if (ended) throw new Error(`${args.join(" ")} ended before it was ready`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return new ServerProcess(child, port, performance.now() - begin);
  }

  /** Its number for the kernel. */
  get pid(): number {
    return this.#child.pid;
  }

  /** CPU time used so far by the threads that still run. */
  async cpu(): Promise<CpuTime> {
    const { pid } = this.#child;
    let all = 0;
    for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
      all += (await threadMs(pid, name)).ran;
    }
    const { ran: main, kept: mainKept } = await threadMs(pid, String(pid));
    return { all, main, mainKept };
  }

  /** Resident memory of the process and those it started, MiB. */
  async residentMiB(): Promise<number> {
    let total = 0;
    for (const pid of await family(this.#child.pid)) {
      const status = await Deno.readTextFile(`/proc/${pid}/status`);
      total += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
    }
    return total / 1024;
  }

  /** Resident memory of the process alone, MiB. */
  async ownMiB(): Promise<number> {
    const status = await Deno.readTextFile(`/proc/${this.#child.pid}/status`);
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }

  /** Lets it finish and waits for its end. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#child.status;
  }

  /** Ends it at once, whatever it still has to do. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#child.status;
  }
}

async function answers(port: number, path: string, certificate?: string): Promise<boolean> {
  try {
    using connection = await Connection.open(port, certificate);
    return (await connection.send(getRequest(path))).status === 200;
  } catch {
    return false;
  }
}

/** A thread's time on a CPU, and its time in the queue for one; the kernel counts nanoseconds. */
async function threadMs(pid: number, thread: string): Promise<{ ran: number; kept: number }> {
  const path = `/proc/${pid}/task/${thread}/schedstat`;
  // A thread may end between the listing and the reading.
  const text = await Deno.readTextFile(path).catch(() => "0 0");
  const [ran, kept] = text.split(" ", 2).map((count) => Number(count) / 1e6);
  return { ran: ran ?? 0, kept: kept ?? 0 };
}

async function family(pid: number): Promise<number[]> {
  const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`).catch(() => "");
  const below = await Promise.all(children.split(" ").filter(Boolean).map(Number).map(family));
  return [pid, ...below.flat()];
}
