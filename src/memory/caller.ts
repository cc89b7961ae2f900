import { SvcError } from "../errors.ts";
import { isAmong } from "../interfaces/account_registry.ts";
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

/** Whether a namespace is there for a caller: a key may be bound to some. */
export function isOpenTo(
  { key }: { readonly key?: DelegateKey | undefined },
  namespace: string,
): boolean {
  return key?.namespaces === undefined || isAmong(key.namespaces, namespace);
}

/**
 * Label of the key that wrote a memory of a namespace, as the account has it now. A key that is bound
 * to namespaces is told of no key that is for others.
 *
 * @returns `undefined` where the account does not list the key, or the caller is not told.
 */
export function labelOf(
  { account, key: own }: Pick<Caller, "account" | "key">,
  publicKey: string | undefined,
  namespace: string,
): string | undefined {
  const writer = account.keys.find((key) => key.publicKey === publicKey);
  const isTold = own?.namespaces === undefined || isOpenTo({ key: writer }, namespace);
  return isTold ? writer?.label : undefined;
}

/** Begins what no namespace is called: a name has no control character. */
const NOWHERE = "\u0000";

/**
 * Where a namespace is looked up. What is not there for the caller is nowhere: a scope that nobody
 * can write to, so that every answer is that of an empty namespace.
 */
export function scopeOf(caller: Caller, namespace: string): Scope {
  const { owner } = caller.account;
  return { owner, namespace: isOpenTo(caller, namespace) ? namespace : NOWHERE + namespace };
}

/**
 * Lets a caller change what is in a namespace. The answer depends on its name alone: whether there
 * is such a namespace is nothing that a key of others is told.
 *
 * @throws {SvcError} `permission_denied`.
 */
export function checkOpenTo(caller: Pick<Caller, "key">, namespace: string): void {
  if (isOpenTo(caller, namespace)) return;
  throw new SvcError("permission_denied", "The key is for other namespaces");
}
