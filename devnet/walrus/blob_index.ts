import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "../sui/chain.ts";
import { blobIdText } from "./blob_id.ts";
import { Blob, type BlobContent } from "./layouts.ts";

/** When a blob was certified, and by which transaction. */
export interface Certification {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Digest of the transaction. */
  readonly digest: string;
}

/** Finds the blob objects of a blob id. The chain decides; the index only narrows the search. */
export class BlobIndex {
  readonly #chain: Chain;
  readonly #type: string;
  readonly #objects = new Map<string, Set<string>>();
  readonly #certified = new Map<string, Certification>();

  /** An index of what is on the chain already. @param type Type of blob objects. */
  constructor(chain: Chain, type: string) {
    this.#chain = chain;
    this.#type = type;
    this.reload();
  }

  /** Finds the blob objects that are on the chain already. */
  reload(): void {
    for (const { id, type, bcs } of this.#chain.objects.values()) {
      if (type === this.#type) this.add(blobIdText(Blob.parse(bcs).blob_id), id);
    }
  }

  /** Remembers a blob object; it need not be committed yet. */
  add(blobId: string, objectId: string): void {
    const ids = this.#objects.get(blobId) ?? new Set();
    ids.add(normalizeSuiAddress(objectId));
    this.#objects.set(blobId, ids);
  }

  /** Remembers a certification. */
  certified(blobId: string, certification: Certification): void {
    if (!this.#certified.has(blobId)) this.#certified.set(blobId, certification);
  }

  /** The first certification since this index was made. */
  certification(blobId: string): Certification | undefined {
    return this.#certified.get(blobId);
  }

  /** A blob object by its id; undefined when it is absent or of another type. */
  object(objectId: string): BlobContent | undefined {
    const object = this.#chain.objects.get(normalizeSuiAddress(objectId));
    return object?.type === this.#type ? Blob.parse(object.bcs) : undefined;
  }

  /** The objects of a blob id whose storage is not over in an epoch. */
  registered(blobId: string, epoch: number): BlobContent[] {
    const found: BlobContent[] = [];
    for (const id of this.#objects.get(blobId) ?? []) {
      const blob = this.object(id);
      if (blob !== undefined && blob.storage.end_epoch > epoch) found.push(blob);
    }
    return found;
  }

  /** The certified ones of them: their blob can be read. */
  available(blobId: string, epoch: number): BlobContent[] {
    return this.registered(blobId, epoch).filter((blob) => blob.certified_epoch !== null);
  }
}
