import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Deadline } from "../../../src/deadline.ts";
import { SvcError } from "../../../src/errors.ts";
import { replaceFile } from "../../../src/replace_file.ts";
import type { Manifest, ModelDescription, ModelFile } from "./description.ts";
import { BrokenModel, fileState, hashFile } from "./files.ts";
import { folderOf, MANIFEST_FILE } from "./folder.ts";
import { type Announced, type Hub, HubFailure, openFile } from "./hub.ts";

/** Longest wait for the next bytes, and first pause before another try, in milliseconds. */
const STALL_MS = 30_000;
const PAUSE_MS = 500;
/** Tries in a row that brought no byte. */
const TRIES = 5;
/** Most bytes of a file of which nobody said how long it is. */
const UNTOLD_BYTES = 4 * 1024 ** 3;

/** How far a model is fetched, in bytes. */
export interface Progress {
  readonly done: number;
  /** Of the files whose size is known. */
  readonly total: number;
}

/** How a model is fetched. */
export interface GetOptions {
  /** Folder of models. */
  readonly modelDir: string;
  readonly hub: Hub;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** A file that was fetched and is what it should be, under its name for the time being. */
interface Fetched extends Required<ModelFile> {
  readonly part: string;
}

/**
 * Fetches a model, and writes beside it what it is. What is there already is not fetched twice, and
 * what was begun is gone on with. Until everything is there and as it should be, there is no model,
 * or the one that was there before.
 *
 * @throws {SvcError} `invalid_parameter` where the hub has no such file, or somebody else is at it;
 * `storage_unavailable` where a file is not what it should be; `embedding_unavailable` where the hub
 * does not answer in time.
 */
export async function getModel(
  description: ModelDescription,
  options: GetOptions,
): Promise<Manifest> {
  const { modelDir, signal = new AbortController().signal } = options;
  const folder = folderOf(modelDir, description.name);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await using _lock = await lock(folder, description.name);
  const sizes = new Map(description.files.map(({ path, bytes = 0 }) => [path, { bytes, done: 0 }]));
  const tell = (path: string, done: number, bytes: number) => {
    sizes.set(path, { bytes, done });
    const all = [...sizes.values()];
    options.onProgress?.({
      done: all.reduce((sum, file) => sum + file.done, 0),
      total: all.reduce((sum, file) => sum + file.bytes, 0),
    });
  };
  const fetched: Fetched[] = [];
  const known: Required<ModelFile>[] = [];
  for (const file of description.files) {
    const there = await fileThere(folder, file);
    if (there !== undefined) {
      known.push(there);
      tell(file.path, there.bytes, there.bytes);
      continue;
    }
    const download = new Download(description, file, folder, options.hub, signal);
    const done = await download.run((bytes, total) => tell(file.path, bytes, total));
    fetched.push(done);
    const { path, bytes, sha256 } = done;
    known.push({ path, bytes, sha256 });
  }
  for (const { part, path } of fetched) await replaceFile(part, `${folder}/${path}`);
  const manifest: Manifest = { ...description, files: known };
  const target = `${folder}/${MANIFEST_FILE}`;
  await Deno.writeTextFile(`${target}.new`, `${JSON.stringify(manifest, null, 2)}\n`);
  await replaceFile(`${target}.new`, target);
  return manifest;
}

/** A lock on the folder of a model, for as long as this process fetches it. */
async function lock(folder: string, name: string): Promise<AsyncDisposable> {
  const file = await Deno.open(`${folder}/.lock`, { create: true, write: true });
  if (await file.tryLock(true)) {
    return { [Symbol.asyncDispose]: () => Promise.resolve(file.close()) };
  }
  file.close();
  throw new SvcError("invalid_parameter", `${name} is being fetched by another process`);
}

/** A file that is there as it should be; without a known checksum nobody can tell. */
async function fileThere(
  folder: string,
  { path, bytes, sha256 }: ModelFile,
): Promise<Required<ModelFile> | undefined> {
  if (bytes === undefined || sha256 === undefined) return undefined;
  const file = { path, bytes, sha256 };
  return await fileState(folder, file) === "ok" ? file : undefined;
}

/** One file on its way into the folder of its model. */
class Download {
  readonly #model: ModelDescription;
  readonly #file: ModelFile;
  readonly #part: string;
  readonly #hub: Hub;
  readonly #signal: AbortSignal;
  #said: Announced | undefined;

  constructor(
    model: ModelDescription,
    file: ModelFile,
    folder: string,
    hub: Hub,
    signal: AbortSignal,
  ) {
    this.#model = model;
    this.#file = file;
    this.#part = `${folder}/${file.path}.part`;
    this.#hub = hub;
    this.#signal = signal;
  }

  /** Takes what is missing, in as many tries as bring something. */
  async run(tell: (done: number, total: number) => void): Promise<Fetched> {
    await Deno.mkdir(this.#part.slice(0, this.#part.lastIndexOf("/")), { recursive: true });
    const { pauseMs = PAUSE_MS } = this.#hub;
    let done = await this.#size();
    let idle = 0;
    while (done === 0 || done !== this.#bytes) {
      const before = done;
      let failure = this.#cutOff();
      try {
        done = await this.#receive(done, tell);
        // Nobody said how long it is: the checksum decides.
        if (done === (this.#bytes ?? done)) break;
      } catch (error) {
        if (!(error instanceof HubFailure)) throw error;
        failure = error;
        done = await this.#size();
      }
      idle = done > before ? 0 : idle + 1;
      if (idle === TRIES) throw failure;
      await pause(pauseMs * 2 ** Math.max(0, idle - 1), undefined, { signal: this.#signal });
    }
    return await this.#verified(done);
  }

  /** Length of the file, where somebody said it. */
  get #bytes(): number | undefined {
    return this.#file.bytes ?? this.#said?.bytes;
  }

  #cutOff(): HubFailure {
    return new HubFailure(`${new URL(this.#hub.url).host} cuts ${this.#file.path} off`);
  }

  /** Bytes that are there; a file that is longer than it should be is begun anew. */
  async #size(): Promise<number> {
    const size = await Deno.stat(this.#part).then((found) => found.size, () => 0);
    return size > (this.#bytes ?? UNTOLD_BYTES) ? 0 : size;
  }

  /** Takes what comes, from a byte on; answers how many bytes are there then. */
  async #receive(from: number, tell: (done: number, total: number) => void): Promise<number> {
    const { stallMs = STALL_MS } = this.#hub;
    const silent = () =>
      new HubFailure(`${new URL(this.#hub.url).host} sent nothing for ${stallMs / 1000} s`);
    using deadline = new Deadline(stallMs, this.#signal, silent);
    const incoming = await openFile(this.#hub, this.#model, this.#file, from, deadline.signal);
    this.#said = incoming;
    const limit = this.#bytes ?? UNTOLD_BYTES;
    const reader = incoming.body.getReader();
    try {
      using file = await Deno.open(this.#part, { create: true, write: true });
      await file.truncate(incoming.start);
      let done = await file.seek(incoming.start, Deno.SeekMode.Start);
      for (;;) {
        deadline.restart();
        const { value, done: isOver } = await read(reader, deadline.signal);
        if (isOver) break;
        done += value.length;
        if (done > limit) throw new BrokenModel(`${this.#file.path} is longer than it should be`);
        await writeAll(file, value);
        tell(done, this.#bytes ?? done);
      }
      await file.syncData();
      return done;
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  /** The file, if its checksum is the one it should have; else it is thrown away. */
  async #verified(bytes: number): Promise<Fetched> {
    const { path } = this.#file;
    const sha256 = createHash("sha256");
    // As git names a file: by its length and its bytes.
    const sha1 = createHash("sha1").update(`blob ${bytes}\0`);
    await hashFile(this.#part, {
      update(part: Uint8Array) {
        sha256.update(part);
        sha1.update(part);
      },
    });
    const found = sha256.digest("hex");
    const expected = this.#file.sha256 ?? this.#said?.sha256;
    const isRight = expected === undefined
      ? sha1.digest("hex") === this.#said?.gitSha1
      : found === expected;
    if (isRight) return { path, bytes, sha256: found, part: this.#part };
    await Deno.remove(this.#part);
    const told = expected ?? this.#said?.gitSha1;
    throw new BrokenModel(
      told === undefined
        ? `The hub does not say the checksum of ${path}: name it in the description`
        : `${path} came broken: its checksum differs. It was thrown away`,
    );
  }
}

/** The next bytes; a connection that ends too early is the hub's failure. */
async function read(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
) {
  try {
    return await reader.read();
  } catch {
    signal.throwIfAborted();
    throw new HubFailure("The connection to the hub was cut");
  }
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
}
