import { SvcError } from "../../../src/errors.ts";
import type {
  BackendHealth,
  BlobInfo,
  BlobMoveListener,
  BlobStore,
  CallOptions,
  PutOptions,
  Scope,
} from "../../../src/interfaces/mod.ts";
import { openParts, type WalrusOptions, type WalrusParts } from "./parts.ts";
import { blobIdOf, isBlobId } from "./quilt/patch_id.ts";
import { deleteBlob, endEpochOf, presentId } from "./upkeep/moves.ts";

/** Pause before the first round of upkeep, and while there is more to do, in milliseconds. */
const SOON_MS = 60_000;

/** Most bytes of another client's blob: 2 MiB of ciphertext, and room for a frame around it. */
const MAX_FOREIGN = 4 * 1024 * 1024;

/**
 * Blobs on Walrus; see docs/walrus.md. Goes on with what is in the data directory, and contacts
 * nobody before there is something to do.
 */
export class WalrusBlobStore implements BlobStore {
  readonly #parts: WalrusParts;
  #closed: SvcError | undefined;
  #cancel: (() => void) | undefined;
  #round: Promise<void> | undefined;

  /** @throws {SvcError} As `openParts`. */
  constructor(options: WalrusOptions) {
    this.#parts = openParts(options);
    this.#plan(Math.min(this.#parts.upkeepMs, SOON_MS));
  }

  async put(bytes: Uint8Array, options: PutOptions): Promise<string> {
    this.#check(options.signal);
    return await this.#parts.uploads.put(bytes, options);
  }

  async get(
    id: string,
    scope: Scope,
    options: CallOptions = {},
  ): Promise<Uint8Array | undefined> {
    this.#check(options.signal);
    await Promise.resolve();
    const { catalogue, items, listing, bytes } = this.#parts;
    if (blobIdOf(id) === undefined) return undefined;
    const present = presentId(catalogue, scope, id);
    if (present === undefined) return undefined;
    const stored = items.storedBytes(scope, present);
    if (stored !== undefined) return stored;
    const patch = await listing.find(scope, present, options);
    return patch === undefined ? undefined : await bytes.patch(scope, patch, options);
  }

  async getForeign(id: string, options: CallOptions = {}): Promise<Uint8Array | undefined> {
    this.#check(options.signal);
    if (!isBlobId(id)) return undefined;
    const { signal } = options;
    const found = await this.#parts.aggregators.blob(id, { maxBytes: MAX_FOREIGN, signal });
    return found?.bytes;
  }

  async *list(scope: Scope, options: CallOptions = {}): AsyncGenerator<BlobInfo> {
    this.#check(options.signal);
    for await (const info of this.#parts.listing.list(scope, options)) {
      this.#check(options.signal);
      yield info;
    }
  }

  async delete(id: string, scope: Scope, options: CallOptions = {}): Promise<boolean> {
    this.#check(options.signal);
    const { catalogue, clock, state } = this.#parts;
    // Without the epoch the blob is deleted as well, but not claimed to be gone.
    const epoch = await state().then((known) => known.epoch, () => 0);
    this.#check(options.signal);
    return await deleteBlob(catalogue, scope, id, { epoch, now: clock.now() });
  }

  async keptUntil(id: string, scope: Scope): Promise<number | undefined> {
    this.#check(undefined);
    const { catalogue, discovery, startOf } = this.#parts;
    const end = endEpochOf(catalogue, scope, id, (objectId) => discovery.isOwn(objectId));
    return end === undefined ? undefined : await startOf(end);
  }

  async withdraw(idempotencyKey: string, scope: Scope): Promise<boolean> {
    this.#check(undefined);
    return await this.#parts.uploads.withdraw(idempotencyKey, scope);
  }

  async scrub(): Promise<void> {
    this.#check(undefined);
    await this.#parts.catalogue.database.scrub();
  }

  watchMoves(listener: BlobMoveListener): Disposable {
    return this.#parts.moves.watch(listener);
  }

  health(): BackendHealth {
    const { uploads, aggregators } = this.#parts;
    const failing = [uploads.health(), aggregators.health].filter(({ status }) => status !== "ok");
    if (failing.length === 0) return { status: "ok" };
    const isDown = failing.some(({ status }) => status === "down");
    const reason = failing.map(({ reason }) => reason).join("; ");
    return { status: isDown ? "down" : "degraded", reason };
  }

  /** Stores what waits without waiting for more, and resolves when nothing is under way. */
  async drain(): Promise<void> {
    this.#check(undefined);
    await this.#parts.uploads.drain();
  }

  async maintain(): Promise<void> {
    this.#check(undefined);
    const { failure } = await this.#parts.upkeep.round();
    if (failure !== undefined) throw failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed !== undefined) return;
    const closed = new SvcError("storage_unavailable", "The store is closed");
    this.#closed = closed;
    this.#cancel?.();
    const { aggregators, discovery, uploads, catalogue } = this.#parts;
    aggregators.close(closed);
    await uploads.close();
    await discovery.close(closed);
    await this.#round;
    await catalogue.database.close();
  }

  #check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed !== undefined) throw this.#closed;
  }

  #plan(afterMs: number): void {
    const { upkeepMs, clock } = this.#parts;
    if (upkeepMs === 0 || this.#closed !== undefined) return;
    this.#cancel = clock.after(afterMs, () => {
      this.#round = this.#keepUp().then((more) => {
        this.#round = undefined;
        this.#plan(more ? Math.min(upkeepMs, SOON_MS) : upkeepMs);
      });
    });
  }

  /** Runs a round of upkeep; returns whether another one should come soon. */
  async #keepUp(): Promise<boolean> {
    const { clock, upkeep, log, catalogue } = this.#parts;
    try {
      const now = clock.now();
      await catalogue.database.write(() => catalogue.dropExpired(now));
      const { more, failure } = await upkeep.round();
      if (failure === undefined) return more;
      throw failure;
    } catch (error) {
      if (this.#closed === undefined) {
        log("warn", `walrus: upkeep is put off: ${SvcError.from(error).code}`);
      }
      return true;
    }
  }
}
