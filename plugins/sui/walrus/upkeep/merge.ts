import { SvcError } from "../../../../src/errors.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import type { Catalogue, PlacedPatch } from "../catalogue.ts";
import type { BlobBytes } from "../discovery/proven_bytes.ts";
import type { BlobWriter, StoredBlob } from "../stored_blob.ts";
import { type Moving, UpkeepRows } from "./upkeep_rows.ts";

/** What copying needs. */
export interface MergeOptions {
  /** What is known here; its file has `UPKEEP_SCHEMA`. */
  readonly catalogue: Catalogue;
  /** Stores copies. */
  readonly writer: Pick<BlobWriter, "put" | "moved">;
  /** Reads what is copied. */
  readonly bytes: Pick<BlobBytes, "patch">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Notes for the operator. */
  readonly log: (level: "info" | "warn", message: string) => void;
}

/** Patches read at a time. */
const READS = 8;

/**
 * Copies live patches into a new quilt, and moves their ids there. What has begun is noted first,
 * and every copy has a key of its own, so that a process that was killed at any point goes on with
 * the same copies. A source is left only when all its live patches are certified elsewhere.
 */
export class Merger {
  readonly #options: MergeOptions;
  readonly #rows: UpkeepRows;

  /** Does nothing by itself. */
  constructor(options: MergeOptions) {
    this.#options = options;
    this.#rows = new UpkeepRows(options.catalogue.database);
  }

  /**
   * Moves the live patches of some blobs of one scope.
   *
   * @throws {SvcError} what kept a patch from being read or stored; the others moved.
   */
  async merge(scope: Scope, sources: readonly StoredBlob[]): Promise<void> {
    const { catalogue } = this.#options;
    await catalogue.database.write(() => {
      for (const { objectId, blobId } of sources) {
        for (const { id } of this.#livePatches(scope, blobId)) {
          this.#rows.begin(scope, id, objectId);
        }
      }
    });
    await this.#copy(scope);
  }

  /**
   * Goes on with everything that has begun.
   *
   * @throws {SvcError} as `merge`, once for all scopes.
   */
  async resume(): Promise<void> {
    let failure: unknown;
    for (const scope of this.#rows.scopes()) {
      try {
        await this.#copy(scope);
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  async #copy(scope: Scope): Promise<void> {
    const { catalogue, writer } = this.#options;
    const begun = this.#rows.begun(scope);
    const read = await this.#read(scope, begun);
    // All at once: what comes together goes into one quilt.
    const copies = await Promise.allSettled(read.map(async (item) => {
      const { id, bytes } = await item;
      if (bytes === undefined) return { id, to: undefined };
      return { id, to: await writer.put(bytes, { ...scope, idempotencyKey: `move:${id}` }) };
    }));
    const done = copies.flatMap((copy) => copy.status === "fulfilled" ? [copy.value] : []);
    await catalogue.database.write(() => {
      for (const { id, to } of done) {
        this.#rows.end(scope, id);
        if (to === undefined || to === id) continue;
        if (catalogue.isDeleted(scope, id)) {
          // Deleted while it was copied.
          catalogue.addTombstone(scope, to, this.#options.now());
          catalogue.drop(scope, to);
        } else {
          catalogue.addMove({ ...scope, from: id, to }, this.#options.now());
          writer.moved(scope, id, to);
        }
      }
      for (const source of new Set(begun.map((item) => item.source))) this.#leave(scope, source);
    });
    const failed = copies.find((copy) => copy.status === "rejected");
    if (failed !== undefined) throw SvcError.from(failed.reason);
  }

  /** Leaves a source whose live patches all moved. */
  #leave(scope: Scope, objectId: string): void {
    const { catalogue, now } = this.#options;
    const stored = catalogue.stored(objectId);
    if (stored?.state !== "live") return;
    const staying = this.#livePatches(scope, stored.blobId);
    // One was added meanwhile, by a reading of the quilt; the next round takes it.
    if (staying.length > 0) return;
    catalogue.setState(objectId, "replaced");
    // Others, who cannot know, are told by the scope's next quilt.
    catalogue.addTombstone(scope, stored.blobId, now());
  }

  /** Patches of a blob that are neither deleted nor moved. */
  #livePatches(scope: Scope, blobId: string): PlacedPatch[] {
    const { catalogue } = this.#options;
    return catalogue.patchesIn(scope, blobId).filter(({ id }) =>
      !catalogue.isDeleted(scope, id) && catalogue.movedTo(scope, id) === undefined
    );
  }

  /** Reads what is copied, a few at a time; each may fail for itself. */
  async #read(
    scope: Scope,
    begun: readonly Moving[],
  ): Promise<Promise<{ id: string; bytes: Uint8Array | undefined }>[]> {
    const { catalogue, bytes, log } = this.#options;
    const all: Promise<{ id: string; bytes: Uint8Array | undefined }>[] = [];
    for (let at = 0; at < begun.length; at += READS) {
      const part = begun.slice(at, at + READS).map(async ({ id }) => {
        const patch = catalogue.patch(scope, id);
        const content = patch === undefined ? undefined : await bytes.patch(scope, patch);
        if (content === undefined) log("warn", "walrus: a patch is no longer there to be moved");
        return { id, bytes: content };
      });
      await Promise.allSettled(part);
      all.push(...part);
    }
    return all;
  }
}
