import { within } from "../../deadline.ts";
import { SvcError } from "../../errors.ts";
import type { OwnerLeases } from "../../interfaces/mod.ts";
import { type Held, isHere, nothingHeld } from "./held.ts";
import type { OwnerHold, Owners, OwnersState } from "./owners.ts";

/** How long somebody waits for an owner whom another relayer has, milliseconds. */
const TAKE_MS = 10_000;
/** How often it is tried meanwhile, and how often leases are renewed at least, milliseconds. */
const LOOK_MS = 100;
/** How long what is under way for an owner may go on when another relayer wants it, milliseconds. */
const LEAVE_MS = 5_000;
/** How often owners are looked for whom a relayer left with unfinished jobs, milliseconds. */
const ORPHANS_MS = 1_000;
/** How long an owner stays of whom nobody asks anything, milliseconds. */
const IDLE_MS = 3_600_000;
/** Owners taken up at once after a relayer ended. */
const ORPHANS = 50;

/** What a relayer keeps of an owner while it has it. */
export interface OwnerState {
  /** Reads what other relayers left, and takes up their jobs. */
  enter(owner: string): Promise<void>;
  /** Called once the owner is here. */
  entered(owner: string): void;
  /** Makes all durable that was noted of the owner, also what waits for a better time. */
  settle(owner: string): Promise<void>;
  /**
   * Ends jobs of the owner, where those that are left would wait for somebody with a credential; for so
   * many milliseconds at most.
   */
  workOff?(owner: string, ms: number): Promise<void>;
  /** Makes durable what was noted of the owner. */
  flush(owner: string): Promise<void>;
  /** Forgets the owner: its jobs, its namespaces in RAM, what is known of it. */
  forget(owner: string): void;
}

const elsewhere = () =>
  new SvcError("overloaded", "Another relayer works for this account now: try again", {
    retryAfter: 1,
  });

/** Renewals that are tried until it is sure that no other relayer has an owner. */
const SURE_TRIES = 3;

/**
 * The owners that this relayer has of those whom several relayers share. It takes one when somebody
 * asks for it, keeps it until another relayer wants it, and lets it go when nothing is under way. One
 * that was lost, or let go, is taken again only when nothing of before is under way any more.
 */
export class LeasedOwners implements Owners, AsyncDisposable {
  readonly #leases: OwnerLeases;
  readonly #state: OwnerState;
  readonly #warn: (event: string, error: unknown) => void;
  readonly #held = new Map<string, Held>();
  /** Until when no other relayer can have taken an owner, by two clocks: one of them may stand still. */
  #sureUntil = { elapsed: -Infinity, time: -Infinity };
  /** Whether leases may have run out since it was looked which owners are left. */
  #isInDoubt = false;
  #renewing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watch: Disposable | undefined;
  /** Calls of those who wait for an owner. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #looking: Promise<void> | undefined;
  #orphansAt = -Infinity;
  readonly #idleMs: number;
  #closing = false;

  /**
   * `warn` is told what failed in the background. An owner of whom nobody asks anything for `idleMs` is
   * let go, so that a relayer need not remember whomever it ever worked for.
   */
  constructor(
    leases: OwnerLeases,
    state: OwnerState,
    warn: (event: string, error: unknown) => void,
    idleMs = IDLE_MS,
  ) {
    this.#idleMs = idleMs;
    this.#leases = leases;
    this.#state = state;
    this.#warn = warn;
  }

  /** Begins to renew leases and to look for what other relayers left. */
  async start(): Promise<void> {
    await this.#renew();
    this.#watch = this.#leases.watch?.({
      wanted: (owner) => this.#asked(owner),
      free: (owner) => {
        for (const call of this.#waiting.get(owner) ?? []) call();
      },
    });
    this.#schedule();
  }

  async hold(owner: string): Promise<OwnerHold> {
    const until = performance.now() + TAKE_MS;
    for (;;) {
      // Before it is tried: it may be let go before that is answered.
      using turn = this.#nextTurn(owner);
      const hold = await this.#tryHold(owner, true);
      if (hold !== undefined) return hold;
      if (performance.now() >= until) {
        const text = "Another relayer is busy with this account: try again";
        throw new SvcError("overloaded", text, { retryAfter: 1 });
      }
      await turn.comes();
    }
  }

  /** Waits until an owner is let go, or it is time to look in any case. */
  #nextTurn(owner: string): Disposable & { comes(): Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.getOrInsertComputed(owner, () => new Set());
    waiting.add(resolve);
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      comes: () => {
        timer = setTimeout(resolve, LOOK_MS);
        return promise;
      },
      [Symbol.dispose]: () => {
        clearTimeout(timer);
        waiting.delete(resolve);
        if (waiting.size === 0 && this.#waiting.get(owner) === waiting) this.#waiting.delete(owner);
      },
    };
  }

  /** Somebody asks for an owner: what the next look would tell. */
  #asked(owner: string): void {
    const held = this.#held.get(owner);
    if (held === undefined || this.#closing) return;
    this.#leave(owner, held, LEAVE_MS).catch((error) => this.#warn("owner_not_left", error));
  }

  holdFree(owner: string): Promise<OwnerHold | undefined> {
    return this.#tryHold(owner, false);
  }

  holdOwn(owner: string): OwnerHold | undefined {
    const held = this.#held.get(owner);
    if (held === undefined || !isHere(held) || held.going || !this.#isSure) return undefined;
    return this.#lend(owner, held, "count");
  }

  holdForJob(owner: string): OwnerHold | undefined {
    const held = this.#held.get(owner);
    if (held === undefined || !isHere(held) || !this.#isSure) return undefined;
    if (held.going && !held.worksOff) return undefined;
    return this.#lend(owner, held, "jobs");
  }

  async settled(owner: string): Promise<void> {
    const held = this.#held.get(owner);
    if (held === undefined || !isHere(held)) throw elsewhere();
    try {
      await this.#state.flush(owner);
    } catch (error) {
      // What was noted is nowhere but here: the truth is read again by whoever asks next.
      if (isHere(held)) this.#retire(owner, held);
      throw error;
    }
    for (let tries = 0; !this.#isSure && tries < SURE_TRIES; tries++) await this.#renew();
    if (!isHere(held) || !this.#isSure) throw elsewhere();
  }

  doubt(owner: string): void {
    const held = this.#held.get(owner);
    if (held !== undefined && isHere(held)) this.#retire(owner, held);
  }

  state(): OwnersState {
    const sure = this.#sureUntil.elapsed - this.#leases.lastMs;
    return { count: this.#held.size, leaseAge: (performance.now() - sure) / 1000 };
  }

  /** Lets every owner go. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    this.#watch?.[Symbol.dispose]();
    clearTimeout(this.#timer);
    await this.#looking;
    await this.#renewing?.catch(() => {});
    await Promise.allSettled([...this.#held.values()].map(({ coming }) => coming));
    await Promise.allSettled([...this.#held].map(([owner, held]) => this.#leave(owner, held, 0)));
  }

  get #isSure(): boolean {
    const { elapsed, time } = this.#sureUntil;
    return performance.now() < elapsed && Date.now() < time;
  }

  async #tryHold(owner: string, ask: boolean): Promise<OwnerHold | undefined> {
    if (this.#closing) throw new SvcError("shutting_down");
    const held = this.#held.get(owner) ?? this.#take(owner, ask);
    const before = held.gone ?? held.going ?? held.coming;
    if (before !== undefined) {
      await within(TAKE_MS, before);
      const now = this.#held.get(owner);
      // Somebody else has it, or it has to be taken anew.
      if (now !== held || !isHere(held) || held.going) return undefined;
    }
    if (!this.#isSure) {
      await this.#renew();
      return undefined;
    }
    return this.#lend(owner, held, "count");
  }

  #lend(owner: string, held: Held, kind: "count" | "jobs"): OwnerHold {
    held[kind]++;
    held.usedAt = performance.now();
    let isOver = false;
    return {
      settled: () => isHere(held) ? this.settled(owner) : Promise.reject(elsewhere()),
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        held[kind]--;
        if (held.count + held.jobs === 0) { for (const call of held.idle) call(); }
      },
    };
  }

  #take(owner: string, ask: boolean): Held {
    const held = nothingHeld();
    this.#held.set(owner, held);
    held.coming = this.#enter(owner, held, ask);
    held.coming.catch(() => {});
    return held;
  }

  async #enter(owner: string, held: Held, ask: boolean): Promise<void> {
    try {
      if (!await this.#leases.take(owner, ask)) {
        this.#held.delete(owner);
        return;
      }
      await this.#state.enter(owner);
      // The lease may have run out meanwhile.
      if (held.gone !== undefined) return;
      held.coming = undefined;
      this.#state.entered(owner);
    } catch (error) {
      if (held.gone === undefined) this.#retire(owner, held);
      throw error;
    }
  }

  /** Forgets an owner that is somebody else's now, or may be, and lets it go in any case. */
  #retire(owner: string, held: Held): void {
    held.gone = this.#end(owner, held).finally(() => {
      if (this.#held.get(owner) === held) this.#held.delete(owner);
    });
    held.gone.catch(() => {});
  }

  async #end(owner: string, held: Held): Promise<void> {
    try {
      this.#state.forget(owner);
    } catch (error) {
      this.#warn("owner_not_forgotten", error);
    }
    // Until it is answered nobody here takes the owner: else it would end a later lease.
    await this.#leases.release(owner).catch((error) => this.#warn("owner_not_released", error));
    if (held.coming !== undefined) await held.coming.catch(() => {});
    if (held.count + held.jobs > 0) {
      await new Promise<void>((resolve) => void held.idle.add(resolve));
    }
  }

  #leave(owner: string, held: Held, waitMs: number): Promise<void> {
    if (held.gone !== undefined) return this.#closing ? Promise.resolve() : held.gone;
    if (held.coming !== undefined) return Promise.resolve();
    if (performance.now() < held.staysUntil && !this.#closing) return Promise.resolve();
    return held.going ??= this.#letGo(owner, held, waitMs).finally(() => held.going = undefined);
  }

  async #letGo(owner: string, held: Held, waitMs: number): Promise<void> {
    const isBusy = () => held.count > 0 && !this.#closing;
    const end = performance.now() + waitMs;
    if (waitMs > 0) {
      held.worksOff = this.#state.workOff !== undefined;
      await this.#state.workOff?.(owner, waitMs).finally(() => held.worksOff = false);
    }
    if (held.count + held.jobs > 0) await this.#isIdle(held, Math.max(0, end - performance.now()));
    if (isBusy()) {
      // Requests have waited for it long enough: they come first for a while.
      held.staysUntil = performance.now() + LEAVE_MS;
      return;
    }
    try {
      if (held.gone === undefined) await this.#state.settle(owner);
    } catch (error) {
      this.#warn("owner_not_settled", error);
    }
    if (held.gone !== undefined) return;
    this.#retire(owner, held);
    if (this.#closing) await this.#leases.release(owner).catch(() => {});
  }

  async #isIdle(held: Held, waitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.idle.add(resolve);
    await within(waitMs, promise);
    held.idle.delete(resolve);
  }

  #renew(): Promise<void> {
    return this.#renewing ??= this.#askNews().finally(() => this.#renewing = undefined);
  }

  async #askNews(): Promise<void> {
    const { lastMs } = this.#leases;
    const sureUntil = { elapsed: performance.now() + lastMs, time: Date.now() + lastMs };
    this.#isInDoubt ||= !this.#isSure;
    const { wanted, hadRunOut } = await this.#leases.renew();
    this.#isInDoubt ||= hadRunOut;
    if (this.#isInDoubt) {
      const known = [...this.#held];
      const mine = new Set(await this.#leases.mine());
      for (const [owner, held] of known) {
        // What was asked for in vain meanwhile must not end the lease of whoever asked again.
        const isThere = this.#held.get(owner) === held && held.gone === undefined;
        if (isThere && !mine.has(owner)) this.#retire(owner, held);
      }
      this.#isInDoubt = false;
    }
    this.#sureUntil = sureUntil;
    for (const owner of wanted) {
      if (!this.#held.has(owner)) this.#held.set(owner, nothingHeld());
      this.#asked(owner);
    }
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
        if (!this.#closing) this.#schedule();
      });
    }, LOOK_MS);
  }

  async #look(): Promise<void> {
    try {
      await this.#renew();
      if (performance.now() - this.#orphansAt > ORPHANS_MS) await this.#takeOrphans();
      this.#leaveIdle();
    } catch (error) {
      if (!this.#closing) this.#warn("leases_not_renewed", error);
    }
  }

  #leaveIdle(): void {
    const before = performance.now() - this.#idleMs;
    for (const [owner, held] of this.#held) {
      if (held.usedAt > before || held.count + held.jobs > 0) continue;
      this.#leave(owner, held, 0).catch((error) => this.#warn("owner_not_left", error));
    }
  }

  async #takeOrphans(): Promise<void> {
    this.#orphansAt = performance.now();
    for (const owner of await this.#leases.orphaned(ORPHANS)) {
      // Jobs of an owner that is here are under way.
      using _hold = this.#held.has(owner) ? undefined : await this.holdFree(owner);
    }
  }
}
