import type { CliIo } from "../../../cli/mod.ts";
import { type FixtureOptions, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { type Said, Terminal, typed } from "../terminal.ts";

/** Answers in the relayer's place; `undefined` lets it answer itself. */
export type Between = (request: Request) => Response | Promise<Response | undefined> | undefined;

/** A terminal that is signed in at a relayer in this process. */
export class SignedIn implements AsyncDisposable {
  /** Requests that reached the relayer: method and path with query. */
  readonly asked: string[] = [];
  /** Milliseconds that were slept, one by one. */
  readonly slept: number[] = [];
  /** Answers in its place. */
  between: Between = () => undefined;

  private constructor(
    /** The terminal. */
    readonly terminal: Terminal,
    /** The relayer. */
    readonly svc: TestRelayer,
  ) {}

  /** Starts both. */
  static async open(options: FixtureOptions = {}): Promise<SignedIn> {
    const svc = await startRelayer(options);
    const terminal = await Terminal.open();
    await terminal.signIn({
      delegatePrivateKey: svc.key.seed.toHex(),
      delegatePublicKeyHex: svc.key.publicKey,
      delegateAddress: svc.key.address,
      walletAddress: svc.owner,
      accountId: svc.account.accountId,
      relayerUrl: "http://localhost:8000",
    });
    return new SignedIn(terminal, svc);
  }

  /** Fetches from the relayer, or from what stands between. */
  readonly fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    const { pathname, search } = new URL(url);
    const answer = await this.between(request.clone());
    if (answer !== undefined) return answer;
    this.asked.push(`${request.method} ${pathname}${search}`);
    const remoteAddr: Deno.NetAddr = { transport: "tcp", hostname: "127.0.0.1", port: 40_000 };
    return await this.svc.relayer.fetch(request, { remoteAddr });
  };

  /** Runs a command; an argument `~/x` is a path of the home folder. */
  async run(args: readonly string[], io: Partial<CliIo> = {}): Promise<Said> {
    const words = args.map((arg) => arg.replace(/^~/, this.terminal.home));
    const said = await this.terminal.run(words, {
      fetch: this.fetch,
      sleep: (ms) => {
        this.slept.push(ms);
        // Jobs go on meanwhile.
        return this.svc.relayer.idle();
      },
      ...io,
    });
    const bare = (text: string) => text.replaceAll(this.terminal.home, "~");
    return { code: said.code, out: bare(said.out), err: bare(said.err) };
  }

  /** Runs a command on a terminal, with what is typed there. */
  onTerminal(args: readonly string[], text = "", io: Partial<CliIo> = {}): Promise<Said> {
    return this.run(args, {
      isTerminal: true,
      isErrorTerminal: true,
      stdin: typed(text),
      ...io,
      env: { NO_COLOR: "1", ...io.env },
    });
  }

  /** The JSON that a command prints. */
  // deno-lint-ignore no-explicit-any -- tests look into what they test
  async json(args: readonly string[], io: Partial<CliIo> = {}): Promise<any> {
    const { code, out, err } = await this.run([...args, "--json"], io);
    if (code !== 0) throw new Error(`exit code ${code}: ${err}`);
    return JSON.parse(out);
  }

  /** Ends both. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.svc[Symbol.asyncDispose]();
    await this.terminal[Symbol.asyncDispose]();
  }
}
