import { SvcError } from "../../src/errors.ts";
import type {
  Account,
  BlobStore,
  Cipher,
  Embedder,
  IndexEntry,
  OutdatedScope,
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

/** Namespaces of the simulation. */
export const NAMESPACES = ["default", "other"];

/** Which of two embedding models a process runs with: the place of the 1 in all its vectors. */
export type Model = 0 | 1;

const VECTORS = [Float32Array.of(1, 0), Float32Array.of(0, 1)] as const;

interface Blob {
  /** Idempotency key it was put under. */
  readonly key: string;
  readonly namespace: string;
  readonly bytes: string;
  readonly createdAt: number;
}

/** What outlives a crash: the table, the index rows, the blobs and the tombstones. */
export class World {
  readonly table = new FakeTable();
  readonly rows: VectorStore = memoryVectorStore();
  readonly blobs = new Map<string, Blob>();
  /** Whether deleted blobs are gone; else they stay where a restore finds them. */
  readonly erases: boolean;
  /** Whether opening takes a credential, so that jobs of a former process are locked. */
  readonly needsCredential: boolean;
  readonly now: () => number;
  readonly #core = new CoreDb(":memory:");
  readonly tombstones = this.#core.tombstones;
  readonly tombstoneBlobs = this.#core.tombstoneBlobs;
  readonly versions = this.#core.versions;
  /** Blobs that were put, also those deleted since; by idempotency key. */
  readonly puts = new Map<string, Set<string>>();

  constructor(
    { erases, needsCredential = false }: { erases: boolean; needsCredential?: boolean },
    now: () => number,
  ) {
    this.erases = erases;
    this.needsCredential = needsCredential;
    this.now = now;
    // No other relayer restores, so that the store is not told of deletions.
    this.tombstoneBlobs.unsent = () => [];
  }

  /** Index rows of a namespace. */
  async entries(namespace: string): Promise<IndexEntry[]> {
    const page = await this.rows.scan({ owner: OWNER.owner, namespace });
    return [...page.entries];
  }

  /** Loses the index rows of a namespace, as a disk does. */
  async lose(namespace: string): Promise<void> {
    const ids = (await this.entries(namespace)).map(({ id }) => id);
    await this.rows.delete({ owner: OWNER.owner, namespace }, ids);
  }
}

/** Whether a row has vectors of a model. */
export function isOf(model: Model, { vectors }: IndexEntry): boolean {
  return vectors[0]?.[model] === 1;
}

/** A call of the simulated process that waits for its turn. */
export interface Waiting {
  readonly name: string;
  /** Does it; answers only when told to, at once or in a turn of its own. */
  run(answer: boolean, later?: boolean): Promise<void>;
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
      run: async (answer, later) => {
        const result = await work();
        if (!answer || this.#dead) return;
        if (!later) return resolve(result);
        const arrive = (isAnswered: boolean) => {
          if (isAnswered && !this.#dead) resolve(result);
          return Promise.resolve();
        };
        // What is done does not fail any more.
        const fail = () => void arrive(true);
        this.waiting.push({ name: `answer to ${name}`, run: arrive, fail });
      },
      fail: reject,
    });
    return promise;
  };
}

/** The rows of a world, as a process sees them whose model is this one. */
function vectorStoreOf(world: World, model: Model, gate: Gate): VectorStore {
  const seen = (entry: IndexEntry): IndexEntry =>
    isOf(model, entry) ? entry : { ...entry, vectors: [] };
  const { rows } = world;
  return {
    upsert: (...args) => gate(`upsert ${args[0][0]?.id}`, () => rows.upsert(...args)),
    link: (...args) => gate(`link ${args[1][0]?.id}`, () => rows.link(...args)),
    search: (...args) =>
      gate("search", async () => {
        const found = await rows.search(...args);
        return found.filter(({ entry }) => isOf(model, entry));
      }),
    get: (...args) => gate("get", async () => (await rows.get(...args)).map(seen)),
    scan: (...args) =>
      gate("scan", async () => {
        const page = await rows.scan(...args);
        return { ...page, entries: page.entries.map(seen) };
      }),
    scopes: (...args) => gate("scopes", () => rows.scopes(...args)),
    outdated: () =>
      gate("outdated", async () => {
        const found: OutdatedScope[] = [];
        for (const namespace of NAMESPACES) {
          const entries = await world.entries(namespace);
          const count = entries.filter((entry) => !isOf(model, entry)).length;
          if (count > 0) found.push({ owner: OWNER.owner, namespace, count });
        }
        return found;
      }),
    delete: (...args) => gate(`delete rows ${args[1]}`, () => rows.delete(...args)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function blobStoreOf(world: World, gate: Gate): BlobStore {
  const { blobs, puts } = world;
  return {
    erases: world.erases,
    put: (bytes, { idempotencyKey, namespace }) => {
      const hex = bytes.toHex();
      return gate(`put ${idempotencyKey}`, () => {
        // A deletion that asks for the blob of a job puts the job's id under it.
        const isRecord = hex !== new TextEncoder().encode(idempotencyKey).toHex();
        if (isRecord) puts.getOrInsertComputed(idempotencyKey, () => new Set()).add(hex);
        for (const [id, blob] of blobs) if (blob.key === idempotencyKey) return id;
        const id = `blob-${idempotencyKey}`;
        blobs.set(id, { key: idempotencyKey, namespace, bytes: hex, createdAt: world.now() });
        return id;
      });
    },
    get: (id) =>
      gate("get blob", () => {
        const blob = blobs.get(id);
        return blob && Uint8Array.fromHex(blob.bytes);
      }),
    async *list({ namespace }) {
      const found = await gate("list", () => [...blobs].reverse());
      for (const [blobId, blob] of found) {
        if (blob.namespace !== namespace) continue;
        yield { blobId, bytes: blob.bytes.length / 2, createdAt: blob.createdAt };
      }
    },
    ...(world.erases
      ? { delete: (id) => gate(`delete ${id}`, () => blobs.delete(id) || true) }
      : {}),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The backends of a world, behind the gate of a process. */
export function backendsOf(world: World, { gate }: Process, model: Model) {
  const dispose = { [Symbol.asyncDispose]: () => Promise.resolve() };
  const embedder: Embedder = {
    model: `simulated ${model}`,
    dimensions: 2,
    maxTokens: 10,
    embed: (texts) => gate("embed", () => texts.map(() => [VECTORS[model]])),
    ...dispose,
  };
  let nonce = 0;
  const cipher: Cipher = {
    needsCredential: world.needsCredential,
    seal: (plaintext) => {
      const record = Uint8Array.of(1, ...new Uint8Array(16), ++nonce & 0xff, ...plaintext);
      return gate("seal", () => ({ record, keyId: "key", wrappedKey: Uint8Array.of(1) }));
    },
    open: (items, { credential }) =>
      gate("open", () => {
        if (world.needsCredential && credential === undefined) {
          throw new SvcError("decrypt_credential_required");
        }
        return items.map(({ record }) => ({
          status: "fulfilled" as const,
          value: record.slice(18),
        }));
      }),
    rotate: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
    ...dispose,
  };
  const vectorStore = vectorStoreOf(world, model, gate);
  return { vectorStore, blobStore: blobStoreOf(world, gate), embedder, cipher };
}
