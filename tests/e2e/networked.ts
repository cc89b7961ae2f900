import type { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { OnDevnet } from "../plugins/sui/accounts/on_devnet.ts";
import { Program, relayerEnv } from "../program.ts";
import { SvcClient } from "../../src/client/client.ts";
import type { TestKey } from "../relayer_fixture.ts";

/** A started program with everything networked, on a devnet, and a delegate key of an account. */
export class Networked implements AsyncDisposable {
  readonly chain: OnDevnet;
  /** Owner of the account. */
  readonly owner: Ed25519Keypair;
  readonly accountId: string;
  readonly key: TestKey;
  readonly #home: string;
  readonly #env: Readonly<Record<string, string>>;
  #program: Program | undefined;
  #url = "";

  constructor(
    chain: OnDevnet,
    owner: Ed25519Keypair,
    accountId: string,
    key: TestKey,
    home: string,
    env: Readonly<Record<string, string>>,
  ) {
    this.chain = chain;
    this.owner = owner;
    this.accountId = accountId;
    this.key = key;
    this.#home = home;
    this.#env = env;
  }

  /**
   * Starts network and program.
   *
   * @param extra Variables besides the network's.
   */
  static async start(
    home: string,
    extra: Readonly<Record<string, string>> = {},
  ): Promise<Networked> {
    const chain = await OnDevnet.start();
    const owner = await chain.wallet();
    const accountId = await chain.account(owner);
    const key = await chain.key(owner, accountId, ["read", "write"]);
    const env = { ...chain.devnet.settings(), SVC_SPONSOR: "off", ...extra };
    const networked = new Networked(chain, owner, accountId, key, home, env);
    await networked.launch();
    return networked;
  }

  /** Address of the relayer. */
  get url(): string {
    return this.#url;
  }

  /** Starts the program, on the data of the one before. */
  async launch(): Promise<void> {
    this.#program = new Program(["start"], { ...relayerEnv(this.#home), ...this.#env });
    const { port } = await this.#program.event("listening");
    this.#url = `http://127.0.0.1:${port}`;
  }

  /** What the program logged. */
  get log(): readonly string[] {
    return this.#program?.errors ?? [];
  }

  /** Ends the program. */
  async stop(): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
    this.#program = undefined;
  }

  /** A client with the account's key that repeats nothing by itself. */
  client(key = this.key): SvcClient {
    return new SvcClient({
      baseUrl: this.url,
      privateKey: key.seed.toHex(),
      accountId: this.accountId,
      retry: { attempts: 1 },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.chain.devnet.faults.clear();
    await this.stop();
    await this.chain[Symbol.asyncDispose]();
  }
}
