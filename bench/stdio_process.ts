/** Where the bench of the stdio package makes its bundle and its home folder. */
export interface StdioCommand {
  /** Program. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Home folder, with the credentials. */
  readonly home: string;
}

const encoder = new TextEncoder();

/** The stdio package as a host starts it. */
export class StdioProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;
  #rest = "";
  #id = 0;

  /** Starts it. */
  constructor({ command, args, home }: StdioCommand) {
    this.#child = new Deno.Command(command, {
      args: [...args],
      clearEnv: true,
      env: {
        HOME: home,
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        NO_COLOR: "1",
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Sends a request and reads until its answer has begun to arrive, or arrived as a whole. */
  async request(method: string, params: object, until: "first byte" | "answer"): Promise<string> {
    const id = this.#id++;
    await this.#input.write(
      encoder.encode(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n"),
    );
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (until === "first byte" ? this.#rest !== "" : end >= 0) {
        const line = this.#rest.slice(0, end < 0 ? undefined : end);
        if (end >= 0) this.#rest = this.#rest.slice(end + 1);
        return line;
      }
      const { done, value } = await this.#output.read();
      if (done) throw new Error("The package ended");
      this.#rest += value;
    }
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await this.#output.cancel();
    await this.#child.status;
  }
}
