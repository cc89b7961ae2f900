import type { Account, DecryptCredential, Scope } from "../interfaces/mod.ts";

/** Who asks. */
export interface Caller {
  /** The account the signature resolved to. */
  readonly account: Account;
  /** What opens records, where the cipher needs it. */
  readonly credential?: DecryptCredential;
  /** Aborted when the caller is gone. */
  readonly signal?: AbortSignal;
}

/** The caller's scope of that name. */
export function scopeOf(caller: Caller, namespace: string): Scope {
  return { owner: caller.account.owner, namespace };
}
