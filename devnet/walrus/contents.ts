import type { Committee, StorageNode } from "./committee.ts";
import { type Encoded, Encoder, type Identity } from "./encoder.ts";
import type { Files } from "./files.ts";
import { EncodedMetadata } from "./layouts.ts";
import { pairOfShard, sourceSymbols } from "./sizes.ts";

/** One of the two dimensions of a sliver pair. */
export type SliverKind = "primary" | "secondary";

/** How many encoded blobs are kept at hand. */
const ENCODED_KEPT = 4;

/**
 * What the storage nodes hold: whole blobs that came through a relay or a publisher, and metadata
 * and slivers that a client sent to the nodes itself. Each is made of the other on demand.
 */
export class Contents implements Disposable {
  readonly #files: Files;
  readonly #encoder: Encoder;
  readonly #committee: Committee;
  readonly #encoded = new Map<string, Promise<Encoded>>();

  /** @param files Where they are kept. */
  constructor(files: Files, committee: Committee) {
    this.#files = files;
    this.#committee = committee;
    this.#encoder = new Encoder(committee.shards);
  }

  /** The id and root hash of a blob. */
  identify(bytes: Uint8Array): Promise<Identity> {
    return this.#encoder.identify(bytes);
  }

  /** Stores a whole blob. */
  put(blobId: string, bytes: Uint8Array): Promise<void> {
    return this.#files.put(blobId, bytes);
  }

  /** A blob's bytes: stored whole, or decoded of its slivers; undefined when they do not suffice. */
  async bytes(blobId: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const whole = await this.#files.get(blobId);
    if (whole !== undefined) return whole;
    const decoded = await this.#decode(blobId);
    if (decoded === undefined) return undefined;
    await this.put(blobId, decoded);
    return decoded;
  }

  async #decode(blobId: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const metadata = await this.#anyMetadata(blobId);
    if (metadata === undefined) return undefined;
    const slivers: Uint8Array[] = [];
    const { primary } = sourceSymbols(this.#committee.shards);
    for (let pair = 0; pair < this.#committee.shards && slivers.length < primary; pair++) {
      const sliver = await this.#files.get(sliverName(blobId, pair, "primary"));
      if (sliver !== undefined) slivers.push(sliver);
    }
    if (slivers.length < primary) return undefined;
    try {
      const size = Number(EncodedMetadata.parse(metadata).V1.unencoded_length);
      const bytes = new Uint8Array(await this.#encoder.decode(blobId, size, slivers));
      return (await this.identify(bytes)).blobId === blobId ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  async #anyMetadata(blobId: string): Promise<Uint8Array | undefined> {
    for (const { index } of this.#committee.nodes) {
      const metadata = await this.#files.get(metadataName(blobId, index));
      if (metadata !== undefined) return metadata;
    }
    return undefined;
  }

  async #encode(blobId: string): Promise<Encoded | undefined> {
    const kept = this.#encoded.get(blobId);
    if (kept !== undefined) return await kept;
    const bytes = await this.#files.get(blobId);
    if (bytes === undefined) return undefined;
    const encoded = this.#encoder.encode(bytes);
    this.#encoded.set(blobId, encoded);
    const [oldest] = this.#encoded.keys();
    if (this.#encoded.size > ENCODED_KEPT && oldest !== undefined) this.#encoded.delete(oldest);
    return await encoded;
  }

  /** Stores the metadata that a client sent to a node. */
  putMetadata(blobId: string, node: number, bytes: Uint8Array): Promise<void> {
    return this.#files.put(metadataName(blobId, node), bytes);
  }

  /** BCS of a blob's metadata at a node. */
  async metadata(blobId: string, node: number): Promise<Uint8Array | undefined> {
    return await this.#files.get(metadataName(blobId, node)) ??
      (await this.#encode(blobId))?.metadata;
  }

  /** Stores a sliver that a client sent. */
  putSliver(blobId: string, pair: number, kind: SliverKind, bytes: Uint8Array): Promise<void> {
    return this.#files.put(sliverName(blobId, pair, kind), bytes);
  }

  /** BCS of a sliver. */
  async sliver(blobId: string, pair: number, kind: SliverKind): Promise<Uint8Array | undefined> {
    return await this.#files.get(sliverName(blobId, pair, kind)) ??
      (await this.#encode(blobId))?.[kind][pair];
  }

  /** Whether a sliver was sent, or can be made. */
  async hasSliver(blobId: string, pair: number, kind: SliverKind): Promise<boolean> {
    return await this.#files.get(sliverName(blobId, pair, kind)) !== undefined ||
      await this.#files.get(blobId) !== undefined;
  }

  /** Whether a node has all that it must store of a blob. */
  async isStoredAt(blobId: string, node: StorageNode): Promise<boolean> {
    if (await this.#files.get(blobId) !== undefined) return true;
    if (await this.#files.get(metadataName(blobId, node.index)) === undefined) return false;
    for (const shard of node.shards) {
      const pair = pairOfShard(shard, blobId, this.#committee.shards);
      for (const kind of ["primary", "secondary"] as const) {
        if (await this.#files.get(sliverName(blobId, pair, kind)) === undefined) return false;
      }
    }
    return true;
  }

  /** Ends the encoder. */
  [Symbol.dispose](): void {
    this.#encoder[Symbol.dispose]();
  }
}

function metadataName(blobId: string, node: number): string {
  return `${blobId}.metadata.${node}`;
}

function sliverName(blobId: string, pair: number, kind: SliverKind): string {
  return `${blobId}.${kind}.${pair}`;
}
