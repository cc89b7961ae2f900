import { pause } from "../../src/deadline.ts";
import {
  type Credentials,
  SvcClient,
  type SvcClientOptions,
  SvcConnectionError,
  SvcError,
} from "../../src/client/mod.ts";

/** How often a key is tried that the relayer does not know yet. */
const ATTEMPTS = 4;
/** Wait between two attempts, in milliseconds. */
const PAUSE_MS = 1000;
/** Longest wait for one answer, in milliseconds. */
const ANSWER_MS = 5000;

export type KeyCheckOptions = Pick<SvcClientOptions, "fetch" | "sleep">;

/**
 * Asks the relayer about a new key. A key that was just added to a chain may need a moment to be
 * seen: a refusal is believed after some seconds only.
 *
 * @returns what is wrong, for people; `undefined` when all is well.
 */
export async function checkKey(
  saved: Credentials,
  { fetch, sleep = pause }: KeyCheckOptions,
): Promise<string | undefined> {
  const client = new SvcClient({
    baseUrl: saved.relayerUrl,
    privateKey: saved.delegatePrivateKey,
    accountId: saved.accountId,
    timeoutMs: ANSWER_MS,
    retry: { attempts: 1 },
    fetch,
  });
  for (let attempt = 1;; attempt++) {
    try {
      const { account_id, active } = await client.account();
      if (account_id.toLowerCase() !== saved.accountId) {
        return "the relayer says that the key belongs to another account";
      }
      return active ? undefined : "the account is deactivated";
    } catch (error) {
      const relayer = `the relayer at ${saved.relayerUrl}`;
      if (error instanceof SvcConnectionError) return `${relayer} ${error.reason}`;
      if (!(error instanceof SvcError)) return `${saved.relayerUrl} is not a relayer`;
      if (error.status !== 401) return `${relayer} refuses the key (code: ${error.code})`;
      if (attempt === ATTEMPTS) {
        return `${relayer} does not accept the key (code: ${error.code})`;
      }
      await sleep(PAUSE_MS);
    }
  }
}
