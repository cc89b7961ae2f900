import { encodedBytes, quiltBytes, sourceSymbols } from "../quilt/geometry.ts";
import type { StoredBlob } from "../stored_blob.ts";

/** Prices of Walrus, in FROST (1 WAL = 10^9) for each MiB of the encoded size, rounded up. */
export interface Prices {
  /** For each epoch. */
  readonly storage: number;
  /** Once. */
  readonly write: number;
}

/** What a cost depends on besides the blob. */
interface CostModel {
  readonly prices: Prices;
  /** Shards of the network. */
  readonly shards: number;
  /** Epochs a blob is paid for. */
  readonly epochs: number;
}

const MIB = 1_048_576;

/** What storing a blob of some bytes costs, in FROST, without gas. */
export function storeCost(bytes: number, { prices, shards, epochs }: CostModel): number {
  return Math.ceil(encodedBytes(bytes, shards) / MIB) * (prices.storage * epochs + prices.write);
}

/**
 * The share of a renewal's cost that falls into the next `epochs`, when `left` epochs are still paid.
 * These cannot be refunded, so not having to renew a blob that was paid just now saves nothing.
 */
export function renewalCost(bytes: number, left: number, model: CostModel): number {
  return storeCost(bytes, model) * Math.max(0, model.epochs - left) / model.epochs;
}

/** What a plan needs to know of a live Blob object. */
export interface KeptBlob
  extends Pick<StoredBlob, "objectId" | "blobId" | "quilt" | "size" | "endEpoch"> {
  /** Sizes of the patches that are not deleted; a blob by itself is its own patch. */
  readonly live: readonly number[];
  /** How many patches were deleted. */
  readonly dead: number;
  /** Whether another relayer stored it, and may renew it first. */
  readonly foreign?: boolean;
}

/** What a plan depends on besides the blobs. */
export interface PlanOptions extends CostModel {
  /** The present Walrus epoch. */
  readonly epoch: number;
  /** Epochs before its end at which a blob is stored again; 0: never. */
  readonly renewBefore: number;
}

/**
 * What to do. `expired`: note that the blob is no longer stored. `leave`: let it end, because nothing
 * in it is needed or another object of it lasts longer. `again`: store it once more as it is, under
 * the same ids. `merge`: put the live patches of several into one new quilt; `early` when none of
 * them ends yet, so that it only saves.
 */
export type Step =
  | { readonly kind: "expired" | "leave" | "again"; readonly blob: KeptBlob }
  | {
    readonly kind: "merge";
    readonly blobs: readonly KeptBlob[];
    readonly early: boolean;
  };

/** Most bytes of patches that upkeep puts into one quilt; batches of new items have the same limit. */
export const MAX_MERGED_BYTES = 4_194_304;

/** Most quilts of a scope that are packed in one plan, which blocks the event loop. */
const MAX_PACKED = 128;

/** How many times its cost an early merge must save. */
const MARGIN = 1.25;

/**
 * Plans what one scope needs now.
 *
 * - Blobs that end are renewed. They are their owner's, so this relayer cannot extend them, and
 *   stores them again. Quilts with deleted patches, and those that together need fewer quilts, are
 *   merged; others keep their bytes, and so their ids.
 * - Quilts that do not end yet join such a merge when that costs less than renewing them later. They
 *   are merged among themselves when the renewals this saves cost a quarter more than the new
 *   quilt. Deleted patches alone are no reason: the paid storage of an owner's blob cannot be
 *   refunded, so their bytes stay until the blob ends anyway.
 */
export function planScope(blobs: readonly KeptBlob[], options: PlanOptions): Step[] {
  const { epoch, renewBefore } = options;
  const steps: Step[] = [];
  const lasting = longest(blobs);
  const due: KeptBlob[] = [];
  const later: KeptBlob[] = [];
  for (const blob of blobs) {
    if (blob.endEpoch <= epoch) steps.push({ kind: "expired", blob });
    else if (blob.live.length === 0 || lasting.get(blob.blobId) !== blob) {
      steps.push({ kind: "leave", blob });
    } else if (blob.foreign || renewBefore === 0) continue;
    else if (blob.endEpoch - epoch > renewBefore) later.push(blob);
    else if (blob.quilt) due.push(blob);
    else steps.push({ kind: "again", blob });
  }
  // Later rounds plan the rest.
  const quilts = later.filter(({ quilt }) => quilt)
    .toSorted((a, b) => bytesIn(a) - bytesIn(b)).slice(0, MAX_PACKED);
  const first = due.toSorted((a, b) => a.endEpoch - b.endEpoch).slice(0, MAX_PACKED);
  const bins = pack(first, options.shards);
  for (const bin of bins) {
    fill(bin, quilts, options);
    steps.push(...renewal(bin.blobs, options));
  }
  const worth = quilts.filter((blob) => value(blob, options) > 0);
  for (const { blobs } of pack(worth, options.shards)) {
    if (blobs.length > 1 && pays(blobs, options)) steps.push({ kind: "merge", blobs, early: true });
  }
  return steps;
}

/** For each blob id, the object that ends last. */
function longest(blobs: readonly KeptBlob[]): ReadonlyMap<string, KeptBlob> {
  const lasting = new Map<string, KeptBlob>();
  for (const blob of blobs) {
    const other = lasting.get(blob.blobId);
    const longer = other === undefined || blob.endEpoch > other.endEpoch ||
      blob.endEpoch === other.endEpoch && blob.objectId < other.objectId;
    if (longer) lasting.set(blob.blobId, blob);
  }
  return lasting;
}

/** Bytes of the live patches in a blob. */
function bytesIn({ live }: KeptBlob): number {
  return live.reduce((sum, size) => sum + size, 0);
}

/** Size of the quilt of all live patches; `undefined` when that is no quilt. */
function mergedBytes(blobs: readonly KeptBlob[], shards: number): number | undefined {
  const sizes = blobs.flatMap(({ live }) => live);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  // A single patch that is larger gets a quilt of its own.
  if (sizes.length > 1 && bytes > MAX_MERGED_BYTES) return undefined;
  // One column is for the index, one for the tombstones.
  if (sizes.length > sourceSymbols(shards).columns - 2) return undefined;
  return quiltBytes(sizes, shards);
}

/** Quilts whose live patches fit into one, with the bytes and the number of these patches. */
interface Bin {
  readonly blobs: KeptBlob[];
  bytes: number;
  count: number;
}

/** Size of a bin's quilt with another blob's patches; `undefined` when they do not fit. */
function sizeWith(blob: KeptBlob, { blobs, bytes, count }: Bin, shards: number) {
  const columns = sourceSymbols(shards).columns - 2;
  // The sums are compared first, because laying out a quilt costs more.
  const full = bytes + bytesIn(blob) > MAX_MERGED_BYTES || count + blob.live.length > columns;
  return full ? undefined : mergedBytes([...blobs, blob], shards);
}

function put(blob: KeptBlob, bin: Bin): void {
  bin.blobs.push(blob);
  bin.bytes += bytesIn(blob);
  bin.count += blob.live.length;
}

/** Groups of whole blobs whose live patches fit into one quilt each: first fit, largest first. */
function pack(blobs: readonly KeptBlob[], shards: number): Bin[] {
  const weight = (blob: KeptBlob) => bytesIn(blob) + blob.live.length * 20;
  const bins: Bin[] = [];
  for (const blob of blobs.toSorted((a, b) => weight(b) - weight(a))) {
    let bin = bins.find((some) => sizeWith(blob, some, shards) !== undefined);
    if (bin === undefined) bins.push(bin = { blobs: [], bytes: 0, count: 0 });
    put(blob, bin);
  }
  return bins;
}

/** What not having to renew a blob saves. */
function value(blob: KeptBlob, options: PlanOptions): number {
  return renewalCost(blob.size, blob.endEpoch - options.epoch, options);
}

/** Adds quilts that end later to a bin, when that costs less than renewing them. */
function fill(bin: Bin, later: KeptBlob[], options: PlanOptions): void {
  let before = mergedBytes(bin.blobs, options.shards);
  for (const blob of [...later]) {
    if (before === undefined) return;
    const after = sizeWith(blob, bin, options.shards);
    if (after === undefined) continue;
    const added = storeCost(after, options) - storeCost(before, options);
    if (added * MARGIN >= value(blob, options)) continue;
    put(blob, bin);
    later.splice(later.indexOf(blob), 1);
    before = after;
  }
}

/** How the quilts of a bin, which end, are stored again. */
function renewal(bin: readonly KeptBlob[], options: PlanOptions): Step[] {
  const merged = mergedBytes(bin, options.shards);
  const dead = bin.some((blob) => blob.dead > 0);
  const apart = bin.reduce((sum, { size }) => sum + storeCost(size, options), 0);
  const saves = bin.length > 1 && merged !== undefined && storeCost(merged, options) < apart;
  if (merged !== undefined && (dead || saves)) return [{ kind: "merge", blobs: bin, early: false }];
  return bin.map((blob) => ({ kind: "again", blob }));
}

/** Whether merging quilts that do not end yet saves enough. */
function pays(bin: readonly KeptBlob[], options: PlanOptions): boolean {
  const merged = mergedBytes(bin, options.shards);
  if (merged === undefined) return false;
  const saved = bin.reduce((sum, blob) => sum + value(blob, options), 0);
  return saved > storeCost(merged, options) * MARGIN;
}
