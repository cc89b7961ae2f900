import type { Account, DelegateKey } from "../../interfaces/mod.ts";

/** One key of an account, the way it is shown after a change. */
export interface AccountRow {
  readonly account: Account;
  readonly publicKey: string;
  readonly key?: DelegateKey | undefined;
  readonly packageId: string;
  /** Shown once, when it was made here and saved nowhere. */
  readonly privateKey?: string | undefined;
  readonly savedTo?: string | undefined;
}

const time = (ms: number) => new Date(ms).toISOString();

function keyJson(key: DelegateKey): Record<string, unknown> {
  return {
    public_key: key.publicKey,
    address: key.address,
    label: key.label,
    permissions: key.permissions,
    created_at: time(key.createdAt),
    ...(key.expiresAt === undefined ? {} : { expires_at: time(key.expiresAt) }),
  };
}

export function printKey(title: string, row: AccountRow, json: boolean): string {
  const { account, key, packageId, privateKey, publicKey, savedTo } = row;
  if (json) {
    return JSON.stringify({
      account_id: account.accountId,
      owner: account.owner,
      package_id: packageId,
      public_key: publicKey,
      ...(key === undefined ? {} : keyJson(key)),
      ...(privateKey === undefined ? {} : { private_key: privateKey }),
      ...(savedTo === undefined ? {} : { saved_to: savedTo }),
    }) + "\n";
  }
  const lines = [
    title,
    `  account      ${account.accountId}`,
    `  owner        ${account.owner}`,
    `  package      ${packageId}`,
    `  public key   ${publicKey}`,
  ];
  if (key !== undefined) lines.push(`  permissions  ${key.permissions.join(", ")}`);
  if (key?.expiresAt !== undefined) lines.push(`  expires      ${time(key.expiresAt)}`);
  if (privateKey !== undefined) {
    lines.push(`  private key  ${privateKey}`, "", "Keep the private key: it is shown only now.");
  }
  if (savedTo !== undefined) lines.push("", `Signed in: the key is saved in ${savedTo}`);
  return lines.join("\n") + "\n";
}

export function printAccounts(
  accounts: readonly Account[],
  packageId: string,
  json: boolean,
): string {
  if (json) {
    return JSON.stringify({
      package_id: packageId,
      accounts: accounts.map(({ accountId, owner, active, keys }) => ({
        account_id: accountId,
        owner,
        active,
        keys: keys.map(keyJson),
      })),
    }) + "\n";
  }
  if (accounts.length === 0) return "There is no account yet: account create --save\n";
  return accounts.map(({ accountId, owner, active, keys }) =>
    [
      `${accountId}${active ? "" : " (deactivated)"}`,
      `  owner ${owner}`,
      ...keys.map((key) => {
        const end = key.expiresAt === undefined ? "" : `, until ${time(key.expiresAt)}`;
        return `  key   ${key.publicKey} ${key.label} (${key.permissions.join(", ")}${end})`;
      }),
    ].join("\n") + "\n"
  ).join("");
}
