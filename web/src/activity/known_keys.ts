import { keep, read } from "../storage.ts";

const NAME = "known-keys";

/** The keys of an account that this browser has shown to its user, or made. */
interface Known {
  readonly accountId: string;
  readonly keys: readonly string[];
}

/** Keys that this browser knows; `undefined` for an account that it sees for the first time. */
export async function knownKeys(accountId: string): Promise<readonly string[] | undefined> {
  const known = await read<Known>(NAME);
  return known?.accountId === accountId ? known.keys : undefined;
}

/** From now on just these keys are known. */
export async function keepKnownKeys(accountId: string, keys: readonly string[]): Promise<void> {
  await keep(NAME, { accountId, keys } satisfies Known);
}

/** Adds a key that this browser's user let in. */
export async function addKnownKey(accountId: string, key: string): Promise<void> {
  const known = await knownKeys(accountId);
  if (known !== undefined) await keepKnownKeys(accountId, [...known, key]);
}
