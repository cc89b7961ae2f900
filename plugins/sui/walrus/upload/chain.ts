import { SimulationError } from "@mysten/sui/client";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction, TransactionDataBuilder } from "@mysten/sui/transactions";
import type { WalrusClient } from "@mysten/walrus";
import { type ChainBlob, parseBlobObject } from "../blob_object.ts";
import {
  ATTRIBUTE_FORMAT,
  ATTRIBUTE_NAMESPACE,
  ATTRIBUTE_OWNER,
  ATTRIBUTE_PACKAGE,
  ATTRIBUTE_TYPE,
  FORMAT,
} from "../stored_blob.ts";
import type { ChainReads } from "../discovery/chain_reads.ts";
import type { Ground, WalrusState } from "../walrus_state.ts";
import { decodeCertificate } from "./certificate.ts";
import { StepFailure } from "./failure.ts";
import type { CreatedObject } from "./transactions.ts";
import type { Upload } from "./upload.ts";
import type { SignedTransaction } from "./upload_rows.ts";
import type { Lease } from "./wallets.ts";

/** Where uploads are paid and certified. */
interface ChainOptions {
  readonly sui: SuiGrpcClient;
  readonly walrus: WalrusClient;
  /** The contract's package, an attribute of every Blob object. */
  readonly packageId?: string | undefined;
  /** Epochs to pay for. */
  readonly epochs: number;
  readonly state: Ground["state"];
  readonly reads: Pick<ChainReads, "owned">;
}

/** What the tip of an upload is bound to: the SHA-256 of the blob, and 32 random bytes. */
interface Tip {
  readonly digest: Uint8Array;
  readonly nonce: Uint8Array;
}

/** The least a wallet needs to pay for gas: 0.05 SUI, in MIST. */
const MIN_SUI = 50_000_000n;

/** Walrus on the chain, as uploads need it. Calls throw {@linkcode StepFailure}. */
export class Chain {
  readonly #options: ChainOptions;

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  /** The present state of Walrus. */
  async state(): Promise<WalrusState> {
    return await this.#call(this.#options.state);
  }

  /** What the relay asks for an upload of so many bytes, in MIST. */
  async tip(size: number): Promise<bigint> {
    try {
      return BigInt(await this.#options.walrus.calculateUploadRelayTip({ size }));
    } catch (thrown) {
      throw StepFailure.of("relay", thrown);
    }
  }

  /** Forgets what was read from the chain: prices, committee, package. */
  reset(): void {
    this.#options.walrus.reset();
  }

  /** Signs a transaction that reserves space for blobs and registers them. */
  async register(
    lease: Lease,
    uploads: readonly Upload[],
    tip: Tip | undefined,
  ): Promise<SignedTransaction> {
    const { walrus, epochs } = this.#options;
    const transaction = new Transaction();
    transaction.setSender(lease.address);
    const [first] = uploads;
    // The relay reads its proof of payment from the first input, so there is one tip.
    if (tip !== undefined) {
      const { size } = first!.encoded!;
      const { digest: blobDigest, nonce } = tip;
      transaction.add(walrus.sendUploadRelayTip({ size, blobDigest, nonce }));
    }
    const blobs = uploads.map((upload) => {
      const { blobId, rootHash, size } = upload.encoded!;
      const attributes = this.#attributes(upload);
      return transaction.add(
        walrus.registerBlob({ size, epochs, blobId, rootHash, deletable: true, attributes }),
      );
    });
    transaction.transferObjects(blobs, lease.address);
    return await this.#sign(lease, transaction, uploads);
  }

  /**
   * Signs a transaction that hands blobs to their owners. It certifies those with a certificate; the
   * others are certified already and get their attributes.
   */
  async finish(lease: Lease, uploads: readonly Upload[]): Promise<SignedTransaction> {
    const { walrus } = this.#options;
    const transaction = new Transaction();
    transaction.setSender(lease.address);
    for (const upload of uploads) {
      const blobObjectId = upload.objectId!;
      if (upload.certificate === undefined) {
        const blobObject = transaction.object(blobObjectId);
        const attributes = this.#attributes(upload);
        transaction.add(walrus.writeBlobAttributes({ blobObject, attributes }));
      } else {
        const certificate = decodeCertificate(upload.certificate);
        const { blobId } = upload.encoded!;
        transaction.add(
          walrus.certifyBlob({ blobId, blobObjectId, certificate, deletable: true }),
        );
      }
    }
    for (const [owner, theirs] of Map.groupBy(uploads, (upload) => upload.owner)) {
      transaction.transferObjects(theirs.map(({ objectId }) => objectId!), owner);
    }
    return await this.#sign(lease, transaction, []);
  }

  /** Blob objects among what a transaction created. */
  async blobsAmong(created: readonly CreatedObject[]): Promise<ChainBlob[]> {
    const { sui, walrus } = this.#options;
    return await this.#call(async () => {
      const type = await walrus.getBlobType();
      const ours = created.filter((object) => object.type === type);
      const objectIds = ours.map(({ objectId }) => objectId);
      const { objects } = await sui.core.getObjects({ objectIds, include: { content: true } });
      return objects.map((object) => {
        if (object instanceof Error) throw object;
        return parseBlobObject(object.content);
      });
    });
  }

  /** Every Blob object of an address. */
  async blobsOf(owner: string): Promise<ChainBlob[]> {
    return await this.#call(async () =>
      (await Array.fromAsync(this.#options.reads.owned(owner))).flat()
    );
  }

  /** Whether every Blob object is certified and its owner's. */
  async isHandedOver(uploads: readonly Upload[]): Promise<boolean> {
    return await this.#call(async () => {
      const { objects } = await this.#options.sui.core.getObjects({
        objectIds: uploads.map(({ objectId }) => objectId!),
        include: { content: true },
      });
      return uploads.every((upload, index) => {
        const object = objects[index];
        if (object === undefined || object instanceof Error) return false;
        const isTheirs = object.owner.$kind === "AddressOwner" &&
          object.owner.AddressOwner === upload.owner;
        // A wallet that is the owner holds the object from the start; then the certificate counts.
        const tells = upload.owner !== upload.wallet || upload.certificate !== undefined;
        return isTheirs && tells && parseBlobObject(object.content).certifiedEpoch !== undefined;
      });
    });
  }

  #attributes({ owner, namespace, quilt }: Upload): Record<string, string> {
    const { packageId } = this.#options;
    return {
      [ATTRIBUTE_OWNER]: owner,
      [ATTRIBUTE_NAMESPACE]: namespace,
      ...(packageId === undefined ? {} : { [ATTRIBUTE_PACKAGE]: packageId }),
      [ATTRIBUTE_FORMAT]: FORMAT,
      ...(quilt ? { [ATTRIBUTE_TYPE]: "quilt" } : {}),
    };
  }

  async #sign(
    lease: Lease,
    transaction: Transaction,
    paid: readonly Upload[],
  ): Promise<SignedTransaction> {
    const wallet = lease.address;
    let bytes: Uint8Array;
    try {
      // The node simulates it.
      bytes = await transaction.build({ client: this.#options.sui });
    } catch (cause) {
      if (await this.#isPoor(wallet, paid)) {
        const message = "the wallet holds too little SUI or WAL";
        throw new StepFailure("poor", "wallets", message, { cause });
      }
      if (!(cause instanceof SimulationError)) throw StepFailure.of("chain", cause);
      throw new StepFailure("refused", "chain", "the chain refuses the transaction", { cause });
    }
    const signature = await lease.sign(bytes);
    const digest = TransactionDataBuilder.getDigestFromBytes(bytes);
    return { wallet, digest, bytes, signature };
  }

  /** Whether a wallet cannot pay; read after a failure, as nodes word their errors differently. */
  async #isPoor(owner: string, uploads: readonly Upload[]): Promise<boolean> {
    const { sui, walrus, epochs } = this.#options;
    try {
      const gas = await sui.core.getBalance({ owner });
      if (BigInt(gas.balance.balance) < MIN_SUI) return true;
      const sizes = uploads.map(({ encoded }) => encoded!.size);
      const costs = await Promise.all(sizes.map((size) => walrus.storageCost(size, epochs)));
      const cost = costs.reduce((sum, { totalCost }) => sum + totalCost, 0n);
      if (cost === 0n) return false;
      const coinType = await this.#walType();
      const wal = await sui.core.getBalance({ owner, coinType });
      return BigInt(wal.balance.balance) < cost;
    } catch {
      return false;
    }
  }

  /** Type of the coin that Walrus takes, from the signature of `staking::stake_with_pool`. */
  async #walType(): Promise<string> {
    const { sui, walrus } = this.#options;
    const { package_id: packageId } = await walrus.systemObject();
    const { function: stake } = await sui.core.getMoveFunction({
      packageId,
      moduleName: "staking",
      name: "stake_with_pool",
    });
    const body = stake.parameters[1]?.body;
    const coin = body?.$kind === "datatype" ? body.datatype.typeParameters[0] : undefined;
    if (coin?.$kind !== "datatype") throw new Error("The WAL coin is unknown");
    return coin.datatype.typeName;
  }

  async #call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      // The client keeps what it has read for ever, also what a node got wrong.
      this.reset();
      throw StepFailure.of("chain", thrown);
    }
  }
}
