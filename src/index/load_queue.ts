import { within } from "../deadline.ts";
import type { LoadedScope, ResidentScope } from "./resident_scope.ts";
import type { ScopeLoading } from "./scope_loading.ts";

/** A scope in RAM or on its way there. */
export interface HeldScope {
  readonly key: string;
  readonly resident: ResidentScope;
  /** Present while pages are still to come. */
  loading: ScopeLoading | undefined;
  /** Settled once it is loaded. */
  readonly ready: Promise<LoadedScope>;
  /** Callers that wait for the scope or read it: until they are done it is not evicted. */
  readers: number;
  /** What it adds to the index's bytes. */
  bytes: number;
  /** Forgets the texts in time; see `forgetWordsAfter`. */
  forgetting: ReturnType<typeof setTimeout> | undefined;
}

/** Loads of one owner at once: more would only make other owners' take longer. */
const LOADS_OF_OWNER = 4;

/** Longest that one load waits for other loads, and for readers, milliseconds. */
const PATIENCE_MS = { loads: 10_000, readers: 500 };

export type Hindrance = keyof typeof PATIENCE_MS;

/**
 * What holds up a load when there is no room. The first load always goes on, and so do the smallest
 * others while they are small together, so that they never wait for a large one.
 *
 * @param all Every scope in RAM or on its way there, in the order in which loads were started.
 * @param smallBytes What is small.
 */
export function hindranceOf(
  held: HeldScope,
  all: readonly HeldScope[],
  smallBytes: number,
): Hindrance | undefined {
  const [first, ...others] = all.filter(({ loading }) => loading !== undefined);
  if (first !== held) {
    const upTo = others.filter(({ bytes }) => bytes <= held.bytes);
    return upTo.reduce((sum, { bytes }) => sum + bytes, 0) <= smallBytes ? undefined : "loads";
  }
  if (held.bytes <= smallBytes) return undefined;
  return all.some(({ loading, readers }) => !loading && readers > 0) ? "readers" : undefined;
}

/** How many loads of each owner are under way; the next of the same owner wait, the others do not. */
export class LoadShares {
  readonly #owners = new Map<string, { underWay: number; readonly waiting: (() => void)[] }>();

  /** Waits until the owner has a load less than it may; the answer ends this one. */
  async enter(owner: string): Promise<() => void> {
    const share = this.#owners.getOrInsertComputed(owner, () => ({ underWay: 0, waiting: [] }));
    if (share.underWay < LOADS_OF_OWNER) share.underWay++;
    else await new Promise<void>((resolve) => share.waiting.push(resolve));
    return () => {
      const next = share.waiting.shift();
      if (next !== undefined) next();
      else if (--share.underWay === 0) this.#owners.delete(owner);
    };
  }
}

/** Lets loads wait while there is no room for all of them. */
export class LoadQueue {
  #told: PromiseWithResolvers<void> | undefined;

  /** To be called when a load or a reader ended, or a scope shrank: waiting loads look again. */
  tell(): void {
    this.#told?.resolve();
    this.#told = undefined;
  }

  /**
   * The waits of one load. A wait resolves when nothing holds the load up, or when its waits for the
   * same hindrance have taken `patienceMs` together.
   */
  wait(patienceMs = PATIENCE_MS): (hindrance: () => Hindrance | undefined) => Promise<void> {
    const left = { ...patienceMs };
    return async (hindrance) => {
      for (;;) {
        const found = hindrance();
        if (found === undefined || left[found] <= 0) return;
        const since = performance.now();
        this.#told ??= Promise.withResolvers();
        await within(left[found], this.#told.promise);
        left[found] -= performance.now() - since;
      }
    };
  }
}
