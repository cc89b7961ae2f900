import { createHmac, randomBytes } from "node:crypto";
import { BoundedMap } from "../../../src/bounded_map.ts";
import type { DecryptCredential } from "../../../src/interfaces/mod.ts";
import type { AccountStates } from "./account_states.ts";
import { since } from "./age.ts";
import type { AccountState, KeyWork, Proof } from "./calls.ts";
import { credentialRefused } from "./failures.ts";

/** Time after which a credential is proved again. */
const PROOF_MS = 5 * 60_000;
const MAX_PROOFS = 1000;

/** A caller who may read an account now. */
export interface Authorised {
  /** Names the credential within this process, without revealing it. */
  readonly fingerprint: string;
  readonly state: AccountState;
  /** Reads the account again, unless that was done within the last second. */
  newer(): Promise<AccountState>;
}

interface Proved {
  readonly proof: Promise<Proof>;
  readonly at: number;
}

/**
 * Decides who may read an account whose keys are open already. The credential must be valid by
 * itself (a session signed by its address, or a private key), and the chain must list its address
 * as the owner or as a delegate with READ, unexpired, of an active account. Key servers apply the
 * same rules, those of `seal_approve`, to keys that are not open.
 */
export class Readers {
  readonly #work: Pick<KeyWork, "prove">;
  readonly #accounts: AccountStates;
  readonly #now: () => number;
  readonly #secret = randomBytes(32);
  /** Least recently used first. */
  readonly #proved = new BoundedMap<string, Proved>(MAX_PROOFS);

  constructor(work: Pick<KeyWork, "prove">, accounts: AccountStates, now: () => number) {
    this.#work = work;
    this.#accounts = accounts;
    this.#now = now;
  }

  /**
   * Returns when the caller may read the account.
   *
   * @throws {SvcError} `decrypt_credential_invalid`; `chain_unavailable`; `key_service_unavailable`.
   */
  async authorise(credential: DecryptCredential, accountId: string): Promise<Authorised> {
    const fingerprint = this.#fingerprint(credential);
    const { address, expiresAt = Infinity } = await this.#prove(fingerprint, credential);
    if (expiresAt <= this.#now()) throw credentialRefused("expired");
    let state = await this.#accounts.get(accountId);
    // A reader may have been added since that was read.
    if (!this.#mayRead(state, address)) state = await this.#accounts.get(accountId, true);
    if (!this.#mayRead(state, address)) throw credentialRefused("no reader of the account");
    return { fingerprint, state, newer: () => this.#accounts.get(accountId, true) };
  }

  clear(): void {
    this.#proved.clear();
  }

  #mayRead({ active, readers }: AccountState, address: string): boolean {
    const now = this.#now();
    return active &&
      readers.some((reader) => reader.address === address && (reader.expiresAt ?? Infinity) > now);
  }

  #prove(fingerprint: string, credential: DecryptCredential): Promise<Proof> {
    const known = this.#proved.get(fingerprint);
    const proved = known !== undefined && since(known.at, this.#now()) < PROOF_MS
      ? known
      : { proof: this.#work.prove(credential), at: this.#now() };
    this.#proved.set(fingerprint, proved);
    proved.proof.catch(() => {
      if (this.#proved.get(fingerprint) === proved) this.#proved.delete(fingerprint);
    });
    return proved.proof;
  }

  /** A hash under a key of this process, so that the credential itself is not kept. */
  #fingerprint({ session, delegateKey }: DecryptCredential): string {
    const [kind, value] = session === undefined ? ["key", delegateKey] : ["session", session];
    return createHmac("sha256", this.#secret).update(`${kind} ${value}`).digest("hex");
  }
}
