import type { AccountRegistry, Cipher } from "../interfaces/mod.ts";

/**
 * Tells the cipher which accounts changed, so that it drops what it keeps open for them. Dispose
 * the answer to stop.
 */
export function forwardAccountChanges(
  { accounts, cipher }: { readonly accounts: AccountRegistry; readonly cipher: Cipher },
): Disposable {
  const watch = cipher.accountChanged === undefined
    ? undefined
    : accounts.watch?.((accountId) => cipher.accountChanged?.(accountId));
  return { [Symbol.dispose]: () => watch?.[Symbol.dispose]() };
}
