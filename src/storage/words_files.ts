import type { Scope } from "../interfaces/mod.ts";
import { KeyLock } from "../key_lock.ts";
import { replaceFile } from "../replace_file.ts";
import { scopeKey } from "../interfaces/scope_key.ts";

/**
 * The analysed words of each scope on disk: the first recall after a start need not open and
 * analyse every memory. One file a scope, readable by its owner alone, sealed as memories are, with
 * the account's keys: whoever opens one needs what opens a memory. They can be lost and are not
 * synced, since the memories hold the same.
 */
export class WordsFiles implements AsyncDisposable {
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

  async read(scope: Scope): Promise<Uint8Array | undefined> {
    if (this.#path === undefined) return undefined;
    const name = this.#name(scope);
    const file = `${this.#path}/${name}`;
    return await this.#lock.hold(name, () => readWhole(file).catch(() => undefined));
  }

  /** Writes the file, unless the scope was dropped since it had been dropped `drops` times. */
  async write(
    scope: Scope,
    drops: number,
    make: () => AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const path = this.#path;
    if (path === undefined || this.#closed) return;
    const isWanted = () => this.drops(scope) === drops;
    await this.#change(scope, async (name) => {
      if (!isWanted()) return;
      await Deno.mkdir(path, { recursive: true, mode: 0o700 });
      await (this.#cleaning ??= clean(path));
      const file = `${path}/${name}`;
      try {
        const bytes = ReadableStream.from(whilst(isWanted, make()));
        await Deno.writeFile(`${file}.new`, bytes, { mode: 0o600 });
        if (isWanted()) await replaceFile(`${file}.new`, file);
      } finally {
        await removed(`${file}.new`);
      }
    });
  }

  /** Removes the file of a scope in which something was deleted. */
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
