import { quiltBytes, sourceSymbols } from "../quilt/geometry.ts";
import { type CostModel, renewalCost, storeCost } from "./cost.ts";

/** A live Blob object of a scope, as far as upkeep minds. */
export interface KeptBlob {
  /** Object id. */
  readonly objectId: string;
  /** Walrus blob id. */
  readonly blobId: string;
  /** Whether it is a quilt. */
  readonly quilt: boolean;
  /** Unencoded size in bytes. */
  readonly size: number;
  /** First Walrus epoch in which it is no longer stored. */
  readonly endEpoch: number;
  /** Sizes of the patches that are not deleted; of a blob by itself its own, when it is not. */
  readonly live: readonly number[];
  /** Patches that were deleted. */
  readonly dead: number;
  /** Whether this relayer need not keep it now: somebody else may. */
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
 * What to do. `expired`: it is stored no longer. `leave`: nothing in it is needed, or another
 * object of the same blob lasts longer. `again`: stored once more as it is, under the same ids.
 * `merge`: the live patches go into one new quilt.
 */
export type Step =
  | { readonly kind: "expired" | "leave" | "again"; readonly blob: KeptBlob }
  | {
    readonly kind: "merge";
    readonly blobs: readonly KeptBlob[];
    /** None of them ends yet: it only saves. */
    readonly early: boolean;
  };

/** Most bytes of patches that upkeep puts into one quilt: what a batch of new ones takes. */
export const MAX_MERGED_BYTES = 4_194_304;

/** Most quilts of a scope that are packed in one plan: it holds the event loop meanwhile. */
const MAX_PACKED = 128;

/** A merge before its time must save this much more than it costs. */
const MARGIN = 1.25;

/**
 * What one scope needs now, without an effect.
 *
 * - What ends is renewed. The blobs are their owner's, so nobody here can extend them: they are
 *   stored again. Quilts with deleted patches, and those that together need fewer quilts, are
 *   merged; others keep their bytes, and so their ids.
 * - Quilts that do not end yet join when that costs less than renewing them later, and are merged
 *   among themselves when the renewals saved within the time bought cost a quarter more than the
 *   new quilt. Since paid storage of an owner's blob cannot be had back, deleted patches alone are
 *   no reason: their bytes stay until the blob ends, whatever is done.
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
  // The rest has its turn in later rounds.
  const quilts = later.filter(({ quilt }) => quilt)
    .toSorted((a, b) => bytesIn(a) - bytesIn(b)).slice(0, MAX_PACKED);
  const first = due.toSorted((a, b) => a.endEpoch - b.endEpoch).slice(0, MAX_PACKED);
  const bins = pack(first, options.shards);
  for (const bin of bins) {
    fill(bin, quilts, options);
    steps.push(...renewal(bin, options));
  }
  for (const bin of pack(quilts.filter((blob) => value(blob, options) > 0), options.shards)) {
    if (bin.length > 1 && pays(bin, options)) {
      steps.push({ kind: "merge", blobs: bin, early: true });
    }
  }
  return steps;
}

/** Of the objects of each blob the one that keeps it longest. */
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
  // One patch may be larger than what a batch takes; it then has a quilt of its own.
  if (sizes.length > 1 && bytes > MAX_MERGED_BYTES) return undefined;
  // Beside the index and the patches there is room for a list of what was deleted.
  if (sizes.length > sourceSymbols(shards).columns - 2) return undefined;
  return quiltBytes(sizes.map((size) => ({ bytes: size })), shards);
}

/** Groups of whole blobs whose live patches fit into one quilt each: first fit, largest first. */
function pack(blobs: readonly KeptBlob[], shards: number): KeptBlob[][] {
  const weight = (blob: KeptBlob) => bytesIn(blob) + blob.live.length * 20;
  const columns = sourceSymbols(shards).columns - 2;
  const bins: { blobs: KeptBlob[]; bytes: number; count: number }[] = [];
  for (const blob of blobs.toSorted((a, b) => weight(b) - weight(a))) {
    const bytes = bytesIn(blob);
    const { length: count } = blob.live;
    const bin = bins.find((some) =>
      // The sums first: a quilt that is full is not laid out again for every other one.
      some.bytes + bytes <= MAX_MERGED_BYTES && some.count + count <= columns &&
      mergedBytes([...some.blobs, blob], shards) !== undefined
    );
    if (bin === undefined) bins.push({ blobs: [blob], bytes, count });
    else {
      bin.blobs.push(blob);
      bin.bytes += bytes;
      bin.count += count;
    }
  }
  return bins.map((bin) => bin.blobs);
}

/** What is saved when a blob need not be renewed at its end. */
function value(blob: KeptBlob, options: PlanOptions): number {
  return renewalCost(blob.size, blob.endEpoch - options.epoch, options);
}

/** Takes quilts along that end later, where that costs less than renewing them. */
function fill(bin: KeptBlob[], later: KeptBlob[], options: PlanOptions): void {
  const columns = sourceSymbols(options.shards).columns - 2;
  let before = mergedBytes(bin, options.shards);
  let bytes = bin.reduce((sum, blob) => sum + bytesIn(blob), 0);
  let count = bin.reduce((sum, { live }) => sum + live.length, 0);
  for (const blob of [...later]) {
    if (before === undefined) return;
    const full = bytes + bytesIn(blob) > MAX_MERGED_BYTES || count + blob.live.length > columns;
    const after = full ? undefined : mergedBytes([...bin, blob], options.shards);
    if (after === undefined) continue;
    const added = storeCost(after, options) - storeCost(before, options);
    if (added * MARGIN >= value(blob, options)) continue;
    bin.push(blob);
    later.splice(later.indexOf(blob), 1);
    before = after;
    bytes += bytesIn(blob);
    count += blob.live.length;
  }
}

/** How quilts that end, and go together, are stored again. */
function renewal(bin: readonly KeptBlob[], options: PlanOptions): Step[] {
  const merged = mergedBytes(bin, options.shards);
  const dead = bin.some((blob) => blob.dead > 0);
  const apart = bin.reduce((sum, { size }) => sum + storeCost(size, options), 0);
  const saves = bin.length > 1 && merged !== undefined && storeCost(merged, options) < apart;
  if (merged !== undefined && (dead || saves)) return [{ kind: "merge", blobs: bin, early: false }];
  return bin.map((blob) => ({ kind: "again", blob }));
}

/** Whether merging quilts that do not end yet costs less than renewing them. */
function pays(bin: readonly KeptBlob[], options: PlanOptions): boolean {
  const merged = mergedBytes(bin, options.shards);
  if (merged === undefined) return false;
  const saved = bin.reduce((sum, blob) => sum + value(blob, options), 0);
  return saved > storeCost(merged, options) * MARGIN;
}
