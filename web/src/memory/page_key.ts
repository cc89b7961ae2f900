import type { Signer } from "../../../src/client/signer.ts";
import { keyProof } from "../owner/key_proof.ts";
import type { Owner } from "../owner/owner.ts";
import { drop, keep, read } from "../storage.ts";
import { makeKey, sign } from "../wallet/ed25519.ts";
import type { Wallet } from "../wallet/wallet.ts";

/** How long a key of the page lasts, and how early it is replaced, in milliseconds. */
const LIFE_MS = 24 * 3_600_000;
const EARLY_MS = 10 * 60_000;
const NAME = "page-key";

/** Label of the page's keys. */
export const PAGE_KEY_LABEL = "dashboard";

/** The page's own delegate key; its private half cannot be read out of the browser. */
export interface PageKey {
  readonly privateKey: CryptoKey;
  /** 64 hex characters. */
  readonly publicKey: string;
  /** Account that lists it. */
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Runs work on the kept key while no other tab does. */
export async function alone<T>(work: () => Promise<T>): Promise<T> {
  return await navigator.locks.request("svc-page-key", work) as T;
}

/** The kept key, if it is the account's and lasts a while. */
export async function readPageKey(
  accountId: string,
): Promise<PageKey | undefined> {
  const key = await read<PageKey>(NAME);
  if (key === undefined || key.accountId !== accountId) return undefined;
  return key.expiresAt - EARLY_MS > Date.now() ? key : undefined;
}

/** Makes a key, has the wallet add it to the account, and keeps it; tells the account's state. */
export async function makePageKey(
  owner: Owner,
  wallet: Wallet,
  accountId: string,
): Promise<{ readonly key: PageKey; readonly active: boolean }> {
  const old = await read<PageKey>(NAME);
  const { privateKey, publicKey } = await makeKey(false);
  const expiresAt = Date.now() + LIFE_MS;
  const { active } = await owner.addKey(wallet, accountId, {
    public_key: publicKey,
    label: PAGE_KEY_LABEL,
    permissions: ["read", "write"],
    proof: await keyProof(privateKey, accountId),
    expires_at: new Date(expiresAt).toISOString(),
  });
  const key = { privateKey, publicKey, accountId, expiresAt };
  await keep(NAME, key);
  // Wallet programs ask their user each time, and an expired key opens nothing: they leave it.
  if (
    old !== undefined && old.accountId === accountId &&
    wallet.kind === "browser"
  ) {
    await owner.removeKey(wallet, accountId, old.publicKey).catch(() => undefined);
  }
  return { key, active };
}

/** Forgets the kept key, if it is this one. */
export async function dropPageKey(publicKey: string): Promise<void> {
  await alone(async () => {
    const key = await read<PageKey>(NAME);
    if (key?.publicKey === publicKey) await drop(NAME);
  });
}

/** Signs requests with the page's key. */
export function signerOf({ privateKey, publicKey }: PageKey): Signer {
  return { publicKey, sign: (message) => sign(privateKey, message) };
}
