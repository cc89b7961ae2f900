import type { Account, DecryptCredential, Scope } from "../interfaces/mod.ts";

export interface Caller {
  /** The account the signature resolved to. */
  readonly account: Account;
  /** What opens records, where the cipher needs it. */
  readonly credential?: DecryptCredential;
  readonly signal?: AbortSignal;
}

export function scopeOf(caller: Caller, namespace: string): Scope {
  return { owner: caller.account.owner, namespace };
}
