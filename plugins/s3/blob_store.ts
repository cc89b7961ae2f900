import { SvcError } from "../../src/errors.ts";
import type { BackendHealth, BlobInfo, BlobStore, Scope } from "../../src/interfaces/mod.ts";
import type { FileContext } from "../../src/interfaces/plugin.ts";
import { KeyLock } from "../../src/key_lock.ts";
import { Bucket, strange } from "./bucket.ts";
import { Names, timeOf } from "./names.ts";
import { type BucketAddress, type RequestBounds, S3Failure } from "./requests.ts";

/** Settings of {@linkcode s3BlobStore}. */
export interface S3BlobStoreOptions {
  /** Where the bucket is, and who asks. */
  readonly address: BucketAddress;
  /** What every object's name begins with; may end with a slash. */
  readonly prefix: string;
  /** Whether the bucket is asked if it keeps versions (when absent), or is said not to. */
  readonly versions?: "ask" | "none";
  /** Deadlines and pauses where the defaults do not fit. */
  readonly bounds?: Partial<RequestBounds>;
  /** Where notes for the operator go. */
  readonly context?: FileContext;
}

const BOUNDS: RequestBounds = { timeoutMs: 30_000, tries: 3, pauseMs: 250, now: Date.now };
/** Longest wait for the bucket at the start, milliseconds: it is no reason not to start. */
const START_MS = 5_000;

/**
 * Blobs as objects in a bucket of S3 or of a server that is compatible. Several relayers may use one
 * prefix. A server that is down is no reason not to start.
 *
 * @throws {SvcError} `invalid_parameter` when the server answers and refuses credentials or bucket.
 */
export async function s3BlobStore(options: S3BlobStoreOptions): Promise<BlobStore> {
  const { address, context = { log() {} } } = options;
  const { protocol, hostname } = new URL(address.url);
  const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  if (protocol === "http:" && !isHere) {
    context.log("warn", "s3: SVC_S3_ENDPOINT is plain http: what is stored can be read on its way");
  }
  const store = new S3BlobStore(options);
  await store.open(context);
  return store;
}

class S3BlobStore implements BlobStore {
  readonly leavesDeleted = true;
  readonly #bucket: Bucket;
  readonly #names: Names;
  readonly #now: () => number;
  /** Puts of a key go one after the other, where the bucket cannot tell them apart by itself. */
  readonly #lock = new KeyLock();
  /** What the bucket said about it; `undefined` where it does not say. */
  #keepsVersions: boolean | undefined;
  #wasAsked = false;

  constructor({ address, prefix, bounds, versions }: S3BlobStoreOptions) {
    if (versions === "none") {
      this.#keepsVersions = false;
      this.#wasAsked = true;
    }
    const all = { ...BOUNDS, ...bounds };
    this.#names = new Names(prefix);
    this.#bucket = new Bucket(address, all, this.#names.probe);
    this.#now = all.now;
  }

  /** Only a bucket that says so loses what is deleted: any other one may keep versions of it. */
  get erases(): boolean {
    return this.#keepsVersions === false;
  }

  health(): BackendHealth {
    return this.#bucket.health;
  }

  async open(context: FileContext): Promise<void> {
    const signal = AbortSignal.timeout(START_MS);
    try {
      await this.#bucket.list(this.#names.probe, undefined, { signal });
      if (!this.#wasAsked) await this.#askVersions(signal);
    } catch (error) {
      const failure = error instanceof SvcError ? error.cause : undefined;
      if (failure instanceof S3Failure && failure.isLasting) {
        this.#bucket.close();
        throw new SvcError("invalid_parameter", `s3: ${failure.message}`);
      }
      const text = failure instanceof S3Failure
        ? failure.message
        : "The object storage did not answer in time";
      context.log("warn", `s3: ${text}; memories wait until it does`);
      return;
    }
    if (this.#keepsVersions === false) return;
    const text = this.#keepsVersions
      ? "the bucket keeps versions: what is deleted stays in it"
      : "the bucket does not say whether it keeps versions: what is deleted may stay in it";
    context.log("warn", `s3: ${text}`);
  }

  async put(...[bytes, options]: Parameters<BlobStore["put"]>): Promise<string> {
    const { signal, idempotencyKey } = options;
    this.#bucket.check(signal);
    // A copy: the caller may change its bytes meanwhile.
    const kept = new Uint8Array(bytes);
    const scope = { owner: options.owner, namespace: options.namespace };
    const digest = this.#names.digest(scope, idempotencyKey);
    return await this.#lock.hold(digest, async () => {
      const blobId = this.#names.fromKey(idempotencyKey, digest) ??
        await this.#named(scope, digest, signal);
      // What is there already was put under the same key: the first bytes stay.
      await this.#bucket.add(this.#names.blob(scope, blobId), kept, { signal });
      return blobId;
    });
  }

  async get(...[blobId, scope, options]: Parameters<BlobStore["get"]>) {
    this.#bucket.check(options?.signal);
    if (timeOf(blobId) === undefined) return undefined;
    return await this.#bucket.get(this.#names.blob(scope, blobId), options);
  }

  async *list(...[scope, options]: Parameters<BlobStore["list"]>): AsyncGenerator<BlobInfo> {
    const folder = this.#names.folder(scope);
    let next: string | undefined;
    do {
      this.#bucket.check(options?.signal);
      const page = await this.#bucket.list(folder, next, options);
      for (const { name, bytes } of page.objects) {
        options?.signal?.throwIfAborted();
        // A list of something else: to take it for the blobs of a scope would lose some of them.
        if (!name.startsWith(folder)) throw strange();
        const blobId = name.slice(folder.length);
        const createdAt = timeOf(blobId);
        // What somebody else has put there is none of ours.
        if (createdAt !== undefined) yield { blobId, bytes, createdAt };
      }
      if (page.next !== undefined && page.next === next) throw strange();
      next = page.next;
    } while (next !== undefined);
  }

  async delete(...[blobId, scope, options]: Parameters<NonNullable<BlobStore["delete"]>>) {
    this.#bucket.check(options?.signal);
    if (timeOf(blobId) === undefined) return this.erases;
    if (!this.#wasAsked) await this.#askVersions(options?.signal);
    const keeps = await this.#bucket.remove(this.#names.blob(scope, blobId), options);
    // Afterwards: a put of the same key in between finds its name here.
    const note = this.#names.noteOf(scope, blobId);
    if (note !== undefined) await this.#bucket.remove(note, options);
    // Somebody has turned versions on since.
    if (keeps) this.#keepsVersions = true;
    return this.erases;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#bucket.close();
    return this.#lock.idle();
  }

  async #askVersions(signal: AbortSignal | undefined): Promise<void> {
    this.#keepsVersions = await this.#bucket.keepsVersions({ signal });
    this.#wasAsked = true;
  }

  /** The blob id of a key that has no time in it: the first one that was noted for it. */
  async #named(scope: Scope, digest: string, signal: AbortSignal | undefined): Promise<string> {
    const name = this.#names.note(scope, digest);
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    for (let tries = 0; tries < 3; tries++) {
      const blobId = this.#names.next(digest, this.#now());
      const bytes = new TextEncoder().encode(blobId);
      if (await this.#bucket.add(name, bytes, { signal })) return blobId;
      const first = await this.#bucket.get(name, { signal });
      if (first === undefined) continue; // Its blob was deleted meanwhile.
      const noted = text(first);
      if (timeOf(noted) === undefined || !noted.endsWith(digest)) throw strange();
      return noted;
    }
    throw new SvcError("storage_unavailable", "The blob is being deleted");
  }
}
