import { type CliIo, type ExitCode, runCli } from "../../cli/mod.ts";
import { install } from "../../cli/install/mod.ts";
import { writeCredentials } from "../../src/client/credentials_file.ts";
import { type Credentials, makeDelegateKey } from "../../src/client/mod.ts";
import { IDS } from "./dashboard.ts";

/** What a command said. */
export interface Said {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** A terminal in a home folder of its own. */
export class Terminal implements AsyncDisposable {
  private constructor(
    /** The home folder. */
    readonly home: string,
  ) {}

  /** Opens one. */
  static async open(): Promise<Terminal> {
    return new Terminal(await Deno.makeTempDir());
  }

  /** The credentials file. */
  get credentialsPath(): string {
    return `${this.home}/.svc/credentials.json`;
  }

  /** Signs in without a dashboard. */
  async signIn(more: Partial<Credentials> = {}): Promise<Credentials> {
    const pair = await makeDelegateKey();
    const credentials: Credentials = {
      delegatePrivateKey: pair.privateKey,
      delegatePublicKeyHex: pair.publicKey,
      delegateAddress: pair.address,
      ...IDS,
      relayerUrl: "http://127.0.0.1:1",
      createdAt: "2026-01-01T00:00:00.000Z",
      version: 1,
      ...more,
    };
    await writeCredentials(this.credentialsPath, credentials);
    return credentials;
  }

  /** Runs a command. */
  async run(args: readonly string[], io: Partial<CliIo> = {}): Promise<Said> {
    let out = "";
    let err = "";
    const code = await runCli(args, {
      write: (text) => out += text,
      writeError: (text) => err += text,
      openBrowser: () => false,
      sleep: () => Promise.resolve(),
      ...io,
      env: { HOME: this.home, ...io.env },
    }, { install });
    return { code, out, err };
  }

  /** Reads a file of the home folder. */
  read(path: string): Promise<string> {
    return Deno.readTextFile(`${this.home}/${path}`);
  }

  /** Writes a file of the home folder. */
  async write(path: string, text: string): Promise<void> {
    const folder = `${this.home}/${path}`.replace(/\/[^/]*$/, "");
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${this.home}/${path}`, text);
  }

  /** Names in a folder of the home folder, sorted. */
  async list(path: string): Promise<string[]> {
    const entries = await Array.fromAsync(Deno.readDir(`${this.home}/${path}`));
    return entries.map(({ name }) => name).sort();
  }

  /** Removes the home folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.home, { recursive: true });
  }
}

/** Input of a command. */
export function typed(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}
