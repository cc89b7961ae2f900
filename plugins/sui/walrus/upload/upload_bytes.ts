import { createHash } from "node:crypto";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import { replaceFile } from "../../../../src/replace_file.ts";
import { toColumn } from "../../../../src/storage/sqlite/database.ts";
import { TOMBSTONE_IDENTIFIER } from "../stored_blob.ts";
import type { Chain } from "./chain.ts";
import type { EncodedBlob, Encoder } from "./encoder.ts";
import { StepFailure } from "./failure.ts";
import type { ItemRows } from "./item_rows.ts";
import type { Upload } from "./upload.ts";

/** What names the file of a blob on its way. */
type FileOwner = Scope & { readonly seq: number; readonly key?: string };

/** Blobs on their way, one file (0600) each; written off the event loop, durable once written. */
export class BlobFiles {
  readonly #folder: string;

  /** Keeps them in the folder `walrus` of the data directory. */
  constructor(dataDir: string) {
    this.#folder = `${dataDir}/walrus`;
  }

  /** Writes a blob, in place of one that is there. */
  async write(owner: FileOwner, bytes: Uint8Array): Promise<void> {
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#path(owner);
    const part = `${path}.part`;
    {
      using file = await Deno.open(part, {
        write: true,
        create: true,
        truncate: true,
        mode: 0o600,
      });
      for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
      await file.sync();
    }
    await replaceFile(part, path);
    // The new name must survive a power cut, too.
    if (Deno.build.os !== "windows") {
      using folder = await Deno.open(this.#folder);
      await folder.sync();
    }
  }

  /** Returns `undefined` when the blob has no file. */
  async read(owner: FileOwner): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return await existing(Deno.readFile(this.#path(owner)));
  }

  async remove(owner: FileOwner): Promise<void> {
    await existing(Deno.remove(this.#path(owner)));
  }

  /** Removes the files of all blobs but these; files that cannot be removed stay. */
  async sweep(owners: readonly FileOwner[]): Promise<void> {
    const kept = new Set(owners.map((owner) => this.#path(owner)));
    try {
      for await (const { name } of Deno.readDir(this.#folder)) {
        const path = `${this.#folder}/${name}`;
        if (/\.blob(\.part)?$/.test(name) && !kept.has(path)) await Deno.remove(path);
      }
    } catch {
      // Either there is no folder yet, or it cannot be written, which the next write reports.
    }
  }

  /** A blob with a key is written before it has a number, so the key names its file. */
  #path({ seq, key, owner, namespace }: FileOwner): string {
    if (key === undefined) return `${this.#folder}/${seq}.blob`;
    const hash = createHash("sha256");
    for (const part of [owner, namespace, key].map(toColumn)) {
      hash.update(`${part.length}\n`).update(part);
    }
    return `${this.#folder}/${hash.digest("hex")}.blob`;
  }
}

async function existing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

interface UploadBytesParts {
  readonly items: ItemRows;
  readonly encoder: Encoder;
  readonly files: BlobFiles;
  readonly chain: Pick<Chain, "state">;
}

/**
 * Makes the blobs of uploads out of their items and keeps them in files until they are stored.
 * Calls throw {@linkcode StepFailure}.
 */
export class UploadBytes {
  readonly #parts: UploadBytesParts;

  constructor(parts: UploadBytesParts) {
    this.#parts = parts;
  }

  /** Encodes a blob and writes its file. */
  async make(upload: Upload): Promise<EncodedBlob> {
    const made = await this.#encode(upload);
    if (upload.key === undefined) await disk(this.#parts.files.write(upload, made.blob));
    return made;
  }

  /** Reads a blob that was made; one that was lost or cut off is made again from its items. */
  async read(upload: Upload): Promise<Uint8Array<ArrayBuffer>> {
    const { files } = this.#parts;
    const blob = await disk(files.read(upload));
    if (blob?.length === upload.encoded!.size) return blob;
    const made = upload.key === undefined ? await this.#encode(upload) : undefined;
    if (made?.blobId !== upload.encoded!.blobId) throw missing();
    await disk(files.write(upload, made.blob));
    return new Uint8Array(made.blob);
  }

  async #encode(upload: Upload): Promise<EncodedBlob> {
    const { chain, items, encoder, files } = this.#parts;
    const { shards } = await chain.state();
    if (upload.key !== undefined) {
      const blob = await disk(files.read(upload));
      if (blob !== undefined) return await encoder.encode({ shards, blob });
      throw missing();
    }
    const sources = items.bytesOf(upload.seq);
    if (!upload.quilt) return await encoder.encode({ shards, blob: sources[0]!.bytes });
    const bytes = new TextEncoder().encode(upload.tombstones.join("\n"));
    const deleted = bytes.length === 0 ? [] : [{ identifier: TOMBSTONE_IDENTIFIER, bytes }];
    return await encoder.encode({ shards, patches: [...sources, ...deleted] });
  }
}

function missing(): StepFailure {
  return new StepFailure("unreachable", "disk", "a saved blob is missing");
}

async function disk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    throw StepFailure.of("disk", thrown);
  }
}
