import { apiPath, corrupt, refusal, success } from "./answers.ts";
import { blobIdNumber } from "./blob_id.ts";
import type { SliverKind } from "./contents.ts";
import { EncodedMetadata } from "./layouts.ts";
import { bcs } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { shardOfPair } from "./sizes.ts";
import type { BlobStorage, Persistence } from "./storage.ts";

const GONE = "the requested blob or sliver is not stored here";

function absent(): Response {
  return refusal(404, GONE, "NOT_FOUND");
}

/** One storage node over HTTP: metadata, slivers, status and confirmations of its shards. */
export class StorageNodeApi {
  readonly #storage: BlobStorage;
  readonly #index: number;

  /** @param index Place of the node in the committee. */
  constructor(storage: BlobStorage, index: number) {
    this.#storage = storage;
    this.#index = index;
  }

  /** Answers a request. @param wrong Altered slivers, and signatures of other messages. */
  async handle(request: Request, wrong: boolean): Promise<Response> {
    const [, version, kind, blobId = "", resource, ...rest] = apiPath(request).split("/");
    if (version !== "v1" || kind !== "blobs") return refusal(404, "no such route", "NO_ROUTE");
    if (blobIdNumber(blobId) === undefined) return refusal(400, "the blob ID is not valid");
    const isPut = request.method === "PUT";
    switch (resource) {
      case "status":
        return this.#status(blobId);
      case "metadata":
        if (rest[0] === "status") return await this.#metadataStatus(blobId);
        return isPut ? await this.#putMetadata(blobId, request) : await this.#metadata(blobId);
      case "slivers":
        return await this.#slivers(blobId, rest, request, wrong);
      case "confirmation":
        return await this.#confirmation(blobId, rest, wrong);
      default:
        return refusal(404, "no such route", "NO_ROUTE");
    }
  }

  #isKnown(blobId: string): boolean {
    const { index, system } = this.#storage;
    return index.registered(blobId, system.epoch).length > 0;
  }

  #status(blobId: string): Response {
    const { index, system } = this.#storage;
    const blobs = index.registered(blobId, system.epoch);
    if (blobs.length === 0) return success("nonexistent");
    const deletable = blobs.filter((blob) => blob.deletable);
    const deletableCounts = {
      count_deletable_total: deletable.length,
      count_deletable_certified: deletable.filter((blob) => blob.certified_epoch !== null).length,
    };
    const certifiedEpochs = blobs.map((blob) => blob.certified_epoch)
      .filter((epoch) => epoch !== null);
    const initialCertifiedEpoch = certifiedEpochs.length === 0
      ? null
      : Math.min(...certifiedEpochs);
    const permanent = blobs.filter((blob) => !blob.deletable)
      .sort((a, b) => b.storage.end_epoch - a.storage.end_epoch)[0];
    if (permanent === undefined) {
      return success({ deletable: { initialCertifiedEpoch, deletableCounts } });
    }
    return success({
      permanent: {
        endEpoch: permanent.storage.end_epoch,
        isCertified: permanent.certified_epoch !== null,
        statusEvent: {
          txDigest: index.certification(blobId)?.digest ?? "",
          eventSeq: "0",
        },
        deletableCounts,
        initialCertifiedEpoch,
      },
    });
  }

  async #metadataStatus(blobId: string): Promise<Response> {
    const metadata = await this.#storage.contents.metadata(blobId, this.#index);
    return success(metadata === undefined ? "Nonexistent" : "Stored");
  }

  async #putMetadata(blobId: string, request: Request): Promise<Response> {
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (!this.#isKnown(blobId)) {
      return refusal(400, "the blob is not registered", "NOT_REGISTERED");
    }
    try {
      const { hashes } = EncodedMetadata.parse(bytes).V1;
      if (hashes.length !== this.#storage.system.committee.shards) throw new RangeError("shards");
    } catch {
      return refusal(400, "the metadata is not valid", "INVALID_METADATA");
    }
    await this.#storage.contents.putMetadata(blobId, this.#index, bytes);
    return success("the metadata was successfully stored");
  }

  async #metadata(blobId: string): Promise<Response> {
    if (this.#storage.available(blobId).length === 0) return absent();
    const metadata = await this.#storage.contents.metadata(blobId, this.#index);
    if (metadata === undefined) return absent();
    const id = bcs.u256().serialize(blobIdNumber(blobId) ?? 0n).toBytes();
    return new Response(new Blob([id, new Uint8Array(metadata)]), {
      headers: { "content-type": "application/octet-stream" },
    });
  }

  #holds(blobId: string, pair: number): boolean {
    const { committee } = this.#storage.system;
    return committee.nodeOf(shardOfPair(pair, blobId, committee.shards))?.index === this.#index;
  }

  async #slivers(
    blobId: string,
    [pairText = "", kind, status]: readonly string[],
    request: Request,
    wrong: boolean,
  ): Promise<Response> {
    const pair = Number(pairText);
    if ((kind !== "primary" && kind !== "secondary") || !/^\d+$/.test(pairText)) {
      return refusal(400, "the sliver index or type is not valid");
    }
    if (!this.#holds(blobId, pair)) {
      return refusal(421, "the shard of this sliver is not stored here", "WRONG_SHARD");
    }
    const { contents } = this.#storage;
    if (status === "status") {
      return success(await contents.hasSliver(blobId, pair, kind) ? "Stored" : "Nonexistent");
    }
    if (request.method === "PUT") return await this.#putSliver(blobId, pair, kind, request);
    if (this.#storage.available(blobId).length === 0) return absent();
    const sliver = await contents.sliver(blobId, pair, kind);
    if (sliver === undefined) return absent();
    // The last four bytes are the symbol size and the index: the lie is in the symbols before.
    const bytes = new Uint8Array(sliver);
    if (wrong) bytes.set(corrupt(bytes.subarray(0, -4)));
    return new Response(bytes, { headers: { "content-type": "application/octet-stream" } });
  }

  async #putSliver(
    blobId: string,
    pair: number,
    kind: SliverKind,
    request: Request,
  ): Promise<Response> {
    const { contents } = this.#storage;
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (await contents.metadata(blobId, this.#index) === undefined) {
      return refusal(400, "the metadata must be stored first", "MISSING_METADATA");
    }
    await contents.putSliver(blobId, pair, kind, bytes);
    return success("the sliver was successfully stored");
  }

  async #confirmation(
    blobId: string,
    [kind, object]: readonly string[],
    wrong: boolean,
  ): Promise<Response> {
    if (kind !== "permanent" && (kind !== "deletable" || object === undefined)) {
      return refusal(404, "no such route", "NO_ROUTE");
    }
    const persistence: Persistence = {
      objectId: object === undefined ? undefined : normalizeSuiAddress(object),
    };
    const { committee } = this.#storage.system;
    const node = committee.nodes[this.#index];
    if (
      node === undefined || !this.#storage.isRegistered(blobId, persistence) ||
      !await this.#storage.contents.isStoredAt(blobId, node)
    ) {
      return absent();
    }
    const message = this.#storage.message(blobId, persistence);
    const signature = committee.sign(this.#index, wrong ? corrupt(message) : message);
    return success({
      signed: { serializedMessage: message.toBase64(), signature: signature.toBase64() },
    });
  }
}
