import { bcs } from "@mysten/sui/bcs";
import { Abort } from "../sui/failure.ts";
import { HELD } from "../sui/object.ts";
import type { Tx } from "../sui/tx.ts";
import { objectId, objectValue, parsePure, type Value } from "../sui/value.ts";
import { blobIdText, deriveBlobId, ENCODING_RS2 } from "./blob_id.ts";
import type { BlobIndex } from "./blob_index.ts";
import {
  Blob,
  BlobCertified,
  type BlobContent,
  BlobDeleted,
  BlobRegistered,
  Storage,
  StorageConfirmation,
} from "./layouts.ts";
import { encodedLength, storageUnits } from "./sizes.ts";
import { MAX_EPOCHS_AHEAD, type WalrusSystem } from "./system.ts";

// Abort codes of the published modules (bls_aggregate, messages, blob, system_state_inner).
const BLS = { signature: 1, stake: 2 } as const;
const MESSAGE_TYPE = 3;
const BLOB = {
  bounds: 2,
  size: 3,
  epoch: 4,
  certifiedAlready: 5,
  id: 6,
  notCertified: 7,
  permanent: 8,
} as const;
const SYSTEM = { epochsAhead: 2, idEpoch: 3, resourceSize: 11 } as const;

/** Arguments of a certification. */
export interface Certified {
  /** Aggregate signature, 96 bytes. */
  readonly signature: Uint8Array;
  /** A bit per committee member, least significant first. */
  readonly bitmap: Uint8Array;
  /** BCS of a {@linkcode StorageConfirmation}. */
  readonly message: Uint8Array;
}

/** The functions of the Walrus package, on objects of the running transaction. */
export class WalrusFunctions {
  readonly #system: WalrusSystem;
  readonly #index: BlobIndex;

  /** @param index Is told of every blob. */
  constructor(system: WalrusSystem, index: BlobIndex) {
    this.#system = system;
    this.#index = index;
  }

  #abort(code: number, module: string, name: string): never {
    throw new Abort(code, `${this.#system.packageId}::${module}::${name}`);
  }

  #emit(tx: Tx, name: string, bytes: Uint8Array): void {
    tx.emit(this.#system.packageId, "events", name, bytes);
  }

  /** Content of a blob object. */
  blob(tx: Tx, id: string): BlobContent {
    return Blob.parse(tx.get(id).bcs);
  }

  /** `system::reserve_space`: buys space until `epochs` epochs from now. Returns its id. */
  reserve(tx: Tx, size: bigint, epochs: number, payment: string): string {
    const { epoch, prices } = this.#system;
    if (epochs < 1 || epochs > MAX_EPOCHS_AHEAD) {
      this.#abort(SYSTEM.epochsAhead, "system_state_inner", "reserve_space");
    }
    if (size === 0n) this.#abort(SYSTEM.resourceSize, "system_state_inner", "reserve_space");
    tx.takeFrom(payment, storageUnits(size) * prices.storage * BigInt(epochs));
    return this.#putStorage(tx, {
      id: tx.freshId(),
      start_epoch: epoch,
      end_epoch: epoch + epochs,
      storage_size: `${size}`,
    });
  }

  #putStorage(tx: Tx, storage: BlobContent["storage"]): string {
    return tx.put({
      id: storage.id,
      type: this.#system.type("storage_resource::Storage"),
      owner: HELD,
      bcs: Storage.serialize(storage).toBytes(),
    });
  }

  /** `system::register_blob`. Returns the id of the blob object. */
  register(tx: Tx, { storageId, blobId, rootHash, size, encodingType, deletable, payment }: {
    readonly storageId: string;
    readonly blobId: bigint;
    readonly rootHash: bigint;
    readonly size: bigint;
    readonly encodingType: number;
    readonly deletable: boolean;
    readonly payment: string;
  }): string {
    const { epoch, prices, committee } = this.#system;
    const storage = Storage.parse(tx.get(storageId).bcs);
    const encoded = BigInt(encodedLength(Number(size), committee.shards));
    tx.takeFrom(payment, storageUnits(encoded) * prices.write);
    if (epoch < storage.start_epoch || epoch >= storage.end_epoch) {
      this.#abort(BLOB.bounds, "blob", "new");
    }
    if (encoded > BigInt(storage.storage_size)) this.#abort(BLOB.size, "blob", "new");
    if (encodingType !== ENCODING_RS2 || deriveBlobId(rootHash, encodingType, size) !== blobId) {
      this.#abort(BLOB.id, "blob", "new");
    }
    tx.del(storageId);
    const id = tx.put({
      id: tx.freshId(),
      type: this.#system.type("blob::Blob"),
      owner: HELD,
      bcs: new Uint8Array(),
    });
    tx.setContent(
      id,
      Blob.serialize({
        id,
        registered_epoch: epoch,
        blob_id: blobId,
        size,
        encoding_type: encodingType,
        certified_epoch: null,
        storage,
        deletable,
      }).toBytes(),
    );
    this.#index.add(blobIdText(blobId), id);
    this.#emit(
      tx,
      "BlobRegistered",
      BlobRegistered.serialize({
        epoch,
        blob_id: blobId,
        size,
        encoding_type: encodingType,
        end_epoch: storage.end_epoch,
        deletable,
        object_id: id,
      }).toBytes(),
    );
    return id;
  }

  /** `system::certify_blob`: verifies the committee's certificate and marks the blob certified. */
  certify(tx: Tx, id: string, { signature, bitmap, message }: Certified): void {
    const { committee, epoch } = this.#system;
    const signers = committee.nodes.map(({ index }) => index)
      .filter((index) => ((bitmap[index >> 3] ?? 0) >> (index & 7) & 1) === 1);
    if (!committee.isQuorum(signers)) this.#abort(BLS.stake, "bls_aggregate", "verify_certificate");
    if (!committee.verify({ signers, message, signature })) {
      this.#abort(BLS.signature, "bls_aggregate", "verify_certificate");
    }
    const confirmation = this.#confirmation(message);
    if (confirmation.epoch !== epoch) {
      this.#abort(SYSTEM.idEpoch, "system_state_inner", "certify_blob");
    }
    const blob = this.blob(tx, id);
    if (BigInt(blob.blob_id) !== BigInt(confirmation.blob_id)) this.#abortCertify(BLOB.id);
    const { persistence } = confirmation;
    const objectMatches = blob.deletable
      ? persistence.$kind === "Deletable" && persistence.Deletable === blob.id
      : persistence.$kind === "Permanent";
    if (!objectMatches) this.#abortCertify(BLOB.id);
    if (blob.certified_epoch !== null) this.#abortCertify(BLOB.certifiedAlready);
    if (epoch >= blob.storage.end_epoch) this.#abortCertify(BLOB.bounds);
    tx.setContent(id, Blob.serialize({ ...blob, certified_epoch: epoch }).toBytes());
    this.#index.certified(blobIdText(blob.blob_id), { at: tx.now, digest: tx.digest });
    this.#emitCertified(tx, { ...blob, certified_epoch: epoch }, false);
  }

  #abortCertify(code: number): never {
    this.#abort(code, "blob", "certify_with_certified_msg");
  }

  #confirmation(message: Uint8Array): typeof StorageConfirmation.$inferType {
    try {
      const parsed = StorageConfirmation.parse(message);
      if (parsed.intent.join() === "1,0,3") return parsed;
    } catch {
      // Not a confirmation at all.
    }
    return this.#abort(MESSAGE_TYPE, "messages", "certify_blob_message");
  }

  #emitCertified(tx: Tx, blob: BlobContent, extension: boolean): void {
    this.#emit(
      tx,
      "BlobCertified",
      BlobCertified.serialize({
        epoch: blob.certified_epoch ?? 0,
        blob_id: blob.blob_id,
        end_epoch: blob.storage.end_epoch,
        deletable: blob.deletable,
        object_id: blob.id,
        is_extension: extension,
      }).toBytes(),
    );
  }

  /** `system::extend_blob`: pays for `epochs` more epochs of a certified blob. */
  extend(tx: Tx, id: string, epochs: number, payment: string): void {
    const { epoch, prices } = this.#system;
    const blob = this.blob(tx, id);
    if (blob.certified_epoch === null) this.#abort(BLOB.notCertified, "blob", "extend");
    if (epoch >= blob.storage.end_epoch) this.#abort(BLOB.bounds, "blob", "extend");
    const end = blob.storage.end_epoch + epochs;
    if (epochs < 1 || end - epoch > MAX_EPOCHS_AHEAD) {
      this.#abort(SYSTEM.epochsAhead, "system_state_inner", "extend_blob");
    }
    const units = storageUnits(BigInt(blob.storage.storage_size));
    tx.takeFrom(payment, units * prices.storage * BigInt(epochs));
    const extended = { ...blob, storage: { ...blob.storage, end_epoch: end } };
    tx.setContent(id, Blob.serialize(extended).toBytes());
    this.#emitCertified(tx, extended, true);
  }

  /** `system::delete_blob`: returns the storage of a deletable blob that is not over. */
  delete(tx: Tx, id: string): string {
    const { epoch } = this.#system;
    const blob = this.blob(tx, id);
    if (!blob.deletable) this.#abort(BLOB.permanent, "blob", "delete");
    if (epoch >= blob.storage.end_epoch) this.#abort(BLOB.bounds, "blob", "delete");
    tx.del(id);
    this.#emit(
      tx,
      "BlobDeleted",
      BlobDeleted.serialize({
        epoch,
        blob_id: blob.blob_id,
        end_epoch: blob.storage.end_epoch,
        object_id: blob.id,
        was_certified: blob.certified_epoch !== null,
      }).toBytes(),
    );
    return this.#putStorage(tx, blob.storage);
  }

  /** Makes the functions callable by transactions. */
  install(): void {
    const { chain, packageId, walType } = this.#system;
    const system = `&${packageId}::system::System`;
    const systemMut = `&mut ${packageId}::system::System`;
    const blob = `${packageId}::blob::Blob`;
    const storage = `${packageId}::storage_resource::Storage`;
    const wal = `0x2::coin::Coin<${walType}>`;
    const u64 = (value: Value | undefined) => BigInt(parsePure(bcs.u64(), value));
    const u256 = (value: Value | undefined) => BigInt(parsePure(bcs.u256(), value));
    const bytes = (value: Value | undefined) => new Uint8Array(parsePure(bcs.byteVector(), value));

    chain.fn(`${packageId}::system::reserve_space`, (tx, [, size, epochs, coin]) => [
      objectValue(this.reserve(tx, u64(size), parsePure(bcs.u32(), epochs), objectId(coin))),
    ], { parameters: [systemMut, "u64", "u32", `&mut ${wal}`], returns: [storage] });

    chain.fn(
      `${packageId}::system::register_blob`,
      (tx, [, space, id, root, size, encoding, deletable, coin]) => [
        objectValue(this.register(tx, {
          storageId: objectId(space),
          blobId: u256(id),
          rootHash: u256(root),
          size: u64(size),
          encodingType: parsePure(bcs.u8(), encoding),
          deletable: parsePure(bcs.bool(), deletable),
          payment: objectId(coin),
        })),
      ],
      {
        parameters: [systemMut, storage, "u256", "u256", "u64", "u8", "bool", `&mut ${wal}`],
        returns: [blob],
      },
    );

    chain.fn(
      `${packageId}::system::certify_blob`,
      (tx, [, id, signature, bitmap, message]) =>
        this.certify(tx, objectId(id), {
          signature: bytes(signature),
          bitmap: bytes(bitmap),
          message: bytes(message),
        }),
      { parameters: [system, `&mut ${blob}`, "vector<u8>", "vector<u8>", "vector<u8>"] },
    );

    chain.fn(
      `${packageId}::system::extend_blob`,
      (tx, [, id, epochs, coin]) =>
        this.extend(tx, objectId(id), parsePure(bcs.u32(), epochs), objectId(coin)),
      { parameters: [systemMut, `&mut ${blob}`, "u32", `&mut ${wal}`] },
    );

    chain.fn(
      `${packageId}::system::delete_blob`,
      (tx, [, id]) => [objectValue(this.delete(tx, objectId(id)))],
      { parameters: [system, blob], returns: [storage] },
    );

    chain.fn(`${packageId}::blob::burn`, (tx, [id]) => tx.del(objectId(id)), {
      parameters: [blob],
    });

    // The SDK finds the type of WAL in the second parameter.
    chain.fn(
      `${packageId}::staking::stake_with_pool`,
      () => this.#abort(0, "staking", "stake_with_pool"),
      { parameters: [`&mut ${packageId}::staking::Staking`, wal, "0x2::object::ID"] },
    );
  }
}
