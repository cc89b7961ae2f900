import type { Expiry, ExpiryStore, Scope } from "../interfaces/mod.ts";
import { type KvWriter, tableRead } from "./staging.ts";

/** Entries of a page: Deno KV reads no more at once. */
const PAGE = 500;
const PREFIX = "expiry";

function keyOf({ expiresAt, owner, namespace, id }: Expiry): Deno.KvKey {
  return [PREFIX, expiresAt, owner, namespace, id];
}

/** When memories end, in the KV table and in that order: rows of the index are sealed. */
export class Expiries implements ExpiryStore {
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;

  constructor(kv: Deno.Kv, writer: KvWriter) {
    this.#kv = kv;
    this.#writer = writer;
  }

  /**
   * Notes when memories end, durably; those that never do are passed over.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  async note(
    memories: readonly (Scope & { readonly id: string; readonly expiresAt?: number })[],
  ): Promise<void> {
    const ending = memories.flatMap(({ expiresAt, ...memory }) =>
      expiresAt === undefined ? [] : [{ key: keyOf({ ...memory, expiresAt }), value: null }]
    );
    for (let at = 0; at < ending.length; at += PAGE) {
      await this.#writer.commit(ending.slice(at, at + PAGE));
    }
  }

  /**
   * What has ended by then, earliest first; a page, the next of which starts after its last.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  async due(now: number, after?: Expiry): Promise<Expiry[]> {
    // A key with one more part is the next one after it.
    const start = after === undefined ? [PREFIX] : [...keyOf(after), ""];
    const selector = { start, end: [PREFIX, now + 1] };
    const entries = this.#kv.list(selector, { limit: PAGE, batchSize: PAGE });
    return (await tableRead(Array.fromAsync(entries))).map(({ key }) => {
      const [, expiresAt, owner, namespace, id] = key as [string, number, string, string, string];
      return { expiresAt, owner, namespace, id };
    });
  }

  /**
   * Strikes out what is dealt with.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  async remove(expiries: readonly Expiry[]): Promise<void> {
    if (expiries.length === 0) return;
    await this.#writer.commit(expiries.map((item) => ({ key: keyOf(item), remove: true })));
  }
}
