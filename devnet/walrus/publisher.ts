import { bcs } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { ExecutionFailure } from "../sui/failure.ts";
import { ownedBy } from "../sui/object.ts";
import { apiPath, refusal } from "./answers.ts";
import { type Attributes, writeAttributes } from "./attributes.ts";
import { blobIdNumber, blobIdText, ENCODING_RS2 } from "./blob_id.ts";
import type { Identity } from "./encoder.ts";
import type { WalrusFunctions } from "./functions.ts";
import type { BlobContent } from "./layouts.ts";
import { patchIdText } from "./quilt.ts";
import { readQuiltForm } from "./quilt_form.ts";
import { encodedLength, maxBlobSize, storageUnits } from "./sizes.ts";
import type { BlobStorage, Persistence } from "./storage.ts";
import { MAX_EPOCHS_AHEAD } from "./system.ts";
import type { Wallet } from "./wallet.ts";

/** What tells quilts from other blobs on chain. */
const QUILT: Attributes = new Map([["_walrusBlobType", "quilt"]]);

/** How a blob is to be stored, as the query of a request says. */
interface StoreOptions {
  readonly epochs: number;
  readonly deletable: boolean;
  readonly force: boolean;
  readonly sendTo: string | undefined;
  readonly attributes?: Attributes;
}

/** Result of a stored blob, as Walrus' publisher writes it. */
type StoreResult = Readonly<Record<string, unknown>>;

/** A Walrus publisher: encodes, pays for and stores blobs and quilts with a wallet of its own. */
export class Publisher {
  readonly #storage: BlobStorage;
  readonly #functions: WalrusFunctions;
  readonly #wallet: Wallet;
  #last: Promise<unknown> = Promise.resolve();
  /** Larger blobs are refused with 413. */
  maxBlobSize = 10 * 1024 * 1024;
  /** Larger forms of quilts are refused with 413. */
  maxQuiltSize = 100 * 1024 * 1024;

  /** @param wallet Pays in WAL. */
  constructor(storage: BlobStorage, functions: WalrusFunctions, wallet: Wallet) {
    this.#storage = storage;
    this.#functions = functions;
    this.#wallet = wallet;
  }

  /** Answers a request. @param wrong Another blob's id. */
  async handle(request: Request, wrong: boolean): Promise<Response> {
    const path = apiPath(request);
    if (request.method !== "PUT" || (path !== "/v1/blobs" && path !== "/v1/quilts")) {
      return refusal(404, "no such route", "NO_ROUTE");
    }
    const options = storeOptions(new URL(request.url).searchParams);
    if (typeof options === "string") return refusal(400, options);
    const body = new Uint8Array(await request.arrayBuffer());
    const limit = path === "/v1/blobs" ? this.maxBlobSize : this.maxQuiltSize;
    if (body.length > limit) return new Response("too large", { status: 413 });
    try {
      return path === "/v1/blobs"
        ? Response.json(lie(await this.#store(body, options), wrong))
        : await this.#storeQuilt(request, body, options, wrong);
    } catch (error) {
      if (!(error instanceof ExecutionFailure)) throw error;
      return refusal(500, `the transaction failed: ${error.message}`, "SUI");
    }
  }

  async #storeQuilt(
    request: Request,
    body: Uint8Array<ArrayBuffer>,
    options: StoreOptions,
    wrong: boolean,
  ): Promise<Response> {
    const { shards } = this.#storage.system.committee;
    const form = await readQuiltForm(request, body, shards);
    if (typeof form === "string") return refusal(400, form);
    const identity = await this.#storage.contents.identify(form.quilt);
    const result = await this.#store(form.quilt, { ...options, attributes: QUILT }, identity);
    return Response.json({
      blobStoreResult: lie(result, wrong),
      storedQuiltBlobs: form.patches.map(({ identifier, startIndex, endIndex }) => ({
        identifier,
        quiltPatchId: patchIdText({
          quiltId: wrong ? lieId(identity.blobId) : identity.blobId,
          start: startIndex,
          end: endIndex,
        }),
      })),
    });
  }

  /** One blob after the other: the wallet has one coin. */
  #store(
    bytes: Uint8Array<ArrayBuffer>,
    options: StoreOptions,
    known?: Identity,
  ): Promise<StoreResult> {
    const mine = this.#last.then(async () => {
      const identity = known ?? await this.#storage.contents.identify(bytes);
      return await this.#storeNow(bytes, identity, options);
    });
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  async #storeNow(
    bytes: Uint8Array<ArrayBuffer>,
    identity: Identity,
    options: StoreOptions,
  ): Promise<StoreResult> {
    const { system, contents } = this.#storage;
    const { blobId } = identity;
    if (bytes.length > maxBlobSize(system.committee.shards)) {
      return { error: { blobId, errorMsg: "the blob is too large" } };
    }
    const end = system.epoch + options.epochs;
    const certified = options.force ? undefined : this.#certified(blobId, end, options.deletable);
    if (certified !== undefined) return certified;
    const reused = options.force ? undefined : this.#registered(blobId, end, options.deletable);
    const encoded = encodedLength(bytes.length, system.committee.shards);
    const id = reused?.id ?? this.#register(identity, bytes.length, options);
    const persistence: Persistence = { objectId: options.deletable ? id : undefined };
    await contents.put(blobId, bytes);
    this.#certify(blobId, id, persistence, options.sendTo);
    const blob = this.#storage.index.object(id);
    if (blob === undefined) throw new ExecutionFailure("EFFECTS_TOO_LARGE", "the blob is gone");
    return newlyCreated(
      blob,
      reused === undefined
        ? { registerFromScratch: { encodedLength: encoded, epochsAhead: options.epochs } }
        : { reuseRegistration: { encodedLength: encoded } },
      reused === undefined ? this.#cost(encoded, options.epochs) : 0n,
    );
  }

  #cost(encoded: number, epochs: number): bigint {
    const { storage, write } = this.#storage.system.prices;
    return storageUnits(BigInt(encoded)) * (storage * BigInt(epochs) + write);
  }

  /**
   * A blob that is on Walrus long enough already: any permanent one for a permanent one, a
   * deletable one of the own wallet for a deletable one.
   */
  #certified(blobId: string, end: number, deletable: boolean): StoreResult | undefined {
    const blob = this.#storage.available(blobId).find((each) =>
      each.storage.end_epoch >= end && each.deletable === deletable &&
      (!deletable || this.#owns(each.id))
    );
    if (blob === undefined) return undefined;
    const txDigest = this.#storage.index.certification(blobId)?.digest;
    return {
      alreadyCertified: {
        blobId,
        ...(deletable || txDigest === undefined
          ? { object: blob.id }
          : { event: { txDigest, eventSeq: "0" } }),
        endEpoch: blob.storage.end_epoch,
      },
    };
  }

  /** A registration of the own wallet that was not certified. */
  #registered(blobId: string, end: number, deletable: boolean): BlobContent | undefined {
    const { index, system } = this.#storage;
    return index.registered(blobId, system.epoch).find((blob) =>
      blob.certified_epoch === null && blob.deletable === deletable &&
      blob.storage.end_epoch >= end && this.#owns(blob.id)
    );
  }

  #owns(objectId: string): boolean {
    const owner = this.#storage.system.chain.object(objectId)?.owner;
    return owner?.kind === "address" && owner.address === this.#wallet.address;
  }

  #register(identity: Identity, size: number, options: StoreOptions): string {
    const { epochs, deletable, attributes } = options;
    const { system } = this.#storage;
    const encoded = BigInt(encodedLength(size, system.committee.shards));
    return system.chain.apply(this.#wallet.address, "register_blob", (tx) => {
      const payment = this.#wallet.coin(tx);
      if (payment === undefined) {
        throw new ExecutionFailure("INSUFFICIENT_COIN_BALANCE", "the publisher has no WAL");
      }
      const id = this.#functions.register(tx, {
        storageId: this.#functions.reserve(tx, encoded, epochs, payment),
        blobId: blobIdNumber(identity.blobId) ?? 0n,
        rootHash: BigInt(bcs.u256().parse(identity.rootHash)),
        size: BigInt(size),
        encodingType: ENCODING_RS2,
        deletable,
        payment,
      });
      if (attributes !== undefined) writeAttributes(system, tx, id, attributes);
      return tx.put({ ...tx.get(id), owner: ownedBy(this.#wallet.address) });
    });
  }

  #certify(blobId: string, id: string, persistence: Persistence, sendTo: string | undefined): void {
    const certificate = this.#storage.certificate(blobId, persistence);
    if (certificate === undefined) {
      throw new ExecutionFailure("EFFECTS_TOO_LARGE", "not enough storage nodes confirmed");
    }
    const { signature, message, signers } = certificate;
    const { chain, committee } = this.#storage.system;
    const bitmap = new Uint8Array(Math.ceil(committee.nodes.length / 8));
    for (const signer of signers) {
      bitmap[signer >> 3] = (bitmap[signer >> 3] ?? 0) | 1 << (signer & 7);
    }
    chain.apply(this.#wallet.address, "certify_blob", (tx) => {
      this.#functions.certify(tx, id, { signature, message, bitmap });
      if (sendTo !== undefined) tx.put({ ...tx.get(id), owner: ownedBy(sendTo) });
    });
  }
}

/** The options of a query; a text says what is wrong with them. */
function storeOptions(query: URLSearchParams): StoreOptions | string {
  const epochs = query.get("epochs") ?? "1";
  if (!/^[1-9]\d{0,3}$/.test(epochs)) return "epochs must be a positive number";
  if (Number(epochs) > MAX_EPOCHS_AHEAD) return `epochs must be at most ${MAX_EPOCHS_AHEAD}`;
  const permanent = query.get("permanent") === "true";
  if (permanent && query.get("deletable") === "true") {
    return "the blob cannot be defined as both deletable and permanent";
  }
  const encoding = query.get("encoding_type") ?? "RS2";
  if (encoding !== "RS2") return "the encoding type is not supported";
  if (query.has("share")) return "shared blobs are not supported by this publisher";
  const sendTo = query.get("send_object_to") ?? undefined;
  if (sendTo !== undefined && !/^0x[0-9a-fA-F]{64}$/.test(sendTo)) {
    return "send_object_to must be an address";
  }
  return {
    epochs: Number(epochs),
    deletable: !permanent,
    force: query.get("force") === "true",
    sendTo: sendTo === undefined ? undefined : normalizeSuiAddress(sendTo),
  };
}

function newlyCreated(
  blob: BlobContent,
  resourceOperation: Readonly<Record<string, unknown>>,
  cost: bigint,
): StoreResult {
  return {
    newlyCreated: {
      blobObject: {
        id: blob.id,
        registeredEpoch: blob.registered_epoch,
        blobId: blobIdText(blob.blob_id),
        size: Number(blob.size),
        encodingType: "RS2",
        certifiedEpoch: blob.certified_epoch,
        storage: {
          id: blob.storage.id,
          startEpoch: blob.storage.start_epoch,
          endEpoch: blob.storage.end_epoch,
          storageSize: Number(blob.storage.storage_size),
        },
        deletable: blob.deletable,
      },
      resourceOperation,
      cost: Number(cost),
    },
  };
}

function lieId(blobId: string): string {
  return blobIdText((blobIdNumber(blobId) ?? 0n) ^ 1n);
}

/** The result with another blob id everywhere. */
function lie(result: StoreResult, wrong: boolean): StoreResult {
  if (!wrong) return result;
  return JSON.parse(
    JSON.stringify(
      result,
      (key, value) => key === "blobId" && typeof value === "string" ? lieId(value) : value,
    ),
  );
}
