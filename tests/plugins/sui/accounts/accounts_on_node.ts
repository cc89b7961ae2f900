import { memoryAccounts } from "../../../../plugins/memory/accounts.ts";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { SuiAccounts } from "../../../../plugins/sui/accounts/accounts.ts";
import type {
  Account,
  AccountAdmin,
  AccountListener,
  AccountRegistry,
  CallOptions,
} from "../../../../src/interfaces/mod.ts";
import { CONTRACT, FakeNode } from "./fake_node.ts";

/**
 * The plugin on a node whose chain follows the rules of a registry in memory, so that it can be
 * held against everything a registry promises.
 */
export class AccountsOnNode implements AccountRegistry {
  readonly #rules = memoryAccounts();
  readonly #node = new FakeNode();
  readonly #accounts: SuiAccounts;
  readonly admin: AccountAdmin;

  constructor() {
    const client = openSui({ network: "localnet", url: this.#node.url });
    this.#accounts = new SuiAccounts({ client, ...CONTRACT });
    const rules = this.#rules.admin!;
    this.admin = {
      create: (owner) => this.#change(rules.create(owner)),
      list: () => rules.list(),
      ofOwner: (owner) => this.#accounts.ofOwner(owner),
      addKey: (accountId, key) => this.#change(rules.addKey(accountId, key)),
      removeKey: (accountId, key) => this.#change(rules.removeKey(accountId, key)),
      setActive: (accountId, active) => this.#change(rules.setActive(accountId, active)),
    };
  }

  resolve(publicKey: string, options?: CallOptions): Promise<Account | undefined> {
    return this.#accounts.resolve(publicKey, options);
  }

  get(accountId: string, options?: CallOptions): Promise<Account | undefined> {
    return this.#accounts.get(accountId, options);
  }

  watch(listener: AccountListener): Disposable {
    return this.#accounts.watch(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#accounts[Symbol.asyncDispose]();
    await this.#node[Symbol.asyncDispose]();
  }

  /** Puts what a change made of the accounts on chain, and answers it as it is read from there. */
  async #change(change: Promise<Account>): Promise<Account> {
    const { accountId } = await change;
    this.#node.objects.clear();
    for (const { accountId: id, keys, ...account } of await this.#rules.admin!.list()) {
      this.#node.put({
        ...account,
        id,
        keys: keys.map(({ expiresAt, ...key }) => ({ ...key, expiresAt: BigInt(expiresAt ?? 0) })),
      });
    }
    this.#node.emit(accountId);
    return (await this.#accounts.get(accountId))!;
  }
}
