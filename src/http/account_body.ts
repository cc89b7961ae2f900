import type { Account, DelegateKey } from "../interfaces/mod.ts";
import { timeText } from "../memory/record.ts";
import type { AnswerOf } from "../wire/routes.ts";

/** A delegate key as answers show it. */
export function keyBody(key: DelegateKey): AnswerOf<"GET /api/account">["key"] {
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
export function accountBody(account: Account): AnswerOf<"POST /accounts"> {
  return {
    account_id: account.accountId,
    owner: account.owner,
    active: account.active,
    keys: account.keys.map(keyBody),
  };
}
