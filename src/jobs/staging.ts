import { type KvWriter, type Mutation, tableRead } from "./kv_writer.ts";

/** Values up to this size travel inside the entry that refers to them. */
export const INLINE_BYTES = 16 * 1024;
/** Deno KV refuses values above 65,536 bytes serialized. */
const CHUNK_BYTES = 60_000;
/** Staged chunks that nothing refers to are swept after this long. */
const ORPHAN_MS = 3_600_000;

/** Bytes inside an entry, or the name of the chunks that hold them. */
export type Stored =
  | { readonly inline: Uint8Array }
  | { readonly stage: string; readonly chunks: number };

/** About how many bytes an entry that refers to them takes for them. */
export function storedBytes(stored: Stored): number {
  return "inline" in stored ? stored.inline.length : 128;
}

/** Keeps sealed bytes of any size in the KV table. */
export class Staging {
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;
  readonly #now: () => number;

  /** Uses the writer's table. */
  constructor(kv: Deno.Kv, writer: KvWriter, now: () => number) {
    this.#kv = kv;
    this.#writer = writer;
    this.#now = now;
  }

  /** Writes large bytes durably under a fresh name; small ones are answered inline. */
  async put(bytes: Uint8Array): Promise<Stored> {
    if (bytes.length <= INLINE_BYTES) return { inline: bytes };
    const stage = crypto.randomUUID();
    const chunks = Math.ceil(bytes.length / CHUNK_BYTES);
    await this.#writer.commit([{ key: ["staged", stage], value: { at: this.#now(), chunks } }]);
    const writes: Promise<void>[] = [];
    for (let i = 0; i < chunks; i++) {
      const value = bytes.slice(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES);
      writes.push(
        this.#writer.commit([{ key: ["chunk", stage, i], value, bytes: value.length }]),
      );
    }
    await Promise.all(writes);
    return { stage, chunks };
  }

  /**
   * The bytes; `undefined` when chunks are missing.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  async get(stored: Stored): Promise<Uint8Array | undefined> {
    if ("inline" in stored) return stored.inline;
    const chunks = this.#kv.list<Uint8Array>({ prefix: ["chunk", stored.stage] });
    const parts = (await tableRead(Array.fromAsync(chunks))).map(({ value }) => value);
    const total = parts.reduce((sum, part) => sum + part.length, 0);
    if (parts.length !== stored.chunks) return undefined;
    const bytes = new Uint8Array(total);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  /** To be part of the commit that refers to staged bytes: they are no orphans from then on. */
  adopt(stored: Stored): Mutation[] {
    return "inline" in stored ? [] : [{ key: ["staged", stored.stage], remove: true }];
  }

  /** To be part of the commit that ends the need for staged bytes. */
  discard(stored: Stored | undefined): Mutation[] {
    if (stored === undefined || "inline" in stored) return [];
    const gone: Mutation[] = [{ key: ["staged", stored.stage], remove: true }];
    for (let i = 0; i < stored.chunks; i++) {
      gone.push({ key: ["chunk", stored.stage, i], remove: true });
    }
    return gone;
  }

  /** Removes chunks that were staged but never adopted; answers how many stages. */
  async sweep(): Promise<number> {
    let count = 0;
    const entries = this.#kv.list<{ at: number; chunks: number }>({ prefix: ["staged"] });
    for await (const entry of entries) {
      const { key, value: { at, chunks } } = entry;
      if (at > this.#now() - ORPHAN_MS) continue;
      // Checked: a request that refers to the chunks may be committed at this very moment.
      const atomic = this.#kv.atomic().check(entry);
      for (const gone of this.discard({ stage: String(key[1]), chunks })) atomic.delete(gone.key);
      if ((await atomic.commit()).ok) count++;
    }
    return count;
  }
}
