import { AcceptBurst } from "./accept_burst.ts";
import { SvcError } from "../errors.ts";
import type { AcceptedJob, Note, Stored } from "../interfaces/mod.ts";
import { type KvMutation, noted } from "./notes.ts";

export type { Stored };

/** What a commit changes: entries of the table, or what a request used up or was answered. */
export type Mutation = KvMutation | Note;

interface Waiting {
  readonly mutations: readonly KvMutation[];
  readonly bytes: number;
  readonly wake: boolean;
  resolve(): void;
  reject(reason: unknown): void;
}

/** A group closes here; Deno KV itself refuses 1,000 mutations or 819,200 bytes. */
const GROUP_MUTATIONS = 500;
const GROUP_BYTES = 400_000;
/** A wake-up that was not delivered after this long is sent again. */
const WAKE_TIMEOUT_MS = 5_000;

interface KvWriterOptions {
  /** Whether groups that ask for it carry a queue message. */
  readonly wakeUps: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The one writer of the KV table: whatever is added while a commit is on its way to the disk shares
 * the next one. A group holds no checks, so that no member can fail its neighbours.
 */
export class KvWriter {
  readonly #kv: Deno.Kv;
  readonly #options: KvWriterOptions;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  /** Settles when writes may begin. */
  #held: Promise<void> | undefined;
  #wokenAt = -Infinity;
  readonly #burst = new AcceptBurst();
  #failing = false;

  /** Writes to `kv`, which stays the caller's. */
  constructor(kv: Deno.Kv, options: KvWriterOptions) {
    this.#kv = kv;
    this.#options = options;
  }

  /**
   * Writes all mutations in one commit; resolves once they are on disk.
   *
   * @param wake sends a queue message with the commit, unless one is on its way.
   * @throws {SvcError} `storage_unavailable` when nothing of it was written.
   */
  commit(changes: readonly Mutation[], wake = false): Promise<void> {
    const mutations = changes.map((change) => "key" in change ? change : noted(change));
    let bytes = 0;
    for (const mutation of mutations) bytes += mutationBytes(mutation);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ mutations, bytes, wake, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Lets nothing be written while `work` goes on; what is added meanwhile waits. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#held;
    const done = Promise.withResolvers<void>();
    this.#held = done.promise;
    try {
      await before;
      await this.#running;
      return await work();
    } finally {
      if (this.#held === done.promise) {
        this.#held = undefined;
        if (this.#waiting.length > 0) this.#running ??= this.#run();
      }
      done.resolve();
    }
  }

  /** To be called when a queue message arrived: the next group that asks sends a new one. */
  woken(): void {
    this.#wokenAt = -Infinity;
  }

  get failing(): boolean {
    return this.#failing;
  }

  /** Whether accepts arrive faster than their jobs could be done beside them. */
  get bursting(): boolean {
    return this.#burst.isOn;
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // One turn later: everything added in this turn shares the first commit.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0 && this.#held === undefined) {
        await this.#write(this.#take());
      }
    } finally {
      this.#running = undefined;
    }
  }

  #take(): Waiting[] {
    let mutations = 0;
    let bytes = 0;
    let count = 0;
    for (const item of this.#waiting) {
      mutations += item.mutations.length;
      bytes += item.bytes;
      if (count > 0 && (mutations > GROUP_MUTATIONS || bytes > GROUP_BYTES)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#commit(group);
      this.#failing = false;
      for (const item of group) item.resolve();
    } catch (cause) {
      if (group.length > 1) {
        // One bad member must not refuse the others.
        for (const item of group) await this.#write([item]);
      } else {
        this.#failing = true;
        group[0]?.reject(new SvcError("storage_unavailable", undefined, { cause }));
      }
    }
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const atomic = this.#kv.atomic();
    const shared = new Map<string, { key: Deno.KvKey; items: Uint8Array[] }>();
    let accepts = 0;
    for (const item of group) {
      if (item.wake) accepts++;
      for (const mutation of item.mutations) {
        const { key } = mutation;
        if ("item" in mutation) {
          shared.getOrInsertComputed(key.join(), () => ({ key, items: [] })).items
            .push(mutation.item);
        } else if ("remove" in mutation) atomic.delete(key);
        else if (mutation.expireIn === undefined) atomic.set(key, mutation.value);
        else atomic.set(key, mutation.value, { expireIn: mutation.expireIn });
      }
    }
    for (const { key, items } of shared.values()) {
      atomic.set([...key, crypto.randomUUID()], joined(items));
    }
    if (accepts > 0) this.#burst.note(accepts);
    const now = this.#options.now();
    const send = accepts > 0 && this.#options.wakeUps &&
      Math.abs(now - this.#wokenAt) > WAKE_TIMEOUT_MS;
    if (send) {
      // Set before the commit: the message may be delivered before the commit's answer is seen.
      this.#wokenAt = now;
      atomic.enqueue({ wake: true });
    }
    try {
      await atomic.commit();
    } catch (error) {
      if (send) this.#wokenAt = -Infinity;
      throw error;
    }
  }
}

function mutationBytes(mutation: KvMutation): number {
  if ("item" in mutation) return mutation.item.length;
  return ("remove" in mutation ? 64 : mutation.bytes ?? 256) + 64;
}

function joined(items: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(items.reduce((sum, item) => sum + item.length, 0));
  let at = 0;
  for (const item of items) {
    bytes.set(item, at);
    at += item.length;
  }
  return bytes;
}

/** Awaits a read of the KV table. @throws {SvcError} `storage_unavailable`. */
export async function tableRead<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new SvcError("storage_unavailable", undefined, { cause });
  }
}

/** Values up to this size travel inside the entry that refers to them. */
export const INLINE_BYTES = 16 * 1024;

/** Largest value that each of so many entries of one commit may hold, in bytes. */
export function inlineBytesOf(entries: number): number {
  return Math.min(INLINE_BYTES, Math.floor(GROUP_BYTES / entries));
}
/** Deno KV refuses values above 65,536 bytes serialized. */
const CHUNK_BYTES = 60_000;
/** Staged chunks that nothing refers to are removed after this long, milliseconds. */
const ORPHAN_MS = 3_600_000;

/** About how many bytes an entry that refers to them takes for them. */
export function storedBytes(stored: Stored): number {
  return "inline" in stored ? stored.inline.length : 128;
}

/** About how many bytes an accepted job takes. */
export function liveBytes({ payload, payloadKey = "" }: AcceptedJob): number {
  return storedBytes(payload) + payloadKey.length + 512;
}

/** Keeps sealed bytes of any size in the KV table. */
export class Staging {
  readonly #kv: Deno.Kv;
  readonly #writer: KvWriter;
  readonly #now: () => number;

  constructor(kv: Deno.Kv, writer: KvWriter, now: () => number) {
    this.#kv = kv;
    this.#writer = writer;
    this.#now = now;
  }

  /** Writes large bytes durably under a fresh name; those up to `inlineBytes` are answered inline. */
  async put(bytes: Uint8Array, inlineBytes = INLINE_BYTES): Promise<Stored> {
    if (bytes.length <= inlineBytes) return { inline: bytes };
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

  /** Mutations for the commit that refers to staged bytes: the sweep then leaves them alone. */
  adopt(stored: Stored): KvMutation[] {
    return "inline" in stored ? [] : [{ key: ["staged", stored.stage], remove: true }];
  }

  /** Mutations for the commit after which staged bytes are not needed. */
  discard(stored: Stored | undefined): KvMutation[] {
    if (stored === undefined || "inline" in stored) return [];
    const gone: KvMutation[] = [{ key: ["staged", stored.stage], remove: true }];
    for (let i = 0; i < stored.chunks; i++) {
      gone.push({ key: ["chunk", stored.stage, i], remove: true });
    }
    return gone;
  }

  /** Removes chunks that were staged before a time and never adopted; answers how many stages. */
  async sweep(before = this.#now() - ORPHAN_MS): Promise<number> {
    let count = 0;
    const entries = this.#kv.list<{ at: number; chunks: number }>({ prefix: ["staged"] });
    for await (const entry of entries) {
      const { key, value: { at, chunks } } = entry;
      if (at > before) continue;
      // Checked: a request that refers to the chunks may be committed at this very moment.
      const atomic = this.#kv.atomic().check(entry);
      for (const gone of this.discard({ stage: String(key[1]), chunks })) atomic.delete(gone.key);
      if ((await atomic.commit()).ok) count++;
    }
    return count;
  }
}
