import { complete } from "./completion.ts";
import { backoffMs, type Part, StepFailure, Troubles } from "./failure.ts";
import { type StepParts, Steps } from "./steps.ts";
import {
  type Gathered,
  gatherFinish,
  gatherRegister,
  MAX_GROUP,
  type Track,
  Tracks,
} from "./tracks.ts";
import type { Upload } from "./upload.ts";
import type { Lease, Wallets } from "./wallets.ts";

/** Blobs on the wire to a relay or publisher at the same time. */
const TRANSFERS = 8;

/** How long a wallet that could not pay is left alone. */
const POOR_MS = 60_000;

interface PumpOptions extends StepParts {
  readonly wallets: Wallets;
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
  /** The uploads under way. */
  readonly tracks: Tracks;
  readonly troubles = new Troubles();
  readonly #options: PumpOptions;
  readonly #steps: Steps;
  readonly #running = new Set<Promise<void>>();
  #asked = 0;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.#steps = new Steps(options);
    this.tracks = new Tracks(options.uploads, options.clock.now());
  }

  /** Resolves when no step is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Starts what can be started; returns when to look again at the latest. */
  look(now: number): number {
    const { publisher } = this.#options;
    this.#settle(now);
    this.#encode(now);
    if (publisher === undefined) this.#upload(now);
    else this.#publish(now);
    const due = [
      publisher === undefined ? this.#register(now) : Infinity,
      this.#finish(now),
      ...this.tracks.all().filter(({ busy }) => !busy).map(({ restUntil }) => restUntil)
        .filter((at) => at > now),
    ];
    return Math.min(...due);
  }

  #encode(now: number): void {
    if (this.tracks.busy("cut") > 0) return;
    const [next] = this.tracks.ready("cut", now);
    if (next === undefined) return;
    this.#start([next], ["encoder", "chain", "disk"], () => this.#steps.encode(next.upload));
  }

  /** Settles transactions that an earlier process, or a call without an answer, left. */
  #settle(now: number): void {
    const { uploads, wallets } = this.#options;
    for (const state of ["registering", "finishing"] as const) {
      const groups = Map.groupBy(
        this.tracks.ready(state, now),
        ({ upload }) => state === "registering" ? upload.register! : upload.finish!,
      );
      for (const [seq, group] of groups) {
        const saved = uploads.signed(seq)!;
        const lease = wallets.take(saved.wallet);
        if (lease === undefined) {
          if (!wallets.has(saved.wallet)) this.#orphan(group, now);
          continue;
        }
        this.#pay(group, lease, async () => {
          const all = group.map(({ upload }) => upload);
          if (state === "registering") await this.#steps.settleRegister(saved, all);
          else await this.#steps.settleFinish(saved, all);
        });
      }
    }
  }

  #register(now: number): number {
    const { chain, wallets } = this.#options;
    const gathered = gatherRegister(this.tracks.all(), now);
    if (!("group" in gathered)) return gathered.at;
    const lease = wallets.takeAny(now, this.tracks.blocked());
    if (lease === undefined) {
      if (wallets.poor(now) < wallets.addresses.length) return Infinity;
      const message = "the wallets hold too little SUI or WAL";
      this.troubles.failed(new StepFailure("poor", "wallets", message));
      return now + POOR_MS;
    }
    const { group } = gathered;
    this.#pay(group, lease, async (part) => {
      const withTip = await chain.tip(group[0]!.upload.encoded!.size) > 0n;
      // A transaction pays one tip, so the other blobs wait for their own.
      const paid = withTip ? group.slice(0, 1) : group;
      part(paid);
      await this.#steps.register(lease, paid.map(({ upload }) => upload), withTip);
    });
    return now;
  }

  #upload(now: number): void {
    const free = TRANSFERS - this.tracks.busy("registered");
    for (const track of this.tracks.ready("registered", now).slice(0, Math.max(0, free))) {
      this.#start([track], ["relay", "disk"], () => this.#steps.upload(track.upload));
    }
  }

  #publish(now: number): void {
    const [tracks, steps] = [this.tracks, this.#steps];
    let free = TRANSFERS - tracks.busy("encoded") - tracks.busy("asked");
    for (const track of tracks.ready("asked", now).slice(0, Math.max(0, free))) {
      free--;
      this.#start([track], ["publisher", "chain"], () => steps.find(track.upload));
    }
    const { addresses } = this.#options.wallets;
    for (const track of tracks.ready("encoded", now).slice(0, Math.max(0, free))) {
      const wallet = addresses[Math.floor(this.#asked++ / MAX_GROUP) % addresses.length]!;
      this.#start([track], ["publisher", "disk"], () => steps.publish(track.upload, wallet));
    }
  }

  #finish(now: number): number {
    const { wallets } = this.#options;
    const blocked = this.tracks.blocked();
    const isFree = (wallet: string) => wallets.isFree(wallet) && !blocked.has(wallet);
    const gathered: Gathered = gatherFinish(this.tracks.all(), now, isFree);
    if (!("group" in gathered)) return gathered.at;
    const { group } = gathered;
    const lease = wallets.take(group[0]!.upload.wallet!);
    if (lease === undefined) return Infinity;
    this.#pay(group, lease, () => this.#steps.finish(lease, group.map(({ upload }) => upload)));
    return now;
  }

  /** Runs a step with a wallet; completes what it finished before the wallet is free again. */
  #pay(
    group: readonly Track[],
    lease: Lease,
    work: (only: (part: readonly Track[]) => void) => Promise<void>,
  ): void {
    const { clock, wallets } = this.#options;
    let mine = group;
    const isPaid = (): boolean => {
      this.tracks.refresh(group, clock.now());
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
        if (failure.kind === "poor") wallets.setPoor(held.address, clock.now() + POOR_MS);
        throw failure;
      }
    });
  }

  async #complete(group: readonly Track[]): Promise<void> {
    const { catalogue, uploads, files, clock, done, failpoint } = this.#options;
    const paid = group.filter(({ upload }) => upload.state === "finishing");
    // Before callers get their ids: they may look at the health next.
    this.troubles.worked("chain", "wallets");
    for (const { upload } of paid) {
      done(upload, await complete(this.#options, upload, clock.now()));
      failpoint("done");
      await files.remove(upload).catch(() => {});
    }
    const finish = paid[0]?.upload.finish;
    if (finish === undefined) return;
    await catalogue.database.write(() => uploads.endSigned(finish, "done"));
  }

  #orphan(group: readonly Track[], now: number): void {
    const message = "a wallet of SVC_SUI_PRIVATE_KEYS with uploads under way is missing";
    this.troubles.failed(new StepFailure("poor", "wallets", message));
    for (const track of group) track.restUntil = now + POOR_MS;
  }

  #start(group: readonly Track[], parts: readonly Part[], work: () => Promise<void>): void {
    const { chain, clock, log, wake } = this.#options;
    for (const track of group) track.busy = true;
    const run = work().then(() => {
      this.troubles.worked(...parts);
      // Whether a relay worked is known only once the chain takes its certificate.
      if (parts[0] !== "relay") { for (const track of group) track.failures = 0; }
    }, (thrown: unknown) => {
      const failure = StepFailure.of(parts[0]!, thrown);
      // The client keeps what it has read for ever, also what a node got wrong.
      if (parts.includes("chain")) chain.reset();
      this.troubles.failed(failure);
      const failures = Math.max(...group.map((track) => track.failures)) + 1;
      // A single failure is not worth a line, nor is every one of a long row.
      if (failures % 4 === 2) log("warn", `walrus: ${failure.message}; trying again`);
      for (const track of group) {
        track.failures = failures;
        track.restUntil = clock.now() + restOf(failure, failures, track.upload);
      }
    }).finally(() => {
      for (const track of group) track.busy = false;
      this.tracks.refresh(group, clock.now());
      this.#running.delete(run);
      wake();
    });
    this.#running.add(run);
  }
}
