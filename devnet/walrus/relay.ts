import { normalizeSuiAddress } from "@mysten/sui/utils";
import { sha256 } from "@noble/hashes/sha2.js";
import { SUI_TYPE } from "../sui/coin.ts";
import { concat, normalizeType } from "../sui/object.ts";
import { apiPath } from "./answers.ts";
import { blobIdNumber, fromUrlBase64, toUrlBase64 } from "./blob_id.ts";
import { bcs } from "@mysten/sui/bcs";
import { encodedLength, maxBlobSize } from "./sizes.ts";
import type { BlobStorage } from "./storage.ts";

/** What a relay wants to be paid, in MIST. */
export type Tip =
  | { readonly kind: "const"; readonly amount: bigint }
  /** A base and a price per KiB of the encoded length. */
  | { readonly kind: "linear"; readonly base: bigint; readonly perEncodedKib: bigint };

/** How old the paying transaction may be, in milliseconds. */
const FRESHNESS = 3_600_000;

/** A request is refused: the status and the text the relay answers with. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A Walrus upload relay: encodes a registered blob, stores it and returns the certificate. */
export class UploadRelay {
  readonly #storage: BlobStorage;
  /** Address that gets the tips. */
  readonly tipAddress: string;
  /** What it wants to be paid; undefined: nothing. */
  tip: Tip | undefined;

  /** A relay in front of some storage nodes. */
  constructor(storage: BlobStorage, tipAddress: string, tip: Tip | undefined) {
    this.#storage = storage;
    this.tipAddress = normalizeSuiAddress(tipAddress);
    this.tip = tip;
  }

  /** Answers a request. @param wrong A certificate that does not verify. */
  async handle(request: Request, wrong: boolean): Promise<Response> {
    const path = apiPath(request);
    if (path === "/v1/tip-config" && request.method === "GET") return this.#tipConfig();
    if (path !== "/v1/blob-upload-relay" || request.method !== "POST") {
      return new Response("not found", { status: 404 });
    }
    try {
      return await this.#upload(request, wrong);
    } catch (error) {
      if (error instanceof Refused) return new Response(error.message, { status: error.status });
      throw error;
    }
  }

  #tipConfig(): Response {
    const { tip } = this;
    if (tip === undefined) return Response.json("no_tip");
    const kind = tip.kind === "const" ? { const: Number(tip.amount) } : {
      linear: { base: Number(tip.base), encoded_size_mul_per_kib: Number(tip.perEncodedKib) },
    };
    return Response.json({ send_tip: { address: this.tipAddress, kind } });
  }

  async #upload(request: Request, wrong: boolean): Promise<Response> {
    const query = new URL(request.url).searchParams;
    const blobId = query.get("blob_id") ?? "";
    const number = blobIdNumber(blobId);
    if (number === undefined) throw new Refused(400, "the blob ID is not valid");
    const bytes = new Uint8Array(await request.arrayBuffer());
    const { shards } = this.#storage.system.committee;
    if (bytes.length > maxBlobSize(shards)) throw new Refused(400, "the data is too large");
    this.#checkPayment(query, bytes);
    const identity = await this.#storage.contents.identify(bytes);
    if (identity.blobId !== blobId) {
      throw new Refused(400, "the provided blob ID and that of the encoded blob do not match");
    }
    const object = query.get("deletable_blob_object");
    const persistence = { objectId: object === null ? undefined : normalizeSuiAddress(object) };
    if (!this.#storage.isRegistered(blobId, persistence)) {
      throw new Refused(500, "internal client error");
    }
    await this.#storage.contents.put(blobId, bytes);
    const certificate = this.#storage.certificate(blobId, persistence);
    if (certificate === undefined) throw new Refused(500, "internal client error");
    const { committee } = this.#storage.system;
    const { signers, message } = certificate;
    const signature = wrong
      ? committee.certify(signers, message.toReversed()).signature
      : certificate.signature;
    return Response.json({
      blob_id: [...bcs.u256().serialize(number).toBytes()],
      confirmation_certificate: {
        signers,
        serialized_message: [...message],
        signature: toUrlBase64(signature),
      },
    });
  }

  #price(size: number): bigint {
    const { tip } = this;
    if (tip === undefined) return 0n;
    if (tip.kind === "const") return tip.amount;
    const encoded = BigInt(encodedLength(size, this.#storage.system.committee.shards));
    return tip.base + tip.perEncodedKib * ((encoded + 1023n) / 1024n);
  }

  /**
   * The paying transaction is fresh, pays the tip, and its first input binds it to this blob:
   * SHA-256 of the blob, SHA-256 of the nonce, length of the blob.
   */
  #checkPayment(query: URLSearchParams, blob: Uint8Array): void {
    if (this.tip === undefined) return;
    const digest = query.get("tx_id");
    const nonce = fromUrlBase64(query.get("nonce") ?? "");
    if (digest === null || nonce?.length !== 32) {
      throw new Refused(400, "the query is missing the transaction ID or the nonce");
    }
    const { chain } = this.#storage.system;
    const executed = chain.ledger.transactions.get(digest);
    if (executed?.timestamp === undefined) throw new Refused(500, "internal client error");
    const at = Number(executed.timestamp.seconds) * 1000;
    if (chain.now() - at > FRESHNESS) throw new Refused(400, "the transaction is too old");
    const paid = executed.balanceChanges.find(({ address = "", coinType = "" }) =>
      normalizeSuiAddress(address) === this.tipAddress && normalizeType(coinType) === SUI_TYPE
    );
    if (paid === undefined) throw new Refused(402, "no tip was sent");
    if (BigInt(paid.amount ?? 0) < this.#price(blob.length)) {
      throw new Refused(402, "the tip is not sufficient");
    }
    const kind = executed.transaction?.kind?.data;
    const authorization = kind?.oneofKind === "programmableTransaction"
      ? kind.programmableTransaction.inputs[0]?.pure
      : undefined;
    const expected = concat(
      sha256(blob),
      sha256(nonce),
      bcs.u64().serialize(blob.length).toBytes(),
    );
    if (authorization?.toHex() !== expected.toHex()) {
      throw new Refused(401, "the payload is not the one that the transaction pays for");
    }
  }
}
