import { bcs } from "@mysten/sui/bcs";

// Field order of the structs of the `walrus` package, as @mysten/walrus 1.2 reads them
// (modules storage_resource, blob, metadata, system, system_state_inner, staking, staking_inner,
// staking_pool), and of the messages and quilts that its storage nodes exchange.

const Balance = bcs.u64();
const Table = bcs.tuple([bcs.Address, bcs.u64()]);
const ExtendedField = bcs.Address;
const Element = bcs.struct("Element", { bytes: bcs.byteVector() });
const PendingValues = bcs.vector(bcs.tuple([bcs.u32(), bcs.u64()]));
const Authorized = bcs.enum("Authorized", { Address: bcs.Address, ObjectID: bcs.Address });

/** `storage_resource::Storage`: space reserved for the epochs start_epoch..end_epoch - 1. */
export const Storage = bcs.struct("Storage", {
  id: bcs.Address,
  start_epoch: bcs.u32(),
  end_epoch: bcs.u32(),
  storage_size: bcs.u64(),
});

/** `blob::Blob`. */
export const Blob = bcs.struct("Blob", {
  id: bcs.Address,
  registered_epoch: bcs.u32(),
  blob_id: bcs.u256(),
  size: bcs.u64(),
  encoding_type: bcs.u8(),
  certified_epoch: bcs.option(bcs.u32()),
  storage: Storage,
  deletable: bcs.bool(),
});

/** What a blob object says. */
export type BlobContent = typeof Blob.$inferType;

/** `blob::BlobIdDerivation`: a blob id is the BLAKE2b-256 of it. */
export const BlobIdDerivation = bcs.struct("BlobIdDerivation", {
  encoding_type: bcs.u8(),
  size: bcs.u64(),
  root_hash: bcs.u256(),
});

/** `metadata::Metadata`: the attributes of a blob, in the dynamic field `b"metadata"`. */
export const Metadata = bcs.struct("Metadata", {
  metadata: bcs.vector(bcs.struct("Entry", { key: bcs.string(), value: bcs.string() })),
});

/** `system::System` and `staking::Staking`. */
export const Versioned = bcs.struct("Versioned", {
  id: bcs.Address,
  version: bcs.u64(),
  package_id: bcs.Address,
  new_package_id: bcs.option(bcs.Address),
});

/** `system_state_inner::SystemStateInnerV1`. */
export const SystemState = bcs.struct("SystemStateInnerV1", {
  committee: bcs.struct("BlsCommittee", {
    members: bcs.vector(bcs.struct("BlsCommitteeMember", {
      public_key: Element,
      weight: bcs.u16(),
      node_id: bcs.Address,
    })),
    n_shards: bcs.u16(),
    epoch: bcs.u32(),
    total_aggregated_key: Element,
  }),
  total_capacity_size: bcs.u64(),
  used_capacity_size: bcs.u64(),
  storage_price_per_unit_size: bcs.u64(),
  write_price_per_unit_size: bcs.u64(),
  future_accounting: bcs.struct("FutureAccountingRingBuffer", {
    current_index: bcs.u32(),
    length: bcs.u32(),
    ring_buffer: bcs.vector(bcs.tuple([bcs.u32(), bcs.u64(), Balance])),
  }),
  event_blob_certification_state: bcs.struct("EventBlobCertificationState", {
    latest_certified_blob: bcs.option(bcs.tuple([bcs.u256(), bcs.u64()])),
    aggregate_weight_per_blob: bcs.vector(
      bcs.tuple([bcs.tuple([bcs.u256(), bcs.u64()]), bcs.u16()]),
    ),
  }),
  deny_list_sizes: ExtendedField,
});

const Committee = bcs.vector(bcs.struct("Shards", {
  key: bcs.Address,
  value: bcs.vector(bcs.u16()),
}));

/** `staking_inner::StakingInnerV1`. */
export const StakingState = bcs.struct("StakingInnerV1", {
  n_shards: bcs.u16(),
  epoch_duration: bcs.u64(),
  first_epoch_start: bcs.u64(),
  pools: Table,
  epoch: bcs.u32(),
  active_set: ExtendedField,
  next_committee: bcs.option(Committee),
  committee: Committee,
  previous_committee: Committee,
  next_epoch_params: bcs.option(bcs.tuple([bcs.u64(), bcs.u64(), bcs.u64()])),
  epoch_state: bcs.enum("EpochState", {
    EpochChangeSync: bcs.u16(),
    EpochChangeDone: bcs.u64(),
    NextParamsSelected: bcs.u64(),
  }),
  next_epoch_public_keys: ExtendedField,
});

/** `staking_pool::StakingPool`: where a storage node is, and its key. */
export const StakingPool = bcs.struct("StakingPool", {
  id: bcs.Address,
  state: bcs.enum("PoolState", { Active: null, Withdrawing: bcs.u32(), Withdrawn: null }),
  voting_params: bcs.tuple([bcs.u64(), bcs.u64(), bcs.u64()]),
  node_info: bcs.struct("StorageNodeInfo", {
    name: bcs.string(),
    node_id: bcs.Address,
    network_address: bcs.string(),
    public_key: Element,
    next_epoch_public_key: bcs.option(Element),
    network_public_key: bcs.byteVector(),
    metadata: ExtendedField,
  }),
  activation_epoch: bcs.u32(),
  latest_epoch: bcs.u32(),
  wal_balance: bcs.u64(),
  num_shares: bcs.u64(),
  pending_shares_withdraw: PendingValues,
  pre_active_withdrawals: PendingValues,
  pending_commission_rate: PendingValues,
  commission_rate: bcs.u16(),
  exchange_rates: Table,
  pending_stake: PendingValues,
  rewards_pool: Balance,
  commission: Balance,
  commission_receiver: Authorized,
  governance_authorized: Authorized,
  extra_fields: Table,
});

/** `events::BlobRegistered`. */
export const BlobRegistered = bcs.struct("BlobRegistered", {
  epoch: bcs.u32(),
  blob_id: bcs.u256(),
  size: bcs.u64(),
  encoding_type: bcs.u8(),
  end_epoch: bcs.u32(),
  deletable: bcs.bool(),
  object_id: bcs.Address,
});

/** `events::BlobCertified`. */
export const BlobCertified = bcs.struct("BlobCertified", {
  epoch: bcs.u32(),
  blob_id: bcs.u256(),
  end_epoch: bcs.u32(),
  deletable: bcs.bool(),
  object_id: bcs.Address,
  is_extension: bcs.bool(),
});

/** `events::BlobDeleted`. */
export const BlobDeleted = bcs.struct("BlobDeleted", {
  epoch: bcs.u32(),
  blob_id: bcs.u256(),
  end_epoch: bcs.u32(),
  object_id: bcs.Address,
  was_certified: bcs.bool(),
});

/** What a storage node signs: intent (type 1, version 0, app 3), epoch, blob id, persistence. */
export const StorageConfirmation = bcs.struct("StorageConfirmation", {
  intent: bcs.tuple([bcs.u8(), bcs.u8(), bcs.u8()]),
  epoch: bcs.u32(),
  blob_id: bcs.u256(),
  persistence: bcs.enum("BlobPersistenceType", { Permanent: null, Deletable: bcs.Address }),
});

const MerkleNode = bcs.enum("MerkleNode", { Empty: null, Digest: bcs.bytes(32) });

/** Metadata of an encoded blob, as storage nodes keep it. */
export const EncodedMetadata = bcs.enum("BlobMetadata", {
  V1: bcs.struct("BlobMetadataV1", {
    encoding_type: bcs.enum("EncodingType", { RedStuff: null, RS2: null }),
    unencoded_length: bcs.u64(),
    hashes: bcs.vector(bcs.struct("SliverPairMetadata", {
      primary_hash: MerkleNode,
      secondary_hash: MerkleNode,
    })),
  }),
});

/** Index of a quilt, after one byte version (1) and its length (u32, little-endian). */
export const QuiltIndex = bcs.vector(bcs.struct("QuiltPatch", {
  endIndex: bcs.u16(),
  identifier: bcs.string(),
  tags: bcs.map(bcs.string(), bcs.string()),
}));

/** A quilt patch id, written in URL-safe base64 without padding. */
export const QuiltPatchId = bcs.struct("QuiltPatchId", {
  quiltId: bcs.u256(),
  version: bcs.u8(),
  startIndex: bcs.u16(),
  endIndex: bcs.u16(),
});
