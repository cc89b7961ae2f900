import { complete } from "./completion.ts";
import { backoffMs, type Part, StepFailure, type Troubles } from "./failure.ts";
import type { StepParts, Steps } from "./steps.ts";
import {
  type Gathered,
  gatherFinish,
  gatherRegister,
  MAX_GROUP,
  type Track,
  type Tracks,
} from "./tracks.ts";
import type { Upload } from "./upload.ts";
import type { Lease, Wallets } from "./wallets.ts";

/** Blobs on the wire to a relay or publisher at the same time. */
const TRANSFERS = 8;

/** How long a wallet that could not pay is left alone. */
const POOR_MS = 60_000;

/** What a {@linkcode Pump} works with. */
interface PumpOptions {
  readonly tracks: Tracks;
  readonly steps: Steps;
  readonly parts: StepParts;
  readonly wallets: Wallets;
  readonly troubles: Troubles;
  /** Called when an upload is done, with the ids by its items' numbers. */
  readonly done: (upload: Upload, ids: ReadonlyMap<number, string>) => void;
  /** Called when a step ended, so that the next look should come soon. */
  readonly wake: () => void;
}

/**
 * How long an upload rests after a failure, in milliseconds. When the wallet could not pay, another
 * one may pay at once; only a blob that the wallet has registered must wait for it.
 */
function restOf(failure: StepFailure, failures: number, { wallet }: Upload): number {
  if (failure.kind !== "poor") return backoffMs(failures, failure.pauseMs);
  return wallet === undefined ? 0 : POOR_MS;
}

/** Starts every step that can be taken, one look at a time. */
export class Pump {
  readonly #options: PumpOptions;
  readonly #running = new Set<Promise<void>>();
  #asked = 0;

  constructor(options: PumpOptions) {
    this.#options = options;
  }

  /** Resolves when no step is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Starts what can be started; returns when to look again at the latest. */
  look(now: number): number {
    const { tracks, parts } = this.#options;
    this.#settle(now);
    this.#encode(now);
    if (parts.publisher === undefined) this.#upload(now);
    else this.#publish(now);
    const due = [
      parts.publisher === undefined ? this.#register(now) : Infinity,
      this.#finish(now),
      ...tracks.all().filter(({ busy }) => !busy).map(({ restUntil }) => restUntil)
        .filter((at) => at > now),
    ];
    return Math.min(...due);
  }

  #encode(now: number): void {
    const { tracks, steps } = this.#options;
    if (tracks.busy("cut") > 0) return;
    const [next] = tracks.ready("cut", now);
    if (next) this.#start([next], ["encoder", "chain", "disk"], () => steps.encode(next.upload));
  }

  /** Settles transactions that an earlier process, or a call without an answer, left. */
  #settle(now: number): void {
    const { tracks, steps, parts, wallets } = this.#options;
    for (const state of ["registering", "finishing"] as const) {
      const groups = Map.groupBy(
        tracks.ready(state, now),
        ({ upload }) => state === "registering" ? upload.register! : upload.finish!,
      );
      for (const [seq, group] of groups) {
        const saved = parts.signed.get(seq)!;
        const lease = wallets.take(saved.wallet);
        if (lease === undefined) {
          if (!wallets.has(saved.wallet)) this.#orphan(group, now);
          continue;
        }
        this.#pay(group, lease, async () => {
          const uploads = group.map(({ upload }) => upload);
          if (state === "registering") await steps.settleRegister(saved, uploads);
          else await steps.settleFinish(saved, uploads);
        });
      }
    }
  }

  #register(now: number): number {
    const { tracks, steps, wallets, troubles } = this.#options;
    const gathered = gatherRegister(tracks.all(), now);
    if (!("group" in gathered)) return gathered.at;
    const lease = wallets.takeAny(now, tracks.blocked());
    if (lease === undefined) {
      if (wallets.poor(now) < wallets.addresses.length) return Infinity;
      troubles.failed(new StepFailure("poor", "wallets", "the wallets hold too little SUI or WAL"));
      return now + POOR_MS;
    }
    const { group } = gathered;
    this.#pay(group, lease, async (part) => {
      const withTip = await steps.tip(group[0]!.upload) > 0n;
      // A transaction pays one tip, so the other blobs wait for their own.
      const paid = withTip ? group.slice(0, 1) : group;
      part(paid);
      await steps.register(lease, paid.map(({ upload }) => upload), withTip);
    });
    return now;
  }

  #upload(now: number): void {
    const { tracks, steps } = this.#options;
    const free = TRANSFERS - tracks.busy("registered");
    for (const track of tracks.ready("registered", now).slice(0, Math.max(0, free))) {
      this.#start([track], ["relay", "disk"], () => steps.upload(track.upload));
    }
  }

  #publish(now: number): void {
    const { tracks, steps, wallets } = this.#options;
    let free = TRANSFERS - tracks.busy("encoded") - tracks.busy("asked");
    for (const track of tracks.ready("asked", now).slice(0, Math.max(0, free))) {
      free--;
      this.#start([track], ["publisher", "chain"], () => steps.find(track.upload));
    }
    const { addresses } = wallets;
    for (const track of tracks.ready("encoded", now).slice(0, Math.max(0, free))) {
      const wallet = addresses[Math.floor(this.#asked++ / MAX_GROUP) % addresses.length]!;
      this.#start([track], ["publisher", "disk"], () => steps.publish(track.upload, wallet));
    }
  }

  #finish(now: number): number {
    const { tracks, steps, wallets } = this.#options;
    const blocked = tracks.blocked();
    const isFree = (wallet: string) => wallets.isFree(wallet) && !blocked.has(wallet);
    const gathered: Gathered = gatherFinish(tracks.all(), now, isFree);
    if (!("group" in gathered)) return gathered.at;
    const { group } = gathered;
    const lease = wallets.take(group[0]!.upload.wallet!);
    if (lease === undefined) return Infinity;
    this.#pay(group, lease, () => steps.finish(lease, group.map(({ upload }) => upload)));
    return now;
  }

  /** Runs a step with a wallet; completes what it finished before the wallet is free again. */
  #pay(
    group: readonly Track[],
    lease: Lease,
    work: (only: (part: readonly Track[]) => void) => Promise<void>,
  ): void {
    const { tracks, parts, wallets } = this.#options;
    let mine = group;
    const isPaid = (): boolean => {
      tracks.refresh(group, parts.clock.now());
      return mine.some(({ upload }) => upload.state === "finishing");
    };
    this.#start(group, ["chain", "wallets"], async () => {
      using held = lease;
      try {
        await work((part) => mine = part);
        wallets.setPaid(held.address);
        if (isPaid()) await this.#complete(mine);
      } catch (thrown) {
        const failure = StepFailure.of("chain", thrown);
        if (failure.kind === "poor") wallets.setPoor(held.address, parts.clock.now() + POOR_MS);
        throw failure;
      }
    });
  }

  async #complete(group: readonly Track[]): Promise<void> {
    const { parts, done, troubles } = this.#options;
    const paid = group.filter(({ upload }) => upload.state === "finishing");
    // Before callers get their ids: they may look at the health next.
    troubles.worked("chain", "wallets");
    for (const { upload } of paid) {
      done(upload, await complete(parts, upload, parts.clock.now()));
      parts.failpoint("done");
      await parts.files.remove(upload).catch(() => {});
    }
    const finish = paid[0]?.upload.finish;
    const { database } = parts.catalogue;
    if (finish !== undefined) await database.write(() => parts.signed.end(finish, "done"));
  }

  #orphan(group: readonly Track[], now: number): void {
    const message = "a wallet of SVC_SUI_PRIVATE_KEYS with uploads under way is missing";
    this.#options.troubles.failed(new StepFailure("poor", "wallets", message));
    for (const track of group) track.restUntil = now + POOR_MS;
  }

  #start(group: readonly Track[], parts: readonly Part[], work: () => Promise<void>): void {
    const { tracks, troubles, wake } = this.#options;
    const { clock, log } = this.#options.parts;
    for (const track of group) track.busy = true;
    const run = work().then(() => {
      troubles.worked(...parts);
      // Whether a relay worked is known only once the chain takes its certificate.
      if (parts[0] !== "relay") { for (const track of group) track.failures = 0; }
    }, (thrown: unknown) => {
      const failure = StepFailure.of(parts[0]!, thrown);
      // The client keeps what it has read for ever, also what a node got wrong.
      if (parts.includes("chain")) this.#options.parts.chain.reset();
      troubles.failed(failure);
      const failures = Math.max(...group.map((track) => track.failures)) + 1;
      // A single failure is not worth a line, nor is every one of a long row.
      if (failures % 4 === 2) log("warn", `walrus: ${failure.message}; trying again`);
      for (const track of group) {
        track.failures = failures;
        track.restUntil = clock.now() + restOf(failure, failures, track.upload);
      }
    }).finally(() => {
      for (const track of group) track.busy = false;
      tracks.refresh(group, clock.now());
      this.#running.delete(run);
      wake();
    });
    this.#running.add(run);
  }
}
