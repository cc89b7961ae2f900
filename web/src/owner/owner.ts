import type { Wallet } from "../wallet/wallet.ts";
import type { Account, NewKey } from "./account.ts";

/** Changes to an account, each made by the owner's wallet; every one answers what the account is. */
export interface Owner {
  /** The wallet's account, made when there is none. */
  open(wallet: Wallet): Promise<Account>;
  /** Adds a key. */
  addKey(wallet: Wallet, accountId: string, key: NewKey): Promise<Account>;
  /** Removes a key. */
  removeKey(wallet: Wallet, accountId: string, publicKey: string): Promise<Account>;
  /** Removes every key at once. */
  removeAllKeys(wallet: Wallet, accountId: string): Promise<Account>;
  /** Switches every key of the account off, or on again. */
  setActive(wallet: Wallet, accountId: string, active: boolean): Promise<Account>;
}
