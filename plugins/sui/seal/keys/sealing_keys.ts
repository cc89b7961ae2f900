import { randomBytes } from "node:crypto";
import { SvcError } from "../../../../src/errors.ts";
import type { SealContext } from "../../../../src/interfaces/mod.ts";
import type { KeyStore } from "../../../../src/interfaces/plugin.ts";
import { encodePortable } from "../../../shared/records/portable.ts";
import type { DataKey } from "../../../shared/records/record.ts";
import type { KeyIdentity, KeyWork } from "../calls.ts";
import type { OpenSecrets } from "./open_secrets.ts";
import {
  dataKeyOf,
  encodeHead,
  encodeStep,
  keyIdOfStep,
  MAX_STEPS,
  newSalt,
  nextState,
  scopeHash,
} from "./wrapped_key.ts";

/** The account and the scope that data keys belong to. */
export type KeyScope = Omit<SealContext, "memoryId">;

/** A data key to seal with, and what travels with the blobs. */
export interface SealingKey {
  /** A copy, which the caller must erase. */
  readonly dataKey: DataKey;
  /** The wrapped key in the form of `encodePortable`. */
  readonly portable: Uint8Array;
}

/** What is kept with an open data key: the generation of the account's keys that it belongs to. */
export interface OpenKey {
  readonly generation: number;
}

/** Where data keys are: wrapped in `keys`, and for a time open in `open`. */
export interface DataKeys {
  readonly keys: KeyStore;
  readonly open: OpenSecrets<OpenKey>;
  readonly now: () => number;
}

interface Chain {
  readonly identity: KeyIdentity;
  readonly head: Uint8Array;
  /** State from which the next data key is derived; earlier ones are erased. */
  state: Uint8Array;
  step: number;
  current: { readonly keyId: string; readonly portable: Uint8Array } | undefined;
}

/** Most chains kept for sealing; the least recently used is dropped first. */
const MAX_CHAINS = 10_000;
/** Keys carry the generation in 32 bits. */
const MAX_GENERATION = 2 ** 32 - 1;

/**
 * Data keys for sealing, which needs no credential. The first data key of a chain costs a wrapping by
 * the key servers' public keys, each later one a hash. A data key is erased after 5 minutes; what
 * remains of its chain cannot open anything that was sealed before.
 */
export class SealingKeys {
  readonly #work: Pick<KeyWork, "wrap">;
  readonly #data: DataKeys;
  /** By account, generation and scope; least recently used first. */
  readonly #chains = new Map<string, Promise<Chain>>();

  constructor(work: Pick<KeyWork, "wrap">, data: DataKeys) {
    this.#work = work;
    this.#data = data;
  }

  /**
   * A data key of the scope in this generation, saved before it is answered.
   *
   * @returns `undefined` when the account changed meanwhile and may have another generation.
   * @throws {SvcError} `chain_unavailable`, `key_service_unavailable` when no chain can be begun.
   */
  async current(scope: KeyScope, generation: number): Promise<SealingKey | undefined> {
    if (!(generation >= 1 && generation <= MAX_GENERATION)) {
      throw new SvcError("chain_unavailable", "The account's generation is out of range");
    }
    const identity = { accountId: scope.accountId, generation, scope: scopeHash(scope) };
    const name = `${scope.accountId} ${generation} ${identity.scope.toHex()}`;
    for (;;) {
      const pending = this.#chain(name, identity);
      const chain = await pending;
      // A change of the account dropped it during the wait.
      if (this.#chains.get(name) !== pending) return undefined;
      const found = this.#ofChain(chain, scope);
      if (found !== undefined) return found;
      this.#drop(name);
    }
  }

  /** Forgets the chains of an account; without an id, all. */
  dropAccount(accountId?: string): void {
    for (const name of this.#chains.keys()) {
      if (accountId === undefined || name.startsWith(`${accountId} `)) this.#drop(name);
    }
  }

  #chain(name: string, identity: KeyIdentity): Promise<Chain> {
    const known = this.#chains.get(name);
    this.#chains.delete(name);
    const chain = known ?? this.#begin(identity);
    this.#chains.set(name, chain);
    const [oldest] = this.#chains.keys();
    if (this.#chains.size > MAX_CHAINS && oldest !== undefined) this.#drop(oldest);
    if (known === undefined) {
      chain.catch(() => {
        if (this.#chains.get(name) === chain) this.#chains.delete(name);
      });
    }
    return chain;
  }

  async #begin(identity: KeyIdentity): Promise<Chain> {
    const state = new Uint8Array(randomBytes(32));
    const secret = state.slice();
    const wrapped = await this.#work.wrap({ ...identity, secret }).finally(() => secret.fill(0));
    return { identity, head: encodeHead(wrapped), state, step: 0, current: undefined };
  }

  /** The chain's open data key, else its next one; `undefined` at its end. */
  #ofChain(chain: Chain, scope: KeyScope): SealingKey | undefined {
    const { identity, current, head } = chain;
    const { accountId, generation } = identity;
    const open = current && this.#data.open.get(current.keyId, accountId);
    if (current !== undefined && open !== undefined) {
      const dataKey = { keyId: current.keyId, generation, bytes: open.bytes.slice() };
      return { dataKey, portable: current.portable };
    }
    if (chain.step >= MAX_STEPS) return undefined;
    const salt = newSalt();
    const wrapped = encodeStep({ step: chain.step, salt, head });
    const keyId = keyIdOfStep(identity, wrapped);
    const { owner, namespace } = scope;
    const createdAt = this.#data.now();
    this.#data.keys.put({ accountId, owner, namespace, keyId, generation, wrapped, createdAt });
    const bytes = dataKeyOf(chain.state, salt, keyId);
    const next = nextState(chain.state);
    chain.state.fill(0);
    chain.state = next;
    chain.step++;
    chain.current = { keyId, portable: encodePortable({ keyId, generation, wrapped }) };
    this.#data.open.keep(keyId, accountId, bytes.slice(), { generation });
    return { dataKey: { keyId, generation, bytes }, portable: chain.current.portable };
  }

  #drop(name: string): void {
    void this.#chains.get(name)?.then((chain) => {
      chain.state.fill(0);
      chain.current = undefined;
      chain.step = MAX_STEPS;
    }, () => {});
    this.#chains.delete(name);
  }
}
