import { makeDelegateKey } from "../client/delegate_key.ts";
import { SvcClient } from "../client/client.ts";
import { type ErrorCode, SvcError } from "../errors.ts";
import { PERMISSIONS } from "../wire/keys.ts";
import type { AccountRegistry } from "../interfaces/mod.ts";

/** Longest name in bytes of UTF-8: it is the label of the account's key, too. */
const NAME_BYTES = 64;

/**
 * How far ahead calls are dated: after an unclean stop the relayer refuses what is dated before its
 * third second, since it may have been answered already. No call of the process leaves it, so that
 * none can come a second time.
 */
const AHEAD_MS = 3_000;

export interface AccountDoor {
  readonly accounts: AccountRegistry;
  /** 32 secret bytes that are always the same for a name. */
  readonly seedOf: (name: string) => Uint8Array;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A lone surrogate would become another name's bytes. */
function checkName(name: string): void {
  const bytes = typeof name === "string" ? new TextEncoder().encode(name).length : 0;
  if (bytes >= 1 && bytes <= NAME_BYTES && name.isWellFormed() && !/\p{Cc}/u.test(name)) return;
  throw new SvcError(
    "invalid_parameter",
    `An account's name must have 1 to ${NAME_BYTES} bytes of UTF-8 without control characters`,
    { field: "name" },
  );
}

/** Passes over an error of this code: another call did the same a moment before. */
const unless = (code: ErrorCode) => (error: unknown) => {
  if (SvcError.from(error).code !== code) throw error;
};

/**
 * Opens the account of a name; creates it when there is none.
 *
 * @throws {SvcError} `invalid_parameter` for a name that is none, and where accounts are managed
 * elsewhere.
 */
export async function openAccount(
  name: string,
  { accounts, seedOf, fetch, now }: AccountDoor,
): Promise<SvcClient> {
  checkName(name);
  const { admin } = accounts;
  if (admin === undefined) {
    const text = "Accounts are managed outside of this relayer: it opens none by name";
    throw new SvcError("invalid_parameter", text);
  }
  const { address, privateKey, publicKey } = await makeDelegateKey(seedOf(name));
  if (await admin.ofOwner(address) === undefined) {
    await admin.create(address).catch(unless("account_exists"));
  }
  const { accountId, keys } = (await admin.ofOwner(address))!;
  // An account that lists other keys has lost this one on purpose.
  if (keys.length === 0) {
    const key = { publicKey, label: name, permissions: PERMISSIONS };
    await admin.addKey(accountId, key).catch(unless("key_exists"));
  }
  return new SvcClient({
    // No request leaves the process.
    baseUrl: "http://localhost",
    privateKey,
    accountId,
    form: "nonce",
    now: () => now() + AHEAD_MS,
    fetch: (url, init) => fetch(new Request(url, init)),
  });
}
