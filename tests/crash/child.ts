import { REGISTRY_ENV } from "../registry.ts";

/** How a process is started. */
export interface ChildOptions {
  /** Arguments of `deno`. */
  readonly args: readonly string[];
  /** Its whole environment, but for what fetches packages. */
  readonly env: Readonly<Record<string, string>>;
  /** First line of its standard input, which stays open until the end. */
  readonly boot?: string;
  /** What a shell does before it becomes the process. */
  readonly before?: string | undefined;
}

/** A process whose output is read all the time, so that a full pipe never holds it up. */
export class Child implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;
  readonly #status: Promise<Deno.CommandStatus>;
  readonly #input: Promise<void>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #cut = new AbortController();
  #output = "";
  #errors = "";
  #isOver = false;
  #changed = Promise.withResolvers<void>();

  /** Starts the process. */
  constructor({ args, env, boot, before }: ChildOptions) {
    const shell = ["-c", `${before}; exec "$@"`, "sh", Deno.execPath()];
    this.#process = new Deno.Command(before === undefined ? Deno.execPath() : "/bin/sh", {
      args: before === undefined ? [...args] : [...shell, ...args],
      env: { ...REGISTRY_ENV, ...env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#status = this.#process.status;
    this.#reading = Promise.all([
      this.#read(this.#process.stdout, (text) => this.#output += text),
      this.#read(this.#process.stderr, (text) => this.#errors += text),
    ]).then(() => {
      this.#isOver = true;
      this.#wake();
    });
    this.#writer = this.#process.stdin.getWriter();
    // A process that died already has closed its end.
    this.#input = boot === undefined
      ? Promise.resolve()
      : this.#writer.write(new TextEncoder().encode(boot + "\n")).catch(() => undefined);
  }

  /** Process id. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Standard output so far. */
  get output(): string {
    return this.#output;
  }

  /** Standard error so far. */
  get errors(): string {
    return this.#errors;
  }

  /** Resolves when the process has ended and all it wrote is here. */
  async ended(): Promise<Deno.CommandStatus> {
    await this.#reading;
    return await this.#status;
  }

  /**
   * Waits until standard error matches from a position on; throws when it ended without, or after
   * two minutes.
   */
  async until(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, 120_000);
    try {
      for (;;) {
        const match = pattern.exec(this.#errors.slice(from));
        if (match !== null) return match;
        if (this.#isOver || isLate) {
          throw new Error(`without ${pattern}:\n${this.#errors.slice(-2000)}`);
        }
        await this.#changed.promise;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the pipes of its output: what it writes from now on fails. */
  closeOutput(): void {
    this.#cut.abort();
  }

  /** Sends a signal; nothing happens when the process has ended. */
  kill(signal: Deno.Signal): void {
    try {
      this.#process.kill(signal);
    } catch {
      // It has ended.
    }
  }

  /** Kills what still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGKILL");
    await this.ended();
    await this.#input;
    await this.#writer.close().catch(() => undefined);
  }

  async #read(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
    const options = { signal: this.#cut.signal };
    try {
      for await (const text of stream.pipeThrough(new TextDecoderStream(), options)) {
        add(text);
        this.#wake();
      }
    } catch (error) {
      if (error !== this.#cut.signal.reason) throw error;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
