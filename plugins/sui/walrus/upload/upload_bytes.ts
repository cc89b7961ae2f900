import { TOMBSTONE_IDENTIFIER } from "../stored_blob.ts";
import type { BlobFiles } from "./blob_files.ts";
import type { Chain } from "./chain.ts";
import type { EncodedBlob, Encoder } from "./encoding/encoder.ts";
import { StepFailure } from "./failure.ts";
import type { ItemRows } from "./rows/item_rows.ts";
import type { Upload } from "./upload.ts";

/** What {@linkcode UploadBytes} needs. */
export interface UploadBytesParts {
  /** What blobs are made of. */
  readonly items: ItemRows;
  /** Makes them. */
  readonly encoder: Encoder;
  /** Where they are meanwhile. */
  readonly files: BlobFiles;
  /** Knows the shards of the network. */
  readonly chain: Pick<Chain, "shards">;
}

/** The blobs of uploads, in files until they are stored. Calls throw {@linkcode StepFailure}. */
export class UploadBytes {
  readonly #parts: UploadBytesParts;

  /** Takes what it works with. */
  constructor(parts: UploadBytesParts) {
    this.#parts = parts;
  }

  /** Makes a blob, and its file. */
  async make(upload: Upload): Promise<EncodedBlob> {
    const { chain, files } = this.#parts;
    const made = await this.#made(upload, await chain.shards());
    if (upload.key === undefined) await this.#disk(() => files.write(upload, made.blob));
    return made;
  }

  /** A blob that was made. */
  async read(upload: Upload): Promise<Uint8Array<ArrayBuffer>> {
    const blob = await this.#disk(() => this.#parts.files.read(upload));
    return blob?.length === upload.encoded!.size ? blob : await this.#rebuilt(upload);
  }

  /** A file that was lost or cut off is made again from the items, which stay until the blob is done. */
  async #rebuilt(upload: Upload): Promise<Uint8Array<ArrayBuffer>> {
    const { chain, files } = this.#parts;
    const made = upload.key === undefined
      ? await this.#made(upload, await chain.shards())
      : undefined;
    if (made === undefined || made.blobId !== upload.encoded?.blobId) {
      throw new StepFailure("unreachable", "disk", "a saved blob is missing");
    }
    await this.#disk(() => files.write(upload, made.blob));
    return new Uint8Array(made.blob);
  }

  async #made(upload: Upload, shards: number): Promise<EncodedBlob> {
    const { items, encoder, files } = this.#parts;
    if (upload.key !== undefined) {
      const blob = await this.#disk(() => files.read(upload));
      if (blob !== undefined) return await encoder.blob(shards, blob);
      throw new StepFailure("unreachable", "disk", "a saved blob is missing");
    }
    const sources = items.bytesOf(upload.seq);
    if (!upload.quilt) return await encoder.blob(shards, sources[0]!.bytes);
    const bytes = new TextEncoder().encode(upload.tombstones.join("\n"));
    const deleted = bytes.length === 0 ? [] : [{ identifier: TOMBSTONE_IDENTIFIER, bytes }];
    return await encoder.quilt(shards, [...sources, ...deleted]);
  }

  async #disk<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      throw StepFailure.of("disk", thrown);
    }
  }
}
