import type { Account, DecryptCredential, DelegateKey, Scope } from "../interfaces/mod.ts";

export interface Caller {
  /** The account the signature resolved to. */
  readonly account: Account;
  /** The key that signed; absent where the relayer acts by itself. */
  readonly key?: DelegateKey;
  /** What opens records, where the cipher needs it. */
  readonly credential?: DecryptCredential;
  readonly signal?: AbortSignal;
}

/** Whether an answer may depend on what is stored. */
export function mayRead({ key }: Pick<Caller, "key">): boolean {
  return key === undefined || key.permissions.includes("read");
}

export function scopeOf(caller: Caller, namespace: string): Scope {
  return { owner: caller.account.owner, namespace };
}
