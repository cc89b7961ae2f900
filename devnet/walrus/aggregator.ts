import { apiPath, type Bytes, corrupt, notFound, refusal } from "./answers.ts";
import { readAttributes } from "./attributes.ts";
import { blobIdNumber, blobIdText } from "./blob_id.ts";
import { parsePatchId, type PatchEntry, patchIdText, readIndex, readPatch } from "./quilt.ts";
import type { BlobStorage } from "./storage.ts";

/** Attributes of a blob that become headers of its answer by object id. */
const HEADERS = ["content-type", "content-encoding", "content-language", "content-disposition"];

/** How long a cache before the aggregator goes on to say that a new blob is not there. */
export interface FreshMisses {
  /** So many reads of each blob, first. */
  readonly reads?: number;
  /** For so many milliseconds of the chain's time after its certification. */
  readonly ms?: number;
}

/** A Walrus aggregator: reads blobs and patches of quilts over HTTP. */
export class Aggregator {
  readonly #storage: BlobStorage;
  readonly #reads = new Map<string, number>();
  /** Misses of new blobs; none at first. */
  freshMisses: FreshMisses = {};
  /** Larger blobs are refused with 403. */
  maxBlobSize = Infinity;

  /** An aggregator of some storage nodes. */
  constructor(storage: BlobStorage) {
    this.#storage = storage;
  }

  /** Answers a request. @param wrong Other bytes than the blob's. */
  async handle(request: Request, wrong: boolean): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { allow: "GET,HEAD" } });
    }
    const path = apiPath(request);
    const response = await this.#route(path, wrong);
    return request.method === "HEAD" ? new Response(null, response) : response;
  }

  async #route(path: string, wrong: boolean): Promise<Response> {
    const [, version, kind, ...rest] = path.split("/");
    const [first = "", second = "", ...more] = rest.map(decode);
    if (version === "v1" && kind === "blobs") {
      if (rest.length === 1) return await this.#blob(first, wrong);
      if (first === "by-object-id" && rest.length === 2) return await this.#byObject(second, wrong);
      if (first === "by-quilt-patch-id" && rest.length === 2) {
        return await this.#byPatch(second, wrong);
      }
      if (first === "by-quilt-id" && rest.length >= 3) {
        return await this.#byIdentifier(second, more.join("/"), wrong);
      }
    }
    if (version === "v1" && kind === "quilts" && second === "patches" && rest.length === 2) {
      return await this.#patches(first, wrong);
    }
    return refusal(404, "no such route", "NO_ROUTE");
  }

  /** Whether the cache in front still has no such blob. Counts the read. */
  #isMissed(blobId: string): boolean {
    const { reads = 0, ms = 0 } = this.freshMisses;
    const count = this.#reads.get(blobId) ?? 0;
    this.#reads.set(blobId, count + 1);
    if (count < reads) return true;
    const certified = this.#storage.index.certification(blobId)?.at;
    return certified !== undefined && this.#storage.system.chain.now() - certified < ms;
  }

  async #read(blobId: string): Promise<Bytes | Response> {
    if (blobIdNumber(blobId) === undefined) return refusal(400, "the blob ID is not valid");
    if (this.#isMissed(blobId)) return notFound();
    const bytes = await this.#storage.read(blobId);
    if (bytes === undefined) return notFound();
    return bytes.length > this.maxBlobSize
      ? refusal(403, "the blob exceeds the maximum size of this aggregator", "MAX_BLOB_SIZE")
      : bytes;
  }

  async #blob(blobId: string, wrong: boolean, headers: HeadersInit = {}): Promise<Response> {
    const bytes = await this.#read(blobId);
    if (bytes instanceof Response) return bytes;
    return content(wrong ? corrupt(bytes) : bytes, blobId, headers);
  }

  async #byObject(objectId: string, wrong: boolean): Promise<Response> {
    if (!/^0x[0-9a-fA-F]{1,64}$/.test(objectId)) return refusal(400, "the object ID is not valid");
    const { index, system } = this.#storage;
    const blob = index.object(objectId);
    if (blob === undefined) return notFound();
    const attributes = readAttributes(system, blob.id) ?? new Map<string, string>();
    const headers = [...attributes].filter(([name]) => HEADERS.includes(name.toLowerCase()));
    return await this.#blob(blobIdText(blob.blob_id), wrong, headers);
  }

  async #byPatch(patchId: string, wrong: boolean): Promise<Response> {
    const place = parsePatchId(patchId);
    if (place === undefined) return refusal(400, "the quilt patch ID is not valid");
    const wanted = (entry: PatchEntry) => entry.start === place.start && entry.end === place.end;
    return await this.#patch(place.quiltId, wanted, patchId, wrong);
  }

  #byIdentifier(quiltId: string, identifier: string, wrong: boolean): Promise<Response> {
    return this.#patch(quiltId, (entry) => entry.identifier === identifier, quiltId, wrong);
  }

  async #patch(
    quiltId: string,
    wanted: (entry: PatchEntry) => boolean,
    etag: string,
    wrong: boolean,
  ): Promise<Response> {
    const quilt = await this.#read(quiltId);
    if (quilt instanceof Response) return quilt;
    const { shards } = this.#storage.system.committee;
    const entry = readIndex(quilt, shards)?.find(wanted);
    const bytes = entry === undefined ? undefined : readPatch(quilt, shards, entry);
    if (entry === undefined || bytes === undefined) return notFound();
    return content(wrong ? corrupt(bytes) : bytes, etag, {
      "x-quilt-patch-identifier": encodeURIComponent(entry.identifier),
    });
  }

  async #patches(quiltId: string, wrong: boolean): Promise<Response> {
    const quilt = await this.#read(quiltId);
    if (quilt instanceof Response) return quilt;
    const entries = readIndex(quilt, this.#storage.system.committee.shards);
    if (entries === undefined) return refusal(400, "the blob is not a quilt", "NOT_A_QUILT");
    return Response.json(
      entries.slice(wrong ? 1 : 0).map((entry) => ({
        identifier: entry.identifier,
        patch_id: patchIdText({ quiltId, start: entry.start, end: entry.end }),
        tags: Object.fromEntries(entry.tags),
      })),
    );
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function content(bytes: Bytes, etag: string, headers: HeadersInit): Response {
  const all = new Headers(headers);
  if (!all.has("content-type")) all.set("content-type", "application/octet-stream");
  all.set("etag", `"${etag}"`);
  all.set("cache-control", "public, max-age=86400, immutable");
  return new Response(bytes, { headers: all });
}
