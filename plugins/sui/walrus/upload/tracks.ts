import type { Track } from "./gather.ts";
import type { Upload } from "./upload.ts";
import type { UploadRows } from "./rows/upload_rows.ts";

/** Uploads under way, as they are saved. */
export class Tracks {
  readonly #rows: UploadRows;
  readonly #tracks = new Map<number, Track>();

  /** Reads what an earlier process left. */
  constructor(rows: UploadRows, now: number) {
    this.#rows = rows;
    for (const upload of rows.open()) this.#add(upload, now);
  }

  /** Uploads under way. */
  get size(): number {
    return this.#tracks.size;
  }

  /** Every one, oldest first. */
  all(): readonly Track[] {
    return [...this.#tracks.values()];
  }

  /** Those in a state that can be worked on now. */
  ready(state: Upload["state"], now: number): Track[] {
    return this.all().filter((track) =>
      track.upload.state === state && !track.busy && track.restUntil <= now
    );
  }

  /** Those in a state that are being worked on. */
  busy(state: Upload["state"]): number {
    return this.all().filter(({ upload, busy }) => busy && upload.state === state).length;
  }

  /** Wallets with a transaction of which it is unknown whether it was executed. */
  blocked(): ReadonlySet<string> {
    const open = this.all().map(({ upload }) => upload)
      .filter(({ state }) => state === "registering" || state === "finishing");
    return new Set(open.flatMap(({ wallet }) => wallet ?? []));
  }

  /** Takes note of a new one. */
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
