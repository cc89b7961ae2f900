import { createHash } from "node:crypto";
import { toColumn } from "../../../../src/storage/sqlite/database.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";

/** What names the file of a blob on its way. */
export type FileOwner = Scope & { readonly seq: number; readonly key?: string };

/** Blobs on their way, one file (0600) each; written off the event loop, durable once written. */
export class BlobFiles {
  readonly #folder: string;

  /** Keeps them in `walrus` of the data directory. */
  constructor(dataDir: string) {
    this.#folder = `${dataDir}/walrus`;
  }

  /** Writes a blob; one that is there is replaced. */
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
    await Deno.rename(part, path);
    // The new name must outlast a power cut, too.
    if (Deno.build.os !== "windows") {
      using folder = await Deno.open(this.#folder);
      await folder.sync();
    }
  }

  /** Reads a blob; `undefined` when it is not there. */
  async read(owner: FileOwner): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      return await Deno.readFile(this.#path(owner));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  /** Removes a blob. */
  async remove(owner: FileOwner): Promise<void> {
    try {
      await Deno.remove(this.#path(owner));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Removes what is left of blobs that are not among these; failing, it leaves them. */
  async sweep(owners: readonly FileOwner[]): Promise<void> {
    const kept = new Set(owners.map((owner) => this.#path(owner)));
    try {
      for await (const { name } of Deno.readDir(this.#folder)) {
        const path = `${this.#folder}/${name}`;
        if (/\.blob(\.part)?$/.test(name) && !kept.has(path)) await Deno.remove(path);
      }
    } catch {
      // There is no folder yet, or it cannot be written; then nothing else can be, and says so.
    }
  }

  /** A blob that is stored once more is written before it has a number. */
  #path({ seq, key, owner, namespace }: FileOwner): string {
    if (key === undefined) return `${this.#folder}/${seq}.blob`;
    const hash = createHash("sha256");
    for (const part of [owner, namespace, key].map(toColumn)) {
      hash.update(`${part.length}\n`).update(part);
    }
    return `${this.#folder}/${hash.digest("hex")}.blob`;
  }
}
