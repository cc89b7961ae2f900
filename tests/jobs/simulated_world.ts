import { SvcError } from "../../src/errors.ts";
import type {
  Account,
  BlobStore,
  Cipher,
  Embedder,
  IndexEntry,
  VectorStore,
} from "../../src/interfaces/mod.ts";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { FakeTable, type Gate } from "./fake_kv.ts";

/** Numbers from a seed: mulberry32 (public domain, Tommy Ettinger). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The one account of the simulation. */
export const OWNER: Account = {
  accountId: `0x${"01".repeat(32)}`,
  owner: `0x${"02".repeat(32)}`,
  active: true,
  keys: [],
};

/** What outlives a crash: the table, the index rows, the blobs and the tombstones. */
export class World {
  readonly table = new FakeTable();
  readonly rows: VectorStore = memoryVectorStore();
  readonly blobs = new Map<string, { readonly key: string; readonly bytes: string }>();
  readonly #core = new CoreDb(":memory:");
  readonly tombstones = this.#core.tombstones;
  readonly versions = this.#core.versions;
  /** Blobs that were put, also those deleted since; by idempotency key. */
  readonly puts = new Map<string, Set<string>>();

  /** Index rows of a namespace. */
  async entries(namespace: string): Promise<IndexEntry[]> {
    const page = await this.rows.scan({ owner: OWNER.owner, namespace });
    return [...page.entries];
  }
}

/** A call of the simulated process that waits for its turn. */
export interface Waiting {
  readonly name: string;
  /** Does it; answers only when told to. */
  run(answer: boolean): Promise<void>;
  fail(error: Error): void;
}

/** A process: dropped by a crash, after which none of its calls has an effect. */
export class Process {
  readonly waiting: Waiting[] = [];
  #dead = false;

  /** Ends it; calls that were on their way may have been done all the same. */
  kill(): void {
    this.#dead = true;
    this.waiting.length = 0;
  }

  /** A table that is written at once, which a process that has ended writes no more. */
  table<T extends object>(table: T): T {
    return new Proxy(table, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (this.#dead) throw new SvcError("storage_unavailable");
          return value.apply(target, args);
        };
      },
    });
  }

  readonly gate: Gate = <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#dead) return promise;
    this.waiting.push({
      name,
      run: async (answer) => {
        const result = await work();
        if (answer && !this.#dead) resolve(result);
      },
      fail: reject,
    });
    return promise;
  };
}

const embedding = Float32Array.of(1, 0);

/** The backends of a world, behind the gate of a process. */
export function backendsOf(world: World, { gate }: Process) {
  const dispose = { [Symbol.asyncDispose]: () => Promise.resolve() };
  const vectorStore: VectorStore = {
    upsert: (...args) => gate(`upsert ${args[0][0]?.id}`, () => world.rows.upsert(...args)),
    link: (...args) => gate(`link ${args[1][0]?.id}`, () => world.rows.link(...args)),
    search: (...args) => gate("search", () => world.rows.search(...args)),
    get: (...args) => gate("get", () => world.rows.get(...args)),
    scan: (...args) => gate("scan", () => world.rows.scan(...args)),
    scopes: (...args) => gate("scopes", () => world.rows.scopes(...args)),
    delete: (...args) => gate(`delete rows ${args[1]}`, () => world.rows.delete(...args)),
    ...dispose,
  };
  const blobStore: BlobStore = {
    erases: true,
    put: (bytes, { idempotencyKey }) => {
      const hex = bytes.toHex();
      return gate(`put ${idempotencyKey}`, () => {
        world.puts.getOrInsertComputed(idempotencyKey, () => new Set()).add(hex);
        for (const [id, blob] of world.blobs) if (blob.key === idempotencyKey) return id;
        const id = `blob-${idempotencyKey}`;
        world.blobs.set(id, { key: idempotencyKey, bytes: hex });
        return id;
      });
    },
    get: (id) => gate("get blob", () => Uint8Array.fromHex(world.blobs.get(id)?.bytes ?? "")),
    async *list() {},
    delete: (id) => gate(`delete ${id}`, () => world.blobs.delete(id) || true),
    ...dispose,
  };
  const embedder: Embedder = {
    model: "simulated",
    dimensions: 2,
    maxTokens: 10,
    embed: (texts) => gate("embed", () => texts.map(() => [embedding])),
    ...dispose,
  };
  let nonce = 0;
  const cipher: Cipher = {
    needsCredential: false,
    seal: (plaintext) => {
      const record = Uint8Array.of(1, ...new Uint8Array(16), ++nonce & 0xff, ...plaintext);
      return gate("seal", () => ({ record, keyId: "key", wrappedKey: Uint8Array.of(1) }));
    },
    open: (items) =>
      gate(
        "open",
        () =>
          items.map(({ record }) => ({ status: "fulfilled" as const, value: record.slice(18) })),
      ),
    rotate: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
    ...dispose,
  };
  return { vectorStore, blobStore, embedder, cipher };
}
