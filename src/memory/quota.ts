import { SvcError } from "../errors.ts";
import type { Domain } from "./domain.ts";
import { usedBytes } from "./usage.ts";

/**
 * Bytes of writes that passed the check and are no jobs yet, by owner: requests that arrive together
 * must not all be measured against the same free space.
 */
export class Quota {
  readonly #reserved = new Map<string, number>();

  /**
   * Claims room for a write. Give it back as soon as its jobs exist, which then count themselves;
   * giving it back again does nothing.
   *
   * @throws {SvcError} `quota_exceeded`.
   */
  async reserve(domain: Domain, owner: string, bytes: number): Promise<Disposable> {
    const limit = domain.config.quotaBytes;
    if (limit === 0) return { [Symbol.dispose]: () => {} };
    this.#add(owner, bytes);
    let held = bytes;
    const reservation = {
      [Symbol.dispose]: () => {
        this.#add(owner, -held);
        held = 0;
      },
    };
    try {
      const used = await usedBytes(domain, owner) + domain.jobs.unsettledBytes(owner);
      if (used + (this.#reserved.get(owner) ?? 0) > limit) throw new SvcError("quota_exceeded");
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
