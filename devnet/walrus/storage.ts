import type { Faults } from "../faults.ts";
import { BlobIndex } from "./blob_index.ts";
import { type Certificate, confirmationMessage } from "./committee.ts";
import { Contents } from "./contents.ts";
import type { Files } from "./files.ts";
import type { BlobContent } from "./layouts.ts";
import type { WalrusSystem } from "./system.ts";

/** How a blob object wants its blob kept, as storage nodes confirm it. */
export interface Persistence {
  /** The object of a deletable blob; undefined: permanent. */
  readonly objectId: string | undefined;
}

/** The storage nodes together: contents, what the chain says of them, and certificates. */
export class BlobStorage implements Disposable {
  /** The package on chain. */
  readonly system: WalrusSystem;
  /** Blob objects by blob id. */
  readonly index: BlobIndex;
  /** Bytes, metadata and slivers. */
  readonly contents: Contents;
  readonly #faults: Faults;

  /** @param files Where the contents are kept. */
  constructor(system: WalrusSystem, files: Files, faults: Faults) {
    this.system = system;
    this.#faults = faults;
    this.index = new BlobIndex(system.chain, system.type("blob::Blob"));
    this.contents = new Contents(files, system.committee);
  }

  /** The certified objects of a blob in the present epoch; empty: it is not on Walrus. */
  available(blobId: string): BlobContent[] {
    return this.index.available(blobId, this.system.epoch);
  }

  /** Whether the chain has an object that a node may confirm the blob for. */
  isRegistered(blobId: string, { objectId }: Persistence): boolean {
    return this.index.registered(blobId, this.system.epoch).some((blob) =>
      objectId === undefined ? !blob.deletable : blob.deletable && blob.id === objectId
    );
  }

  /** A blob that can be read in the present epoch. */
  async read(blobId: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.available(blobId).length === 0 ? undefined : await this.contents.bytes(blobId);
  }

  /** The message that nodes sign for a blob in the present epoch. */
  message(blobId: string, { objectId }: Persistence): Uint8Array {
    return confirmationMessage(this.system.epoch, blobId, objectId);
  }

  /**
   * Certificate of all nodes that can be reached and do not lie, for a registered blob that is
   * stored; undefined when they are no quorum.
   */
  certificate(blobId: string, persistence: Persistence): Certificate | undefined {
    if (!this.isRegistered(blobId, persistence)) return undefined;
    const { committee } = this.system;
    const signers = committee.nodes.map(({ index }) => index)
      .filter((index) => !this.#isLost(`node:${index}`));
    if (!committee.isQuorum(signers)) return undefined;
    return committee.certify(signers, this.message(blobId, persistence));
  }

  #isLost(endpoint: string): boolean {
    const kind = this.#faults.get(endpoint)?.kind;
    return kind !== undefined && kind !== "slow" && kind !== "lost";
  }

  /** Ends the encoder. */
  [Symbol.dispose](): void {
    this.contents[Symbol.dispose]();
  }
}
