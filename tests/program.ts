import { fileURLToPath } from "node:url";
import { LOCKED } from "./locked.ts";
import { CACHE_ENV, REGISTRY_ENV } from "./registry.ts";
import { within } from "./within.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/** One line of the program's log. */
export type LogLine = Readonly<Record<string, string | number>>;

/** The program in a process of its own, with JSON log lines that can be waited for. */
export class Program implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #output: Promise<string>;
  /** Resolves when standard error has ended. */
  readonly #ended: Promise<void>;
  /** Lines of {@linkcode errors} that no event was waited for in. */
  #read = 0;
  #more = Promise.withResolvers<boolean>();
  /** Every line of standard error so far. */
  readonly errors: string[] = [];

  /**
   * Starts `main.ts` with arguments and only these variables besides Deno's own.
   *
   * @param descriptors How many files and connections each of its processes may have open.
   */
  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    descriptors?: number,
  ) {
    const all = [Deno.execPath(), "run", "--no-prompt", "-A", ...LOCKED, MAIN, ...args];
    const [command = "", ...rest] = descriptors === undefined
      ? all
      : ["/bin/sh", "-c", `ulimit -n ${descriptors} && exec "$0" "$@"`, ...all];
    this.#child = new Deno.Command(command, {
      args: rest,
      env: {
        ...REGISTRY_ENV,
        SVC_LOG_FORMAT: "json",
        NO_COLOR: "1",
        ...CACHE_ENV,
        ...env,
      },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#ended = this.#readErrors(this.#child.stderr);
    this.#output = new Response(this.#child.stdout).text();
  }

  /** Process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Standard output, once the program has ended. */
  get output(): Promise<string> {
    return this.#output;
  }

  /** Writes to standard input. */
  async write(text: string): Promise<void> {
    const writer = this.#child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(text));
    writer.releaseLock();
  }

  /** Closes standard input. */
  async closeInput(): Promise<void> {
    await this.#child.stdin.close();
  }

  /**
   * Waits for the next log line of an event that fits.
   *
   * @throws {Error} when it does not come.
   */
  async event(name: string, fits: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    const log = () => this.errors.join("\n");
    const found = await within(this.#next(name, fits), () => `no "${name}" in\n${log()}`);
    if (found === undefined) throw new Error(`ended before "${name}":\n${log()}`);
    return found;
  }

  async #next(name: string, fits: (line: LogLine) => boolean): Promise<LogLine | undefined> {
    for (;;) {
      while (this.#read < this.errors.length) {
        const line = parse(this.errors[this.#read++]!);
        if (line?.event === name && fits(line)) return line;
      }
      if (!await this.#more.promise) return undefined;
    }
  }

  /** Reads on whether or not somebody waits: a program whose log nobody reads stops. */
  async #readErrors(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const line of linesOf(stream)) {
      this.errors.push(line);
      this.#more.resolve(true);
      this.#more = Promise.withResolvers();
    }
    this.#more.resolve(false);
  }

  /** Waits for a further line of standard error; answers whether there is one. */
  async more(): Promise<boolean> {
    return await within(this.#more.promise, () => `no more than\n${this.errors.join("\n")}`);
  }

  /** Sends a signal; to what has ended by itself it does nothing. */
  kill(signal: Deno.Signal): void {
    try {
      this.#child.kill(signal);
    } catch (error) {
      // "Child process has already terminated"
      if (!(error instanceof TypeError)) throw error;
    }
  }

  /** Waits for the end and answers the exit code. */
  async end(): Promise<number> {
    await this.#ended;
    const { code } = await this.#child.status;
    await this.#output;
    await this.#child.stdin.close().catch(() => undefined);
    return code;
  }

  /** Ends what still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGTERM");
    await this.end();
  }
}

function parse(text: string): LogLine | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Lines of a stream. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** A home folder of its own, removed afterwards. */
export async function inHome(test: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir();
  try {
    await test(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** Variables of a relayer that finds its own ports and needs no weights. */
export function relayerEnv(home: string): Record<string, string> {
  return {
    HOME: home,
    SVC_PORT: "0",
    // Tests make their accounts themselves.
    SVC_FIRST_ACCOUNT: "false",
    SVC_WEB_PORT: "0",
    SIDECAR_URL: "http://127.0.0.1:0",
    SVC_EMBEDDER: "memory",
    SVC_LOG_LEVEL: "debug",
    SVC_SHUTDOWN_SECONDS: "5",
  };
}
