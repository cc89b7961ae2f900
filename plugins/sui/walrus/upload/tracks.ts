import type { UploadRows } from "./upload_rows.ts";
import type { Upload } from "./upload.ts";

/** Most blobs that share a transaction: some 260 of the 1024 commands it may have. */
export const MAX_GROUP = 20;

/** Longest wait for company before registering: 20 blobs encode in 60 to 80 s at 1000 shards. */
const REGISTER_WAIT_MS = 90_000;

/** Longest wait for company before certifying: the others were registered together. */
const FINISH_WAIT_MS = 30_000;

/** An upload under way. Times are milliseconds since the epoch. */
export interface Track {
  upload: Upload;
  /** When it came into its present state. */
  since: number;
  busy: boolean;
  /** Failures of its present step in a row. */
  failures: number;
  /** When its next step may start. */
  restUntil: number;
}

function isReady({ busy, restUntil }: Track, now: number): boolean {
  return !busy && restUntil <= now;
}

/** Every upload under way, with what the rows do not say: who works on it, and when to try again. */
export class Tracks {
  readonly #rows: UploadRows;
  readonly #tracks = new Map<number, Track>();

  /** Starts with the uploads that an earlier process left. */
  constructor(rows: UploadRows, now: number) {
    this.#rows = rows;
    for (const upload of rows.open()) this.#add(upload, now);
  }

  /** Oldest first. */
  all(): readonly Track[] {
    return [...this.#tracks.values()];
  }

  /** Those in a state that can be worked on now. */
  ready(state: Upload["state"], now: number): Track[] {
    return this.all().filter((track) => track.upload.state === state && isReady(track, now));
  }

  /** How many in a state are being worked on. */
  busy(state: Upload["state"]): number {
    return this.all().filter(({ upload, busy }) => busy && upload.state === state).length;
  }

  /** Wallets with a transaction of which it is unknown whether it was executed. */
  blocked(): ReadonlySet<string> {
    const open = this.all().map(({ upload }) => upload)
      .filter(({ state }) => state === "registering" || state === "finishing");
    return new Set(open.flatMap(({ wallet }) => wallet ?? []));
  }

  added(seq: number, now: number): void {
    const upload = this.#rows.get(seq);
    if (upload !== undefined) this.#add(upload, now);
  }

  /** Reads again what a step saved. */
  refresh(tracks: readonly Track[], now: number): void {
    for (const track of tracks) {
      const upload = this.#rows.get(track.upload.seq);
      if (upload === undefined || upload.state === "done") {
        this.#tracks.delete(track.upload.seq);
        continue;
      }
      if (upload.state !== track.upload.state) track.since = now;
      track.upload = upload;
    }
  }

  #add(upload: Upload, now: number): void {
    const track = { upload, since: now, busy: false, failures: 0, restUntil: 0 };
    this.#tracks.set(upload.seq, track);
  }
}

/** Uploads to start with together, or when to look again. */
export type Gathered = { readonly group: readonly Track[] } | { readonly at: number };

const NOBODY = { at: Infinity };

/** Encoded blobs to register in one transaction, once it is full or no other is about to come. */
export function gatherRegister(tracks: Iterable<Track>, now: number, max = MAX_GROUP): Gathered {
  const ready: Track[] = [];
  let coming = false;
  for (const track of tracks) {
    const { state } = track.upload;
    if (state === "cut" && track.restUntil <= now) coming = true;
    if (state === "encoded" && isReady(track, now)) ready.push(track);
  }
  // Only blob ids tell apart what the transaction creates, so one group holds each id once.
  const unique = new Map(ready.toReversed().map((track) => [track.upload.encoded?.blobId, track]));
  const group = [...unique.values()].reverse().slice(0, max);
  return whenDue(group, coming && group.length < max, REGISTER_WAIT_MS, now);
}

/** Uploaded blobs of one wallet that `isFree`, to certify in one transaction. */
export function gatherFinish(
  tracks: Iterable<Track>,
  now: number,
  isFree: (wallet: string) => boolean,
): Gathered {
  const groups = new Map<string, { ready: Track[]; coming: boolean }>();
  for (const track of tracks) {
    const { state, wallet, register } = track.upload;
    if (wallet === undefined || !isFree(wallet)) continue;
    const group = groups.getOrInsertComputed(wallet, () => ({ ready: [], coming: false }));
    if (state === "uploaded" && isReady(track, now)) group.ready.push(track);
    const isComing = state === "registered" || (state === "asked" && register === undefined);
    if (isComing && track.restUntil <= now) group.coming = true;
  }
  let next = NOBODY;
  for (const { ready, coming } of groups.values()) {
    const group = ready.slice(0, MAX_GROUP);
    const due = whenDue(group, coming && group.length < MAX_GROUP, FINISH_WAIT_MS, now);
    if ("group" in due) return due;
    if (due.at < next.at) next = due;
  }
  return next;
}

function whenDue(group: Track[], waits: boolean, waitMs: number, now: number): Gathered {
  if (group.length === 0) return NOBODY;
  const at = Math.min(...group.map(({ since }) => since)) + waitMs;
  return waits && at > now ? { at } : { group };
}
