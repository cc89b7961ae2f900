import { SvcError } from "../errors.ts";
import type { VectorStore } from "../interfaces/mod.ts";
import type { JobStore } from "../jobs/store.ts";

/** What is counted, and the most it may come to. */
interface QuotaOptions {
  /** Bytes an owner may store; 0: any number. */
  readonly quotaBytes: number;
  /** Counts what is indexed. */
  readonly vectorStore: Pick<VectorStore, "scopes">;
  /** Count what is accepted and not indexed yet. */
  readonly jobs: Pick<JobStore, "unsettledBytes">;
}

/** Ciphertext bytes of an owner's indexed memories. */
export async function usedBytes(
  { vectorStore }: Pick<QuotaOptions, "vectorStore">,
  owner: string,
): Promise<number> {
  const scopes = await vectorStore.scopes(owner);
  return scopes.reduce((sum, scope) => sum + scope.bytes, 0);
}

/**
 * Bytes of writes that passed the check and are no jobs yet, by owner: requests that arrive together
 * must not all be measured against the same free space.
 */
export class Quota {
  readonly #options: QuotaOptions;
  readonly #reserved = new Map<string, number>();

  /** Nothing is claimed yet. */
  constructor(options: QuotaOptions) {
    this.#options = options;
  }

  /**
   * Claims room for a write. Give it back as soon as its jobs exist, which then count themselves;
   * giving it back again does nothing.
   *
   * @throws {SvcError} `quota_exceeded`.
   */
  async reserve(owner: string, bytes: number): Promise<Disposable> {
    const { quotaBytes, jobs } = this.#options;
    if (quotaBytes === 0) return { [Symbol.dispose]: () => {} };
    this.#add(owner, bytes);
    let held = bytes;
    const reservation = {
      [Symbol.dispose]: () => {
        this.#add(owner, -held);
        held = 0;
      },
    };
    try {
      const used = await usedBytes(this.#options, owner) + jobs.unsettledBytes(owner);
      if (used + (this.#reserved.get(owner) ?? 0) > quotaBytes) {
        throw new SvcError("quota_exceeded");
      }
      return reservation;
    } catch (error) {
      reservation[Symbol.dispose]();
      throw error;
    }
  }

  #add(owner: string, bytes: number): void {
    const sum = (this.#reserved.get(owner) ?? 0) + bytes;
    if (sum === 0) this.#reserved.delete(owner);
    else this.#reserved.set(owner, sum);
  }
}
