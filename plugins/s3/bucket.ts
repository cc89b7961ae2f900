import { createHash } from "node:crypto";
import { abortable } from "../../src/deadline.ts";
import { SvcError } from "../../src/errors.ts";
import type { BackendHealth, CallOptions } from "../../src/interfaces/mod.ts";
import { unavailable } from "../shared/upstream_failure.ts";
import { keepsVersions, type ListedPage, listedPage } from "./answers.ts";
import { type BucketAddress, type RequestBounds, Requests, S3Failure } from "./requests.ts";

/** Largest object that is read: more than twice the largest record. */
const MOST_BYTES = 16 * 2 ** 20;
/** Most bytes of a page of a list, which names a thousand objects. */
const PAGE_BYTES = 4 * 2 ** 20;
/** Where the SHA-256 of an object stands beside it, as hex. */
const DIGEST = "x-amz-meta-sha256";

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** What answers is reached, and talks of something else than what was asked. */
export function strange(): SvcError {
  const text = "The object storage's answer cannot be used";
  return unavailable("storage_unavailable", new S3Failure(text));
}

/**
 * The calls of S3 that a store of objects needs. Whatever answers must prove that it did what was
 * asked: a proxy that says 200 to everything stores nothing.
 *
 * Every call rejects with {@linkcode SvcError} `storage_unavailable` and with the reason of its signal.
 */
export class Bucket {
  readonly #requests: Requests;
  readonly #probe: string;
  #conditional: Promise<boolean> | undefined;

  /** @param probe Name of an object that tells whether the bucket refuses to overwrite. */
  constructor(address: BucketAddress, bounds: RequestBounds, probe: string) {
    this.#requests = new Requests(address, bounds);
    this.#probe = probe;
  }

  /** What the last calls say about the server. */
  get health(): BackendHealth {
    return this.#requests.health;
  }

  /** Throws the signal's reason when it was aborted, or `storage_unavailable` once closed. */
  check(signal: AbortSignal | undefined): void {
    this.#requests.check(signal);
  }

  /** Ends every call. */
  close(): void {
    this.#requests.close();
  }

  /** The object's bytes as they were stored; `undefined` when there is none. */
  async get(name: string, { signal }: CallOptions = {}): Promise<Uint8Array | undefined> {
    const { status, headers, bytes } = await this.#requests.send({
      method: "GET",
      name,
      maxBytes: MOST_BYTES,
      accepts: ["404 NoSuchKey"],
      signal,
    });
    if (status === 404) return undefined;
    if (headers.get(DIGEST) !== sha256(bytes)) throw strange();
    return bytes;
  }

  /** Stores an object unless one of this name is there; answers whether it stored it. */
  async add(
    name: string,
    bytes: Uint8Array<ArrayBuffer>,
    { signal }: CallOptions = {},
  ): Promise<boolean> {
    // What finds that out is for every caller: one that leaves does not end it.
    if (await abortable(this.#isConditional(), signal)) {
      return await this.#put(name, bytes, true, signal);
    }
    const { status } = await this.#requests.send({
      method: "HEAD",
      name,
      accepts: ["404"],
      signal,
    });
    return status === 404 && await this.#put(name, bytes, false, signal);
  }

  /** Removes an object, if there is one; answers whether the bucket keeps a version of it. */
  async remove(name: string, { signal }: CallOptions = {}): Promise<boolean> {
    const { headers, bytes, status } = await this.#requests.send({
      method: "DELETE",
      name,
      accepts: ["404 NoSuchKey"],
      signal,
    });
    if (status !== 404 && bytes.length > 0) throw strange();
    return headers.has("x-amz-version-id") || headers.get("x-amz-delete-marker") === "true";
  }

  /** A page of the objects whose names begin with a prefix, in the order of their names. */
  async list(
    prefix: string,
    next: string | undefined,
    { signal }: CallOptions = {},
  ): Promise<ListedPage> {
    const token: Record<string, string> = next === undefined ? {} : { "continuation-token": next };
    const { bytes } = await this.#requests.send({
      method: "GET",
      query: { "list-type": "2", prefix, ...token },
      maxBytes: PAGE_BYTES,
      signal,
    });
    try {
      return listedPage(new TextDecoder().decode(bytes));
    } catch (error) {
      if (error instanceof RangeError) throw strange();
      throw error;
    }
  }

  /**
   * Whether the bucket keeps what is deleted or replaced; `undefined` where it does not say: not every
   * server knows the question, and not every key may ask it.
   */
  async keepsVersions({ signal }: CallOptions = {}): Promise<boolean | undefined> {
    const { status, bytes } = await this.#requests.send({
      method: "GET",
      query: { versioning: "" },
      // Some servers list the bucket instead.
      maxBytes: PAGE_BYTES,
      accepts: ["403 AccessDenied", "400", "405", "501"],
      signal,
    });
    return status === 200 ? keepsVersions(new TextDecoder().decode(bytes)) : undefined;
  }

  async #put(
    name: string,
    bytes: Uint8Array<ArrayBuffer>,
    conditional: boolean,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const answer = await this.#requests.send({
      method: "PUT",
      name,
      body: bytes,
      headers: {
        [DIGEST]: sha256(bytes),
        "content-type": "application/octet-stream",
        ...(conditional ? { "if-none-match": "*" } : {}),
      },
      accepts: conditional ? ["412"] : [],
      signal,
    });
    if (answer.status === 412) return false;
    // An object that is there has a tag, and nothing is said about it besides.
    if (!answer.headers.get("etag") || answer.bytes.length > 0) throw strange();
    return true;
  }

  /** Whether the server refuses to overwrite when it is asked to: found out before the first write. */
  #isConditional(): Promise<boolean> {
    return this.#conditional ??= this.#probeCondition().catch((error) => {
      this.#conditional = undefined;
      throw error;
    });
  }

  async #probeCondition(): Promise<boolean> {
    const bytes = new TextEncoder().encode("svc");
    try {
      // The first start stores it; whoever stores it twice takes no notice of the condition.
      return !await this.#put(this.#probe, bytes, true) ||
        !await this.#put(this.#probe, bytes, true);
    } catch (error) {
      const failure = error instanceof SvcError ? error.cause : undefined;
      const isUnknown = failure instanceof S3Failure &&
        (failure.status === 501 || failure.status === 400);
      if (isUnknown) return false;
      throw error;
    }
  }
}
