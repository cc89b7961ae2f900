import { setImmediate } from "node:timers";
import { SvcError } from "../errors.ts";
import type { BlobLink, IndexEntry, ScanPage } from "../interfaces/mod.ts";
import type { ResidentScope } from "./resident_scope.ts";

/** Time after which other work gets its turn, in milliseconds. */
const SLICE_MS = 3;
/** A busy event loop looks for requests in every 31st turn only. A turn takes two microseconds. */
const TURNS = 40;

/** Long work, cut into slices of a few milliseconds between which requests are served. */
export class Slices {
  readonly #now: () => number;
  #started: number;

  /** Starts the first slice. `now` tells milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#started = now();
  }

  /** To be awaited between two steps of the work: lets other work run when the slice is over. */
  async rest(): Promise<void> {
    if (this.#now() - this.#started < SLICE_MS) return;
    for (let i = 0; i < TURNS; i++) await new Promise<void>((resolve) => setImmediate(resolve));
    this.#started = this.#now();
  }
}

/** Most empty pages in a row; a few are empty because their memories were just removed. */
const MOST_EMPTY = 100;

/** Walks through the pages of a scan, and refuses one that would never end. */
export class ScanWalk {
  readonly #followed = new Set<string>();
  #empty = 0;

  /**
   * Where the page after this one starts; `undefined` after the last one.
   *
   * @throws {SvcError} `storage_unavailable`, not retryable, when the store leads in a circle, or on and
   * on without entries.
   */
  next({ entries, cursor }: ScanPage): string | undefined {
    if (cursor === undefined) return undefined;
    this.#empty = entries.length > 0 ? 0 : this.#empty + 1;
    if (this.#followed.has(cursor) || this.#empty > MOST_EMPTY) {
      throw new SvcError("storage_unavailable", "The vector store's scan does not end", {
        retryable: false,
      });
    }
    this.#followed.add(cursor);
    return cursor;
  }
}

/**
 * Merges the pages of a scan with what is written meanwhile. A page may be older than a write, so a
 * page never replaces an equal or newer version and never brings back a removed memory.
 */
export class ScopeLoading {
  readonly #scope: ResidentScope;
  readonly #removed = new Set<string>();
  readonly #links = new Map<string, BlobLink>();

  constructor(scope: ResidentScope) {
    this.#scope = scope;
  }

  /** Adds a page. Throws as {@linkcode ResidentScope.put}. */
  addPage(entries: readonly IndexEntry[]): void {
    const fresh = entries.filter(({ id, version }) => {
      return !this.#removed.has(id) && (this.#scope.get(id)?.version ?? 0) < version;
    });
    // One buffer for all payloads: thousands would keep the collection of garbage busy.
    const payloads = new Uint8Array(fresh.reduce((sum, { payload }) => sum + payload.length, 0));
    let at = 0;
    for (const entry of entries) {
      const { id, version, blobId } = entry;
      if (this.#removed.has(id)) continue;
      const known = this.#scope.get(id);
      if (known === undefined || known.version < version) {
        const { length } = entry.payload;
        const payload = payloads.subarray(at, at += length);
        payload.set(entry.payload);
        this.#scope.put(entry, length === 0 ? undefined : payload);
      } else if (known.blobId === undefined && blobId !== undefined) {
        this.#scope.link({ id, version, blobId });
      }
      const link = this.#links.get(id);
      if (link !== undefined) this.#scope.link(link);
    }
  }

  /** Notes a memory's blob, also of a memory whose page is still to come. */
  link(link: BlobLink): void {
    const waiting = this.#links.get(link.id);
    if (this.#scope.link(link) || (waiting !== undefined && waiting.version > link.version)) return;
    this.#links.set(link.id, link);
  }

  /** Removes a memory, also from the pages still to come. */
  remove(id: string): void {
    this.#scope.remove(id);
    this.#removed.add(id);
  }
}
