import type { Scope } from "../interfaces/mod.ts";
import { KeyLock } from "../key_lock.ts";
import { replaceFile } from "../replace_file.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type { SavedWords, WritingHold } from "./saved_words.ts";

/** Bytes before each record: its length, big endian. */
const LENGTH_BYTES = 4;

/** Words on disk: one file a scope, readable by its owner alone, and not synced. */
export class WordsFiles implements SavedWords, AsyncDisposable {
  readonly pauseMs = 30_000;
  readonly isBusy = false;
  readonly leavesDeleted = false;
  readonly #path: string | undefined;
  readonly #hmac: (data: string) => Uint8Array;
  /** How often each scope was dropped; not by file name, which is slow to make for every recall. */
  readonly #drops = new Map<string, number>();
  /** By file: no write overtakes a removal. */
  readonly #lock = new KeyLock();
  #cleaning: Promise<void> | undefined;
  #closed = false;

  /**
   * Touches nothing yet.
   *
   * @param dataDir The relayer's folder; absent: nothing is kept.
   * @param hmac Makes names out of scopes that tell nothing of them.
   */
  constructor(dataDir: string | undefined, hmac: (data: string) => Uint8Array) {
    this.#path = dataDir === undefined ? undefined : `${dataDir}/words`;
    this.#hmac = hmac;
  }

  async read(scope: Scope): Promise<Uint8Array[]> {
    if (this.#path === undefined) return [];
    const name = this.#name(scope);
    const file = `${this.#path}/${name}`;
    return await this.#lock.hold(name, () => readWhole(file).then(recordsOf, () => []));
  }

  async write(
    scope: Scope,
    drops: number,
    make: () => AsyncIterable<Uint8Array>,
    hold: WritingHold,
  ): Promise<void> {
    // Nobody else has these files.
    hold[Symbol.dispose]();
    const path = this.#path;
    if (path === undefined || this.#closed) return;
    const isWanted = () => this.drops(scope) === drops;
    await this.#change(scope, async (name) => {
      if (!isWanted()) return;
      await Deno.mkdir(path, { recursive: true, mode: 0o700 });
      await (this.#cleaning ??= clean(path));
      const file = `${path}/${name}`;
      try {
        const bytes = ReadableStream.from(withLengths(whilst(isWanted, make())));
        await Deno.writeFile(`${file}.new`, bytes, { mode: 0o600 });
        if (isWanted()) await replaceFile(`${file}.new`, file);
      } finally {
        await removed(`${file}.new`);
      }
    });
  }

  async drop(scope: Scope): Promise<void> {
    const path = this.#path;
    if (path === undefined) return;
    this.#drops.set(scopeKey(scope), this.drops(scope) + 1);
    await this.#change(scope, async (name) => {
      // Also what a crash left half written.
      await removed(`${path}/${name}.new`).finally(() => removed(`${path}/${name}`));
    });
  }

  drops(scope: Scope): number {
    return this.#drops.get(scopeKey(scope)) ?? 0;
  }

  /** Finishes what is being written, and takes nothing more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#lock.idle();
  }

  #change(scope: Scope, work: (name: string) => Promise<void>): Promise<void> {
    const name = this.#name(scope);
    return this.#lock.hold(name, () => work(name));
  }

  #name(scope: Scope): string {
    return this.#hmac(scopeKey(scope)).toHex();
  }
}

/** Removes what a crash left half written, before anything is written. */
async function clean(path: string): Promise<void> {
  for await (const { name } of Deno.readDir(path)) {
    if (name.endsWith(".new")) await removed(`${path}/${name}`);
  }
}

/** The items until nobody wants them any more. */
async function* whilst<T>(isWanted: () => boolean, items: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const item of items) {
    if (!isWanted()) return;
    yield item;
  }
}

async function* withLengths(records: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const record of records) {
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, record.length);
    yield length;
    yield record;
  }
}

/** The records of a file; none where it has another format. */
function recordsOf(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at + LENGTH_BYTES;
    if (start > bytes.length) return [];
    at = start + view.getUint32(start - LENGTH_BYTES);
    if (at > bytes.length) return [];
    records.push(bytes.subarray(start, at));
  }
  return records;
}

async function removed(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Reads into a buffer of the right size: `Deno.readFile` holds the event loop longer. */
async function readWhole(path: string): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const bytes = new Uint8Array((await file.stat()).size);
  for (let have = 0; have < bytes.length;) {
    const read = await file.read(bytes.subarray(have));
    if (read === null) throw new Error("The file became shorter");
    have += read;
  }
  return bytes;
}
