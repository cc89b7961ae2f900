import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../deno.json", import.meta.url));

/** One line of the program's log. */
export type LogLine = Readonly<Record<string, string | number>>;

/** The program in a process of its own, with JSON log lines that can be waited for. */
export class Program implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines: AsyncGenerator<string>;
  readonly #output: Promise<string>;
  /** Every line of standard error so far. */
  readonly errors: string[] = [];

  /** Starts `main.ts` with arguments and only these variables besides Deno's own. */
  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    const cache = Deno.env.get("DENO_DIR");
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "-A", "--config", CONFIG, MAIN, ...args],
      env: {
        SVC_LOG_FORMAT: "json",
        NO_COLOR: "1",
        ...(cache === undefined ? { XDG_CACHE_HOME: `${Deno.env.get("HOME")}/.cache` } : {
          DENO_DIR: cache,
        }),
        ...env,
      },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#lines = linesOf(this.#child.stderr);
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

  /** Waits for the next log line of an event that fits. */
  async event(name: string, fits: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    for (;;) {
      const { done, value } = await this.#lines.next();
      if (done) throw new Error(`ended before "${name}":\n${this.errors.join("\n")}`);
      this.errors.push(value);
      const line = parse(value);
      if (line?.event === name && fits(line)) return line;
    }
  }

  /**
   * Reads on: a program whose log nobody reads stops once the pipe is full. No event can be waited
   * for afterwards.
   */
  drain(): void {
    void (async () => {
      for await (const line of this.#lines) this.errors.push(line);
    })();
  }

  /** Sends a signal. */
  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits for the end and answers the exit code. */
  async end(): Promise<number> {
    for await (const line of this.#lines) this.errors.push(line);
    const { code } = await this.#child.status;
    await this.#output;
    await this.#child.stdin.close().catch(() => undefined);
    return code;
  }

  /** Ends what still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGTERM");
    } catch {
      // It has ended.
    }
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

/** A port that nobody listens at. */
export function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

/** Variables of a relayer that finds its own ports and needs no weights. */
export function relayerEnv(home: string): Record<string, string> {
  return {
    HOME: home,
    SVC_PORT: "0",
    SVC_WEB_PORT: "0",
    SIDECAR_URL: "http://127.0.0.1:0",
    SVC_EMBEDDER: "memory",
    SVC_LOG_LEVEL: "debug",
    SVC_SHUTDOWN_SECONDS: "5",
  };
}
