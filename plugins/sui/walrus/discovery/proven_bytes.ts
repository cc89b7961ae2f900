import { SvcError } from "../../../../src/errors.ts";
import type { CallOptions, Scope } from "../../../../src/interfaces/mod.ts";
import { type Aggregators, type ReadBlob, sha256Of } from "../aggregator/aggregators.ts";
import type { Catalogue, PlacedPatch } from "../catalogue.ts";
import { MalformedBytes } from "../quilt/byte_reader.ts";
import { Quilt } from "../quilt/quilt.ts";
import type { StoredBlob } from "../stored_blob.ts";

/** Options of {@linkcode BlobBytes}. */
export interface BlobBytesOptions {
  /** What is kept of bytes, and their digests; its file has `DISCOVERY_SCHEMA`. */
  readonly catalogue: Catalogue;
  /** Where bytes are read that are not kept. */
  readonly aggregators: Pick<Aggregators, "blob" | "patch">;
  /** Shards of the network. */
  readonly shards: () => Promise<number>;
  /**
   * Blob id of bytes, off the event loop; proves bytes when there are no two aggregators to
   * compare. Seconds of work on the real network.
   */
  readonly blobIdOf?: ((bytes: Uint8Array) => Promise<string>) | undefined;
  /** Milliseconds that bytes are kept which were read; 0: not at all. */
  readonly keepMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A quilt, and whether its bytes are known to be those of its blob id. */
export interface ReadQuilt {
  /** Its patches. */
  readonly quilt: Quilt;
  /** The whole of it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Not only of the right form and size. */
  readonly proven: boolean;
}

/** Most bytes of a quilt that is held to take patches from. */
const HELD_BYTES = 16 << 20;
/** Reads of single patches of a quilt after which the whole of it is read. */
const SINGLE_READS = 4;
/** Quilts whose reads are counted. */
const COUNTED = 256;
/** Milliseconds after which aggregators are believed that they do not have a blob. */
const FRESH_MS = 120_000;

/**
 * Bytes of blobs and patches: kept ones, else from the aggregators. What comes from there is kept
 * only when it is proven: it has a digest this machine knows, two aggregators agree, or it encodes
 * to its blob id. So a lying aggregator costs a read, and never stays.
 */
export class BlobBytes {
  readonly #options: BlobBytesOptions;
  /** The quilt read last. */
  #held: { readonly blobId: string; readonly quilt: Quilt } | undefined;
  readonly #reading = new Map<string, Promise<ReadQuilt | undefined>>();
  readonly #reads = new Map<string, number>();

  /** Contacts nobody by itself. */
  constructor(options: BlobBytesOptions) {
    this.#options = options;
  }

  /**
   * The bytes of a patch, or of a blob stored by itself.
   *
   * @returns `undefined` when every aggregator says that there is none.
   * @throws {SvcError} `storage_unavailable` when it cannot be read now.
   */
  async patch(
    scope: Scope,
    patch: PlacedPatch,
    { signal }: CallOptions = {},
  ): Promise<Uint8Array | undefined> {
    const { catalogue, aggregators, now, keepMs } = this.#options;
    const kept = catalogue.kept(scope, patch.id, now());
    if (kept !== undefined) return kept;
    const alone = patch.id === patch.blobId;
    const sha256 = this.#digestOf(patch.id);
    if (!alone && sha256 !== undefined) {
      const held = await this.#fromQuilt(scope, patch, signal);
      if (held !== undefined && same(held, sha256)) {
        if (keepMs > 0) await this.#keep(scope, patch.id, held);
        return held;
      }
    }
    const options = {
      maxBytes: patch.size,
      signal,
      fresh: now() - patch.createdAt < FRESH_MS,
      ...(sha256 === undefined ? { accepts: sized(patch.size) } : { sha256 }),
    };
    const proof = { compare: true, proves: this.#provesId(patch.id) };
    const read = alone
      ? await aggregators.blob(patch.id, { ...options, ...(sha256 === undefined ? proof : {}) })
      : await aggregators.patch(patch.id, options);
    if (read === undefined) return undefined;
    if (isProven(read) && keepMs > 0) await this.#keep(scope, patch.id, read.bytes);
    return read.bytes;
  }

  /**
   * A quilt as a whole. Reads of one quilt at the same time share one request.
   *
   * @returns `undefined` when every aggregator says that there is none, or when what they give is
   * no quilt.
   * @throws {SvcError} `storage_unavailable` when it cannot be read now.
   */
  async quilt(blob: StoredBlob): Promise<ReadQuilt | undefined> {
    return await this.#shared(blob.blobId, () => this.#readQuilt(blob, true));
  }

  async #shared(
    key: string,
    read: () => Promise<ReadQuilt | undefined>,
  ): Promise<ReadQuilt | undefined> {
    return await this.#reading.getOrInsertComputed(key, async () => {
      try {
        return await read();
      } finally {
        this.#reading.delete(key);
      }
    });
  }

  /** The bytes of a blob stored by itself; `undefined` as for a quilt. */
  async standalone(blob: StoredBlob): Promise<Uint8Array | undefined> {
    return (await this.#readWhole(blob, true, sized(blob.size)))?.bytes;
  }

  /** Notes the digests of patches of proven bytes; must run inside `database.write`. */
  noteDigests(blobId: string, { quilt, proven }: ReadQuilt): void {
    if (!proven) return;
    for (const patch of quilt.patches) {
      this.#options.catalogue.database.run(
        "insert or ignore into digest values(?, ?)",
        Quilt.idOf(blobId, patch),
        sha256Of(quilt.content(patch)),
      );
    }
  }

  #provesId(blobId: string): ((bytes: Uint8Array) => Promise<boolean>) | undefined {
    const { blobIdOf } = this.#options;
    return blobIdOf && (async (bytes) => await blobIdOf(bytes) === blobId);
  }

  #digestOf(id: string): Uint8Array | undefined {
    return this.#options.catalogue.database.get<{ sha256: Uint8Array }>(
      "select sha256 from digest where id = ?",
      id,
    )?.sha256;
  }

  async #keep(scope: Scope, id: string, bytes: Uint8Array): Promise<void> {
    const { catalogue, now, keepMs } = this.#options;
    await catalogue.database.write(() => catalogue.keep(scope, id, bytes, now() + keepMs));
  }

  /** From the quilt that is held; it is read when many of its patches are. */
  async #fromQuilt(
    scope: Scope,
    { id, blobId }: PlacedPatch,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | undefined> {
    if (this.#held?.blobId !== blobId && this.#count(blobId)) {
      const blob = this.#options.catalogue.liveOf(scope, blobId);
      try {
        if (blob !== undefined) {
          await this.#shared(`${blobId} again`, () => this.#readQuilt(blob, false));
        }
      } catch (error) {
        // The patch by itself may still be had.
        if (!(error instanceof SvcError)) throw error;
      }
      signal?.throwIfAborted();
    }
    if (this.#held?.blobId !== blobId) return undefined;
    const { quilt } = this.#held;
    const patch = quilt.patches.find((item) => Quilt.idOf(blobId, item) === id);
    return patch === undefined ? undefined : quilt.content(patch);
  }

  /** Counts the reads of patches of a quilt; answers whether there are many. */
  #count(blobId: string): boolean {
    const count = (this.#reads.get(blobId) ?? 0) + 1;
    this.#reads.delete(blobId);
    this.#reads.set(blobId, count % SINGLE_READS);
    if (this.#reads.size > COUNTED) this.#reads.delete(this.#reads.keys().next().value ?? "");
    return count === SINGLE_READS;
  }

  /** Unless it must be proven as a whole, every patch of it must be. */
  async #readQuilt(blob: StoredBlob, whole: boolean): Promise<ReadQuilt | undefined> {
    const shards = await this.#options.shards();
    const parses = (bytes: Uint8Array) => parsed(bytes, shards) !== undefined;
    const read = await this.#readWhole(blob, whole, parses);
    const quilt = read === undefined ? undefined : parsed(read.bytes, shards);
    if (read === undefined || quilt === undefined) return undefined;
    const { bytes, proven } = read;
    if ((proven || !whole) && bytes.length <= HELD_BYTES) {
      this.#held = { blobId: blob.blobId, quilt };
    }
    return { quilt, bytes, proven };
  }

  async #readWhole(
    { blobId, size, createdAt }: StoredBlob,
    proof: boolean,
    accepts: (bytes: Uint8Array) => boolean,
  ): Promise<{ bytes: Uint8Array<ArrayBuffer>; proven: boolean } | undefined> {
    const { aggregators, now } = this.#options;
    const read = await aggregators.blob(blobId, {
      maxBytes: size,
      accepts: (bytes) => bytes.length === size && accepts(bytes),
      ...(proof
        ? {
          compare: true,
          proves: this.#provesId(blobId),
          provesAlways: true,
        }
        : {}),
      fresh: now() - createdAt < FRESH_MS,
    });
    if (read === undefined) return undefined;
    return { bytes: read.bytes, proven: isProven(read) };
  }
}

function isProven({ proof }: ReadBlob): boolean {
  return proof === "digest" || proof === "agreed" || proof === "proven";
}

function sized(size: number): (bytes: Uint8Array) => boolean {
  return (bytes) => bytes.length === size;
}

function same(bytes: Uint8Array, sha256: Uint8Array): boolean {
  return sha256Of(bytes).toHex() === sha256.toHex();
}

function parsed(bytes: Uint8Array, shards: number): Quilt | undefined {
  try {
    return new Quilt(bytes, shards);
  } catch (error) {
    if (error instanceof MalformedBytes) return undefined;
    throw error;
  }
}
