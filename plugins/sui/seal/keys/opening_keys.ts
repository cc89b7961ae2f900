import type { SealedItem } from "../../../../src/interfaces/mod.ts";
import { decodePortable, type PortableKey } from "../../../shared/records/portable.ts";
import { cannotOpen, type DataKey, keyIdOf } from "../../../shared/records/record.ts";
import type { Wrapped } from "../calls.ts";
import { chainDown } from "../failures.ts";
import { OpenSecrets } from "./open_secrets.ts";
import type { DataKeys, KeyScope } from "./sealing_keys.ts";
import type { Unwrapping, WantedChain, Wanting } from "./unwrapping.ts";
import {
  chainIdOf,
  dataKeyOf,
  decodeHead,
  decodeStep,
  keyIdOfStep,
  nextState,
  scopeHash,
  type WrappedStep,
} from "./wrapped_key.ts";

/** A data key, or why it cannot be had. */
type Found = { readonly dataKey: DataKey } | { readonly error: unknown };

/** A data key that is not open. */
interface Closed extends PortableKey {
  readonly step: WrappedStep;
  readonly chain: WantedChain;
  /** Whether the key store has it. */
  readonly saved: boolean;
}

/** Opens the data keys that records name, for callers who may read the account. */
export class OpeningKeys {
  readonly #data: DataKeys;
  readonly #unwrapping: Unwrapping;
  /** Secrets of chains. */
  readonly #chains: OpenSecrets;
  /** Changes of accounts and destroyed keys: secrets that were asked for before are not kept. */
  #changes = 0;
  /** Calls under way. */
  #calls = 0;
  /** Keys that were destroyed during these calls, which must not save them anew. */
  readonly #destroyed = new Set<string>();

  constructor(data: DataKeys, unwrapping: Unwrapping) {
    this.#data = data;
    this.#unwrapping = unwrapping;
    this.#chains = new OpenSecrets(data);
  }

  /**
   * The data keys of items by key id; the caller must erase their bytes. Items whose record names
   * no key are left out.
   */
  async of(
    items: readonly SealedItem[],
    scope: KeyScope,
    caller: Wanting,
  ): Promise<Map<string, Found>> {
    this.#calls++;
    try {
      const found = new Map<string, Found>();
      const closed = this.#closed(items, scope, found);
      await this.#checkGenerations(closed, caller, found);
      const wanted = new Map<string, WantedChain>();
      const held = new Map<string, Uint8Array>();
      for (const { chain } of closed.values()) {
        // A copy, because a change of the account may erase it during the wait below.
        const open = this.#chains.get(chain.chainId, scope.accountId)?.bytes.slice();
        if (open === undefined) wanted.set(chain.chainId, chain);
        else held.set(chain.chainId, open);
      }
      const changes = this.#changes;
      const secrets = wanted.size === 0
        ? undefined
        : await this.#unwrapping.secrets([...wanted.values()], caller);
      const keep = changes === this.#changes;
      const byChain = Map.groupBy(closed.values(), ({ chain }) => chain.chainId);
      for (const [chainId, keys] of byChain) {
        const answer = secrets?.get(chainId);
        const secret = answer?.status === "fulfilled" ? answer.value : held.get(chainId);
        if (secret === undefined) {
          const error = answer?.status === "rejected" ? answer.reason : cannotOpen();
          for (const { keyId } of keys) found.set(keyId, { error });
          continue;
        }
        if (keep && answer !== undefined) {
          this.#chains.keep(chainId, scope.accountId, secret.slice(), undefined);
        }
        this.#derive(secret, keys, scope, keep, found);
      }
      return found;
    } finally {
      if (--this.#calls === 0) this.#destroyed.clear();
    }
  }

  /**
   * Notes that an account changed, so that keys which were asked for before are not kept open, and
   * erases its chains' secrets; without an id, all.
   */
  changed(accountId?: string): void {
    this.#changes++;
    this.#chains.dropAccount(accountId);
  }

  /** Notes that a key was deleted for good, so that calls under way do not keep it. */
  destroyed(keyId: string): void {
    this.#changes++;
    if (this.#calls > 0) this.#destroyed.add(keyId);
  }

  /** Puts keys that are open, or cannot be opened, into `found`; returns the others. */
  #closed(
    items: readonly SealedItem[],
    scope: KeyScope,
    found: Map<string, Found>,
  ): Map<string, Closed> {
    const hash = scopeHash(scope);
    const closed = new Map<string, Closed>();
    for (const { record, wrappedKey } of items) {
      const keyId = nameOf(record);
      if (keyId === undefined || found.has(keyId) && !("error" in found.get(keyId)!)) continue;
      if (closed.has(keyId)) continue;
      const open = this.#data.open.get(keyId, scope.accountId);
      if (open !== undefined) {
        const { bytes, about: { generation } } = open;
        found.set(keyId, { dataKey: { keyId, generation, bytes: bytes.slice() } });
        continue;
      }
      try {
        const { key, saved } = this.#portable(keyId, scope, wrappedKey);
        const { generation, wrapped } = key;
        const identity = { accountId: scope.accountId, generation, scope: hash };
        if (keyIdOfStep(identity, wrapped) !== keyId) throw cannotOpen();
        const step = decodeStep(wrapped);
        const head: Wrapped = decodeHead(step.head);
        const chain = { chainId: chainIdOf(identity, step.head), identity, wrapped: head };
        closed.set(keyId, { ...key, step, chain, saved });
        found.delete(keyId);
      } catch (error) {
        found.set(keyId, { error });
      }
    }
    return closed;
  }

  /**
   * Removes the keys of generations that the account has not reached, because key servers would
   * refuse the whole request for one of them.
   */
  async #checkGenerations(
    closed: Map<string, Closed>,
    { state, newer }: Wanting,
    found: Map<string, Found>,
  ): Promise<void> {
    const highest = Math.max(0, ...closed.values().map(({ generation }) => generation));
    if (highest > state.generation) state = await newer();
    for (const { keyId, generation, saved } of closed.values()) {
      if (generation >= 1 && generation <= state.generation) continue;
      closed.delete(keyId);
      // The generation of a saved key was on chain when it was made, so the node is behind.
      found.set(keyId, { error: saved ? chainDown() : cannotOpen() });
    }
  }

  #portable(
    keyId: string,
    { accountId, owner, namespace }: KeyScope,
    carried: Uint8Array | undefined,
  ): { key: PortableKey; saved: boolean } {
    const known = this.#data.keys.get(keyId);
    if (known !== undefined) {
      const same = known.accountId === accountId && known.owner === owner &&
        known.namespace === namespace;
      if (!same) throw cannotOpen();
      return { key: known, saved: true };
    }
    const key = decodePortable(carried);
    if (key?.keyId !== keyId) throw cannotOpen();
    return { key, saved: false };
  }

  /** Derives the data keys of a chain; erases the secret. */
  #derive(
    secret: Uint8Array,
    keys: readonly Closed[],
    { accountId, owner, namespace }: KeyScope,
    keep: boolean,
    found: Map<string, Found>,
  ): void {
    let state = secret;
    let at = 0;
    for (const key of keys.toSorted((a, b) => a.step.step - b.step.step)) {
      for (; at < key.step.step; at++) {
        const next = nextState(state);
        state.fill(0);
        state = next;
      }
      const { keyId, generation, wrapped, saved } = key;
      const bytes = dataKeyOf(state, key.step.salt, keyId);
      // Restored records carry their wrapped key; once saved it is found without them.
      if (!saved && !this.#destroyed.has(keyId)) {
        const createdAt = this.#data.now();
        this.#data.keys.put({ accountId, owner, namespace, keyId, generation, wrapped, createdAt });
      }
      if (keep) this.#data.open.keep(keyId, accountId, bytes.slice(), { generation });
      found.set(keyId, { dataKey: { keyId, generation, bytes } });
    }
    state.fill(0);
  }
}

function nameOf(record: Uint8Array): string | undefined {
  try {
    return keyIdOf(record);
  } catch {
    return undefined;
  }
}
