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
  const due: KeptBlob[] = [];
  const later: KeptBlob[] = [];
  for (const blob of blobs) {
    if (blob.endEpoch <= epoch) steps.push({ kind: "expired", blob });
    else if (blob.live.length === 0 || outlasted(blob, blobs)) steps.push({ kind: "leave", blob });
    else if (blob.foreign || renewBefore === 0) continue;
    else if (blob.endEpoch - epoch > renewBefore) later.push(blob);
    else if (blob.quilt) due.push(blob);
    else steps.push({ kind: "again", blob });
  }
  const quilts = later.filter(({ quilt }) => quilt);
  const bins = pack(due, options.shards);
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

/** Whether another object keeps the same blob for longer. */
function outlasted(blob: KeptBlob, blobs: readonly KeptBlob[]): boolean {
  return blobs.some((other) =>
    other.blobId === blob.blobId &&
    (other.endEpoch > blob.endEpoch ||
      other.endEpoch === blob.endEpoch && other.objectId < blob.objectId)
  );
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
  const weight = ({ live }: KeptBlob) => live.reduce((sum, size) => sum + size, live.length * 20);
  const bins: KeptBlob[][] = [];
  for (const blob of blobs.toSorted((a, b) => weight(b) - weight(a))) {
    const bin = bins.find((some) => mergedBytes([...some, blob], shards) !== undefined);
    if (bin === undefined) bins.push([blob]);
    else bin.push(blob);
  }
  return bins;
}

/** What is saved when a blob need not be renewed at its end. */
function value(blob: KeptBlob, options: PlanOptions): number {
  return renewalCost(blob.size, blob.endEpoch - options.epoch, options);
}

/** Takes quilts along that end later, where that costs less than renewing them. */
function fill(bin: KeptBlob[], later: KeptBlob[], options: PlanOptions): void {
  for (const blob of [...later]) {
    const before = mergedBytes(bin, options.shards);
    const after = mergedBytes([...bin, blob], options.shards);
    if (before === undefined || after === undefined) continue;
    const added = storeCost(after, options) - storeCost(before, options);
    if (added * MARGIN >= value(blob, options)) continue;
    bin.push(blob);
    later.splice(later.indexOf(blob), 1);
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
