import { cp } from "node:fs/promises";
import { localAccounts } from "../plugins/local/accounts.ts";
import { CoreDb } from "../src/storage/core_db.ts";
import type { Account } from "../src/interfaces/mod.ts";
import { SigningKey } from "./signing_key.ts";

/** Limits so high that they count, but never refuse. */
const HIGH_LIMITS = {
  SVC_RATE_LIMIT_KEY_PER_MINUTE: "1000000000",
  SVC_RATE_LIMIT_ACCOUNT_PER_HOUR: "1000000000",
  SVC_MAX_PENDING_JOBS: "1000000",
};

/** A folder of its own for one relayer, with its key and its accounts; removed when disposed of. */
export class DataFolder implements AsyncDisposable {
  private constructor(
    /** Holds the data directory and the relayer key. */
    readonly path: string,
    /** The relayer key. */
    readonly relayerKey: Uint8Array,
    /** Keys with every permission, each of an account of its own. */
    readonly keys: readonly SigningKey[],
    /** Accounts of the keys, in their order. */
    readonly accounts: readonly Account[],
  ) {}

  /** Makes the folder with so many accounts. */
  static async make(accounts = 1): Promise<DataFolder> {
    const path = await Deno.makeTempDir({ prefix: "svc_bench_" });
    const dataDir = `${path}/data`;
    await Deno.mkdir(dataDir, { mode: 0o700 });
    const relayerKey = crypto.getRandomValues(new Uint8Array(32));
    await Deno.writeTextFile(`${path}/relayer.key`, `${relayerKey.toHex()}\n`, { mode: 0o600 });
    const keys: SigningKey[] = [];
    const made: Account[] = [];
    new CoreDb(`${dataDir}/core.db`)[Symbol.dispose]();
    await using registry = localAccounts({ dataDir });
    for (let i = 0; i < accounts; i++) {
      const owner = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
      const { accountId } = await registry.admin.create(owner);
      const key = new SigningKey(accountId);
      const { publicKey } = key;
      const permissions = ["read", "write"] as const;
      made.push(
        await registry.admin.addKey(accountId, { publicKey, label: "bench", permissions }),
      );
      keys.push(key);
    }
    return new DataFolder(path, relayerKey, keys, made);
  }

  /** Where the relayer keeps its data. */
  get dataDir(): string {
    return `${this.path}/data`;
  }

  /** The first key. */
  get key(): SigningKey {
    return this.keys[0]!;
  }

  /** The first account. */
  get account(): Account {
    return this.accounts[0]!;
  }

  /** Settings of a relayer with the embedded backends on this folder. */
  env(port: number): Record<string, string> {
    return {
      ...HIGH_LIMITS,
      SVC_DATA_DIR: this.dataDir,
      SVC_RELAYER_KEY_FILE: `${this.path}/relayer.key`,
      SVC_PORT: String(port),
      SVC_WEB_PORT: "0",
      SVC_LOG_LEVEL: "error",
      SIDECAR_URL: "http://127.0.0.1:0",
      HOME: this.path,
    };
  }

  /** Another folder with the same content, for a relayer of its own; none may run on this one. */
  async copy(): Promise<DataFolder> {
    const path = await Deno.makeTempDir({ prefix: "svc_bench_" });
    await cp(this.path, path, { recursive: true });
    return new DataFolder(path, this.relayerKey, this.keys, this.accounts);
  }

  /** Removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}
