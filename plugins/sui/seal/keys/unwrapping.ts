import { createHash } from "node:crypto";
import type { DecryptCredential } from "../../../../src/interfaces/mod.ts";
import type { KeyServerBreakers } from "../key_server_breakers.ts";
import type { KeyIdentity, KeyWork, ServerSet, Wrapped } from "../calls.ts";
import type { Authorised } from "../readers.ts";

/** A chain whose secret is wanted. */
export interface WantedChain {
  /** Name of the chain, see `chainIdOf`. */
  readonly chainId: string;
  /** Whose it is. */
  readonly identity: KeyIdentity;
  /** Its wrapped secret. */
  readonly wrapped: Wrapped;
}

/** Somebody who wants chains. */
export interface Wanting extends Authorised {
  /** Of the caller. */
  readonly credential: DecryptCredential;
}

/** The secret; `undefined` when the chain is damaged. */
type Secret = Uint8Array | undefined;

/**
 * Asks key servers for chains' secrets: those that were wrapped for the same servers in one request,
 * and those that the same caller already waits for not again.
 */
export class Unwrapping {
  readonly #work: Pick<KeyWork, "unwrap">;
  readonly #breakers: KeyServerBreakers;
  readonly #running = new Map<string, Promise<Secret>>();

  /** Asks nobody by itself. */
  constructor(work: Pick<KeyWork, "unwrap">, breakers: KeyServerBreakers) {
    this.#work = work;
    this.#breakers = breakers;
  }

  /** Answers for each chain by its name, when all are there; nothing rejects. The bytes are the caller's to erase. */
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
        // Behind the copies of all who wait.
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
        set,
        items: chains.map(({ identity: { generation, scope }, wrapped: { ciphertext } }) => ({
          generation,
          scope,
          ciphertext,
        })),
      }));
  }
}

/** Name of a set of servers, whatever their order. */
export function setName({ threshold, servers }: ServerSet): string {
  const parts = servers.map(({ objectId, weight }) => `${objectId}:${weight}`).sort();
  return createHash("sha256").update([threshold, ...parts].join()).digest("hex");
}
