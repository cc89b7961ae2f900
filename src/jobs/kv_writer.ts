import { SvcError } from "../errors.ts";

/** One change of the KV table. */
export type Mutation =
  | {
    readonly key: Deno.KvKey;
    readonly value: unknown;
    /** About how many bytes the value takes; 256 when absent. */
    readonly bytes?: number;
    /** Milliseconds after which the entry may be dropped. */
    readonly expireIn?: number;
  }
  | { readonly key: Deno.KvKey; readonly remove: true }
  | {
    /** Texts and numbers; the items of a group that share it become one entry right below it. */
    readonly key: Deno.KvKey;
    /** Joined with the others, without any mark between them. */
    readonly item: Uint8Array;
  };

interface Waiting {
  readonly mutations: readonly Mutation[];
  readonly bytes: number;
  readonly wake: boolean;
  resolve(): void;
  reject(reason: unknown): void;
}

/** A group closes here; Deno KV itself refuses 1,000 mutations or 819,200 bytes. */
const GROUP_MUTATIONS = 500;
const GROUP_BYTES = 400_000;
/** So many accepts in one group are a burst, which is over this long after the last such group. */
const BURST = { accepts: 4, ms: 50 };
/** A wake-up that was not delivered after this long is sent again. */
const WAKE_TIMEOUT_MS = 5_000;

/** Options of {@linkcode KvWriter}. */
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
  #wokenAt = -Infinity;
  #burstAt = -Infinity;
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
  commit(mutations: readonly Mutation[], wake = false): Promise<void> {
    let bytes = 0;
    for (const mutation of mutations) bytes += mutationBytes(mutation);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ mutations, bytes, wake, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** To be called when a queue message arrived: the next group that asks sends a new one. */
  woken(): void {
    this.#wokenAt = -Infinity;
  }

  /** Whether the last write was refused. */
  get failing(): boolean {
    return this.#failing;
  }

  /** Whether accepts arrive faster than they are written one by one. */
  get bursting(): boolean {
    return performance.now() - this.#burstAt < BURST.ms;
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // What is added in one turn of the event loop is written together.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) await this.#write(this.#take());
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
    if (accepts >= BURST.accepts) this.#burstAt = performance.now();
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

function mutationBytes(mutation: Mutation): number {
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

/**
 * What the KV table answers.
 *
 * @throws {SvcError} `storage_unavailable` when it cannot be read.
 */
export async function tableRead<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new SvcError("storage_unavailable", undefined, { cause });
  }
}
