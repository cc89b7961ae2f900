import { createHash } from "node:crypto";
import type { Scope } from "../../src/interfaces/mod.ts";

/** Largest time that a name holds, milliseconds since the epoch: 48 bits. */
const LAST = 2 ** 48 - 1;
/** A UUID of version 7: it begins with the time at which it was made. */
const TIMED = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The time that is left until the last one, a counter within it, whose time it is, and a digest. */
const BLOB_ID = /^([0-9a-f]{12})[0-9a-f]{3}[jn]([\w-]{43})$/;
/** Whose time a blob id has: its key's, as ids of jobs have one, or that of its first noting. */
const KIND = { key: "j", noted: "n" } as const;

/** Each part goes in behind its length, so that no two lists of parts hash alike. */
function digestOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  const length = new Uint8Array(4);
  for (const part of parts) {
    // As UTF-16, which keeps every text apart, also one that is no valid Unicode.
    const bytes = Buffer.from(part, "utf16le");
    new DataView(length.buffer).setUint32(0, bytes.length);
    hash.update(length).update(bytes);
  }
  return hash.digest("base64url");
}

/** A blob id whose name sorts before those of earlier times. */
function idOf(kind: keyof typeof KIND, digest: string, at: number, counter: number): string {
  const before = (LAST - at).toString(16).padStart(12, "0");
  return `${before}${(0xfff - counter).toString(16).padStart(3, "0")}${KIND[kind]}${digest}`;
}

/** When a blob was named, milliseconds since the epoch; `undefined` for what is no blob's id. */
export function timeOf(blobId: string): number | undefined {
  const [, before] = BLOB_ID.exec(blobId) ?? [];
  return before === undefined ? undefined : LAST - Number.parseInt(before, 16);
}

/**
 * Names of objects. Owners, namespaces and keys are in them as SHA-256 only: whoever reads a list of
 * names learns how many blobs belong together, their sizes and times. The newest blob of a scope has
 * the first name, as a bucket lists its names in their order.
 */
export class Names {
  readonly #prefix: string;
  #last = 0;
  #counter = 0;

  /** @param prefix What every name begins with. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** An object that tells whether the bucket refuses to overwrite. */
  get probe(): string {
    return `${this.#prefix}conditional`;
  }

  /** What the names of a scope's blobs begin with. */
  folder(scope: Scope): string {
    return `${this.#scope(scope)}b/`;
  }

  /** The object of a blob. */
  blob(scope: Scope, blobId: string): string {
    return this.folder(scope) + blobId;
  }

  /** The object that says which blob a key has, where the key does not say it itself. */
  note(scope: Scope, digest: string): string {
    return `${this.#scope(scope)}k/${digest}`;
  }

  /** What the name of a key's blob ends with. */
  digest({ owner, namespace }: Scope, key: string): string {
    return digestOf("key", owner, namespace, key);
  }

  /** The object that was noted for a blob's key; `undefined` where the key says it itself. */
  noteOf(scope: Scope, blobId: string): string | undefined {
    const digest = blobId.slice(-43);
    return blobId.at(-44) === KIND.noted ? this.note(scope, digest) : undefined;
  }

  /** The blob id of a key that begins with a time, as ids of jobs do; else `undefined`. */
  fromKey(key: string, digest: string): string | undefined {
    const [, high, low, counter] = TIMED.exec(key) ?? [];
    if (high === undefined || low === undefined || counter === undefined) return undefined;
    return idOf("key", digest, Number.parseInt(high + low, 16), Number.parseInt(counter, 16));
  }

  /** A new blob id, later than those before it. */
  next(digest: string, now: number): string {
    const at = Math.max(this.#last, now);
    this.#counter = at === this.#last ? this.#counter + 1 : 0;
    if (this.#counter > 0xfff) this.#counter = 0;
    // A full counter borrows the next millisecond.
    this.#last = at === this.#last && this.#counter === 0 ? at + 1 : at;
    return idOf("noted", digest, this.#last, this.#counter);
  }

  #scope({ owner, namespace }: Scope): string {
    return `${this.#prefix}${digestOf("scope", owner, namespace)}/`;
  }
}
