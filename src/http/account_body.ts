import type { Account, DelegateKey } from "../interfaces/mod.ts";
import { timeText } from "../memory/record.ts";

/** A delegate key as answers show it. */
export function keyBody(key: DelegateKey): Record<string, unknown> {
  return {
    public_key: key.publicKey,
    address: key.address,
    label: key.label,
    permissions: key.permissions,
    created_at: timeText(key.createdAt),
    ...(key.expiresAt === undefined ? {} : { expires_at: timeText(key.expiresAt) }),
  };
}

/** An account as the owner routes answer it. */
export function accountBody(account: Account): Record<string, unknown> {
  return {
    account_id: account.accountId,
    owner: account.owner,
    active: account.active,
    keys: account.keys.map(keyBody),
  };
}
