import { createHmac, randomBytes } from "node:crypto";
import { BoundedMap } from "../../../src/bounded_map.ts";
import type { DecryptCredential, OpenContext, Scope } from "../../../src/interfaces/mod.ts";
import { isAmong } from "../../../src/wire/keys.ts";
import type { AccountStates } from "./account_states.ts";
import { since } from "./age.ts";
import type { AccountState, KeyWork, Proof, Reader } from "./calls.ts";
import { credentialRefused } from "./failures.ts";

/** Time after which a credential is proved again. */
const PROOF_MS = 5 * 60_000;
const MAX_PROOFS = 1000;

/** A caller who may read an account now. */
export interface Authorised {
  /** Names the credential within this process, without revealing it. */
  readonly fingerprint: string;
  readonly state: AccountState;
  /** What the caller may read, where that is not every scope of the account. */
  readonly named?: Scope;
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
 * as the owner or as a delegate with READ, unexpired, of an active account, and not bound to other
 * namespaces. Key servers apply the same rules, those of `seal_approve` and
 * `seal_approve_namespace`, to keys that are not open.
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
   * Returns when the caller may read a scope of the account.
   *
   * @throws {SvcError} `decrypt_credential_invalid`; `chain_unavailable`; `key_service_unavailable`.
   */
  async authorise(
    credential: DecryptCredential,
    { accountId, owner, namespace }: OpenContext,
  ): Promise<Authorised> {
    const fingerprint = this.#fingerprint(credential);
    const { address, expiresAt = Infinity } = await this.#prove(fingerprint, credential);
    if (expiresAt <= this.#now()) throw credentialRefused("expired");
    let state = await this.#accounts.get(accountId);
    // A reader may have been added since that was read.
    let reader = this.#reader(state, address, namespace);
    if (reader === undefined) {
      state = await this.#accounts.get(accountId, true);
      reader = this.#reader(state, address, namespace);
    }
    if (reader === undefined) throw credentialRefused("no reader of the namespace");
    return {
      fingerprint,
      state,
      ...(reader.namespaces === undefined ? {} : { named: { owner, namespace } }),
      newer: () => this.#accounts.get(accountId, true),
    };
  }

  clear(): void {
    this.#proved.clear();
  }

  /** Whom an address reads a namespace as; the owner comes first. */
  #reader(
    { active, readers }: AccountState,
    address: string,
    namespace: string,
  ): Reader | undefined {
    const now = this.#now();
    if (!active) return undefined;
    return readers.find(({ address: listed, expiresAt = Infinity, namespaces }) =>
      listed === address && expiresAt > now &&
      (namespaces === undefined || isAmong(namespaces, namespace))
    );
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
