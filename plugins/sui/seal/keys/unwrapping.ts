import { createHash } from "node:crypto";
import type { DecryptCredential } from "../../../../src/interfaces/mod.ts";
import type { KeyServerBreakers } from "../key_server_breakers.ts";
import type { KeyIdentity, KeyWork, ServerSet, Wrapped } from "../calls.ts";
import type { Authorised } from "../readers.ts";

/** A chain whose secret is wanted. */
export interface WantedChain {
  /** See `chainIdOf`. */
  readonly chainId: string;
  readonly identity: KeyIdentity;
  /** The secret, wrapped. */
  readonly wrapped: Wrapped;
}

/** A caller who wants secrets of chains. */
export interface Wanting extends Authorised {
  readonly credential: DecryptCredential;
}

/** The secret of a chain; `undefined` when the chain is damaged. */
type Secret = Uint8Array | undefined;

/**
 * Asks key servers for secrets of chains. Those that were wrapped for the same servers go into one
 * request; those that the same caller already waits for are not asked for again.
 */
export class Unwrapping {
  readonly #work: Pick<KeyWork, "unwrap">;
  readonly #breakers: KeyServerBreakers;
  readonly #running = new Map<string, Promise<Secret>>();

  constructor(work: Pick<KeyWork, "unwrap">, breakers: KeyServerBreakers) {
    this.#work = work;
    this.#breakers = breakers;
  }

  /**
   * Resolves with the result for each chain by its id, once all are there; never rejects. The caller
   * must erase the bytes.
   */
  async secrets(
    chains: readonly WantedChain[],
    caller: Wanting,
  ): Promise<ReadonlyMap<string, PromiseSettledResult<Secret>>> {
    const name = (chainId: string) => `${caller.fingerprint} ${chainId}`;
    const fresh = Map.groupBy(
      chains.filter(({ chainId }) => !this.#running.has(name(chainId))),
      ({ wrapped, identity }) => `${identity.accountId} ${setName(wrapped.set)}`,
    );
    for (const part of fresh.values()) {
      const answer = this.#ask(part, caller);
      part.forEach(({ chainId }, index) => {
        const secret = answer.then((secrets) => secrets[index]);
        this.#running.set(name(chainId), secret);
        // After all who wait have made their copies.
        secret.catch(() => undefined).then((bytes) => {
          this.#running.delete(name(chainId));
          bytes?.fill(0);
        });
      });
    }
    const answers = chains.map(({ chainId }) =>
      this.#running.get(name(chainId))!.then((bytes) => bytes?.slice())
    );
    const settled = await Promise.allSettled(answers);
    return new Map(chains.map(({ chainId }, index) => [chainId, settled[index]!]));
  }

  async #ask(chains: readonly WantedChain[], caller: Wanting): Promise<Secret[]> {
    const { set } = chains[0]!.wrapped;
    const { accountId } = chains[0]!.identity;
    return await this.#breakers.run(setName(set), () =>
      this.#work.unwrap({
        accountId,
        initialSharedVersion: caller.state.initialSharedVersion,
        credential: caller.credential,
        named: caller.named,
        set,
        items: chains.map(({ identity, wrapped: { ciphertext } }) => {
          const { generation, scope } = identity;
          return { generation, scope, ciphertext };
        }),
      }));
  }
}

/** Name of a set of servers, which does not depend on their order. */
export function setName({ threshold, servers }: ServerSet): string {
  const parts = servers.map(({ objectId, weight }) => `${objectId}:${weight}`).sort();
  return createHash("sha256").update([threshold, ...parts].join()).digest("hex");
}
