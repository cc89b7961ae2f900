import "../checked_relayers.ts";
import { local } from "../../plugins/local/mod.ts";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import type { RelayerConfig } from "../../src/interfaces/config.ts";
import type { Account, Backends, Embedder, Role } from "../../src/interfaces/mod.ts";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import type { Backend, BackendSource } from "../../src/interfaces/plugin.ts";
import { createRelayer } from "../../src/relayer.ts";
import { TestClock, TestKey, TestRelayer } from "../relayer_fixture.ts";

/** Replaces backends by others around them. */
export type Wrap = { readonly [R in Role]?: (backend: Backend<R>) => Backend<R> };

/** Options of {@linkcode DurableRelayer.start}. */
export interface DurableOptions {
  readonly config?: Partial<RelayerConfig>;
  readonly wrap?: Wrap;
  /** Another embedder than the bag of words. */
  readonly embedder?: () => Embedder;
  readonly clock?: TestClock;
  /** The next start makes the account of the same owner and key again. */
  readonly fresh?: boolean;
}

/** A source whose factories open backends with others around them. */
function wrapped(source: BackendSource, wrap: Wrap): BackendSource {
  const around = Object.entries(wrap) as [Role, (backend: unknown) => unknown][];
  const factories = around.map(([role, make]) => {
    const open = source[role] as (context: unknown) => unknown;
    return [role, async (context: unknown) => make(await open(context))];
  });
  return { ...source, ...Object.fromEntries(factories) };
}

/** A copy of everything but the shared-memory files: what a power cut leaves on the disk. */
async function copyFiles(from: string, to: string): Promise<void> {
  for await (const { name } of Deno.readDir(from)) {
    if (!name.endsWith("-shm")) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Stops a relayer and removes its directory. */
async function ended(relayer: AsyncDisposable, dir: string): Promise<void> {
  await relayer[Symbol.asyncDispose]();
  await Deno.remove(dir, { recursive: true });
}

/** A relayer on the embedded backends that can be stopped, cut off and started again. */
export class DurableRelayer implements AsyncDisposable {
  /** The relayer that runs now. */
  svc!: TestRelayer;
  /** Its data directory. */
  dir = "";
  readonly clock: TestClock;
  readonly #key = new TestKey();
  readonly #relayerKey = crypto.getRandomValues(new Uint8Array(32));
  #options: DurableOptions;
  #account: Account | undefined;
  /** Relayers that were cut off, which end meanwhile. */
  readonly #cutOff: Promise<void>[] = [];

  constructor(options: DurableOptions) {
    this.#options = options;
    this.clock = options.clock ?? new TestClock();
  }

  /** Starts on an empty directory. */
  static async start(options: DurableOptions = {}): Promise<DurableRelayer> {
    const relayer = new DurableRelayer(options);
    relayer.dir = await Deno.makeTempDir();
    await relayer.#open();
    return relayer;
  }

  /** Stops cleanly and starts again; `between` works on the directory while nothing runs. */
  async restart(
    options: Partial<DurableOptions> = {},
    between: (dir: string) => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    this.#options = { ...this.#options, ...options };
    await this.svc.relayer[Symbol.asyncDispose]();
    await between(this.dir);
    await this.#open();
  }

  /** Starts on what a power cut at this moment would leave. */
  async cutPower(options: Partial<DurableOptions> = {}): Promise<void> {
    this.#options = { ...this.#options, ...options };
    const [before, after] = [this.dir, await Deno.makeTempDir()];
    await copyFiles(before, after);
    this.#cutOff.push(ended(this.svc.relayer, before));
    this.dir = after;
    await this.#open();
    // Until then signed requests might be replays of what was burned just before the cut.
    this.clock.advance(3_000);
  }

  async #open(): Promise<void> {
    const relayer = await createRelayer({
      dataDir: this.dir,
      relayerKey: this.#relayerKey,
      config: {
        deduplicate: false,
        conflicts: "off",
        rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true },
        ...this.#options.config,
      },
      now: this.clock.now,
      backends: wrapped(
        { ...local(), embedder: this.#options.embedder ?? (() => memoryEmbedder()) },
        this.#options.wrap ?? {},
      ),
    });
    const { backends } = relayer;
    if (this.#account === undefined || this.#options.fresh) {
      const random = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
      this.#account = await newAccount(backends, this.#account?.owner ?? random, this.#key);
    }
    this.svc = new TestRelayer(relayer, backends, this.clock, this.#key, this.#account);
  }

  /** Stops and removes the directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#cutOff, ended(this.svc.relayer, this.dir)]);
  }
}

async function newAccount(
  { accounts }: Backends,
  owner: string,
  key: TestKey,
): Promise<Account> {
  const { accountId } = await accounts.admin!.create(owner);
  return await accounts.admin!.addKey(accountId, {
    publicKey: key.publicKey,
    label: "test",
    permissions: ["read", "write"],
  });
}
