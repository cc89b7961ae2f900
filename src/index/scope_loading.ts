import type { BlobLink, IndexEntry } from "../interfaces/mod.ts";
import type { ResidentScope } from "./resident_scope.ts";

/**
 * Merges the pages of a scan with what is written meanwhile. A page may be older than a write that
 * was seen already, so that a page never replaces an equal or newer version and never brings back
 * what was removed.
 */
export class ScopeLoading {
  readonly #scope: ResidentScope;
  readonly #removed = new Set<string>();
  readonly #links = new Map<string, BlobLink>();

  /** Fills a scope. */
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
