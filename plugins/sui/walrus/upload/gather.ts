import type { Upload } from "./upload.ts";

/** Most blobs that share a transaction: some 260 of the 1024 commands it may have. */
export const MAX_GROUP = 20;

/** Longest wait for company before registering: 20 blobs encode in 60 to 80 s at 1000 shards. */
const REGISTER_WAIT_MS = 90_000;

/** Longest wait for company before certifying: the others were registered together. */
const FINISH_WAIT_MS = 30_000;

/** An upload under way. */
export interface Track {
  /** As it is saved. */
  upload: Upload;
  /** Since when it is in its state, milliseconds since the epoch. */
  since: number;
  /** Whether a step is under way. */
  busy: boolean;
  /** Failures of its present step in a row. */
  failures: number;
  /** Not tried before, milliseconds since the epoch. */
  restUntil: number;
}

/** Uploads to start with, or when to look again. */
export type Gathered = { readonly group: readonly Track[] } | { readonly at: number };

const NOBODY: Gathered = { at: Infinity };

function isReady({ busy, restUntil }: Track, now: number): boolean {
  return !busy && restUntil <= now;
}

/** Encoded blobs to register in one transaction: full, or nobody else is about to come. */
export function gatherRegister(tracks: Iterable<Track>, now: number, max = MAX_GROUP): Gathered {
  const ready: Track[] = [];
  let coming = false;
  for (const track of tracks) {
    const { state } = track.upload;
    if (state === "cut" && track.restUntil <= now) coming = true;
    if (state === "encoded" && isReady(track, now)) ready.push(track);
  }
  // What the transaction created is told apart by blob ids.
  const unique = new Map(ready.toReversed().map((track) => [track.upload.encoded?.blobId, track]));
  const group = [...unique.values()].reverse().slice(0, max);
  return whenDue(group, coming && group.length < max, REGISTER_WAIT_MS, now);
}

/** Uploaded blobs of one wallet to certify in one transaction; `isFree` tells wallets. */
export function gatherFinish(
  tracks: Iterable<Track>,
  now: number,
  isFree: (wallet: string) => boolean,
): Gathered {
  const groups = new Map<string, { ready: Track[]; coming: boolean }>();
  for (const track of tracks) {
    const { state, wallet, register } = track.upload;
    if (wallet === undefined || !isFree(wallet)) continue;
    const group = groups.get(wallet) ?? { ready: [], coming: false };
    groups.set(wallet, group);
    if (state === "uploaded" && isReady(track, now)) group.ready.push(track);
    const isComing = state === "registered" || (state === "asked" && register === undefined);
    if (isComing && track.restUntil <= now) group.coming = true;
  }
  let next: Gathered = NOBODY;
  for (const { ready, coming } of groups.values()) {
    const group = ready.slice(0, MAX_GROUP);
    const due = whenDue(group, coming && group.length < MAX_GROUP, FINISH_WAIT_MS, now);
    if ("group" in due) return due;
    if (due.at < (next as { at: number }).at) next = due;
  }
  return next;
}

function whenDue(group: Track[], waits: boolean, waitMs: number, now: number): Gathered {
  if (group.length === 0) return NOBODY;
  const at = Math.min(...group.map(({ since }) => since)) + waitMs;
  return waits && at > now ? { at } : { group };
}
