import { BoundedMap } from "../../../../src/bounded_map.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { CallOptions, Scope } from "../../../../src/interfaces/mod.ts";
import { type Aggregators, hasDigest, type ReadBlob, sha256Of } from "../aggregator/aggregators.ts";
import type { PlacedPatch } from "../catalogue.ts";
import { MalformedBytes, Quilt } from "../quilt/quilt.ts";
import type { StoredBlob } from "../stored_blob.ts";
import type { Ground } from "../walrus_state.ts";

interface BlobBytesOptions extends Ground {
  readonly aggregators: Pick<Aggregators, "blob" | "patch">;
  /**
   * Computes the blob id of bytes, off the event loop; proves bytes when no two aggregators agree.
   * Seconds of work on the real network.
   */
  readonly blobIdOf?: ((bytes: Uint8Array) => Promise<string>) | undefined;
  /** How long bytes are kept here once they were read, in milliseconds; 0: not at all. */
  readonly keepMs: number;
}

/** A quilt with all its bytes; `proven` when these are known to be those of its blob id. */
export interface ReadQuilt {
  readonly quilt: Quilt;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly proven: boolean;
}

/** Most bytes of a quilt that is held in memory to take patches from. */
const HELD_BYTES = 16 << 20;
/** Single patches of a quilt that are read before the whole quilt is. */
const SINGLE_READS = 4;
/** Most quilts whose reads are counted. */
const COUNTED = 256;
/** Age of a blob, in milliseconds, from which aggregators are believed that it does not exist. */
const FRESH_MS = 120_000;

/**
 * Bytes of blobs and patches, kept ones or else the aggregators'. The latter are kept only when they
 * are proven: they have a digest this machine knows, two aggregators agree, or they encode to their
 * blob id. So a lying aggregator costs a read, and its bytes never stay.
 */
export class BlobBytes {
  readonly #options: BlobBytesOptions;
  /** The quilt read last. */
  #held: { readonly blobId: string; readonly quilt: Quilt } | undefined;
  readonly #reading = new Map<string, Promise<ReadQuilt | undefined>>();
  readonly #reads = new BoundedMap<string, number>(COUNTED);

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
    const sha256 = catalogue.digestOf(patch.id);
    if (!alone && sha256 !== undefined) {
      const held = await this.#fromQuilt(scope, patch, signal);
      if (held !== undefined && hasDigest(held, sha256)) {
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
    const { catalogue } = this.#options;
    for (const patch of quilt.patches) {
      catalogue.noteDigest(Quilt.idOf(blobId, patch), sha256Of(quilt.content(patch)));
    }
  }

  #provesId(blobId: string): ((bytes: Uint8Array) => Promise<boolean>) | undefined {
    const { blobIdOf } = this.#options;
    return blobIdOf && (async (bytes) => await blobIdOf(bytes) === blobId);
  }

  async #keep(scope: Scope, id: string, bytes: Uint8Array): Promise<void> {
    const { catalogue, now, keepMs } = this.#options;
    await catalogue.database.write(() => catalogue.keep(scope, id, bytes, now() + keepMs));
  }

  /** Takes a patch from the quilt in memory, which is read first when many of its patches are. */
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
        // The patch by itself may still be readable.
        if (!(error instanceof SvcError)) throw error;
      }
      signal?.throwIfAborted();
    }
    if (this.#held?.blobId !== blobId) return undefined;
    const { quilt } = this.#held;
    const patch = quilt.patches.find((item) => Quilt.idOf(blobId, item) === id);
    return patch === undefined ? undefined : quilt.content(patch);
  }

  /** Counts the reads of patches of a quilt; returns whether there are many. */
  #count(blobId: string): boolean {
    const count = (this.#reads.get(blobId) ?? 0) + 1;
    this.#reads.set(blobId, count % SINGLE_READS);
    return count === SINGLE_READS;
  }

  /** Reads a quilt; when it is not proven as a `whole`, its patches must be, one by one. */
  async #readQuilt(blob: StoredBlob, whole: boolean): Promise<ReadQuilt | undefined> {
    const { shards } = await this.#options.state();
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
      ...(proof ? { compare: true, proves: this.#provesId(blobId), provesAlways: true } : {}),
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

function parsed(bytes: Uint8Array, shards: number): Quilt | undefined {
  try {
    return new Quilt(bytes, shards);
  } catch (error) {
    if (error instanceof MalformedBytes) return undefined;
    throw error;
  }
}
