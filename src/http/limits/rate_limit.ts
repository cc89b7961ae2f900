import { BoundedMap } from "../../bounded_map.ts";
import { SvcError } from "../../errors.ts";
import { HEADER } from "../../wire/headers.ts";

const SLOTS = 60;
const MAX_KEYS = 100_000;

/** A window as another relayer left it. */
interface Noted {
  /** Number of its newest slot. */
  readonly slot: number;
  /** Weights of that and of those before it, backwards. */
  readonly weights: readonly number[];
}

/** Weights spent in a sliding window, in 60 slots. */
class Window {
  readonly #slots = new Float64Array(SLOTS);
  #newest = 0;
  total = 0;

  /** Moves to the slot of `now`; slots that left the window are cleared. */
  advance(slot: number): void {
    const steps = Math.min(SLOTS, slot - this.#newest);
    for (let i = 0; i < steps; i++) {
      const at = (this.#newest + 1 + i) % SLOTS;
      this.total -= this.#slots[at]!;
      this.#slots[at] = 0;
    }
    if (steps > 0) this.#newest = slot;
    if (steps === SLOTS) this.total = 0;
  }

  add(weight: number): void {
    const at = this.#newest % SLOTS;
    this.#slots[at] = this.#slots[at]! + weight;
    this.total += weight;
  }

  /** What it counts: the newest slot and the weights from there back; nothing when it is empty. */
  noted(): Noted | undefined {
    if (this.total <= 0) return undefined;
    const weights = Array.from(
      { length: SLOTS },
      (_, age) => this.#slots[(this.#newest - age + SLOTS) % SLOTS]!,
    );
    return {
      slot: this.#newest,
      weights: weights.slice(0, weights.findLastIndex((w) => w > 0) + 1),
    };
  }

  /** Counts what was counted elsewhere as well; what is here already is a part of that. */
  goOn({ slot, weights }: Noted): void {
    // A clock that is ahead must not keep a window shut until its time comes.
    const newest = Math.min(slot, this.#newest);
    weights.slice(0, SLOTS).forEach((weight, age) => {
      if (newest - age <= this.#newest - SLOTS) return;
      const at = (newest - age) % SLOTS;
      this.#slots[at] = Math.max(this.#slots[at]!, weight);
    });
    this.total = this.#slots.reduce((sum, weight) => sum + weight, 0);
  }

  /** Takes from the newest slots what was added a moment ago. */
  remove(weight: number): void {
    for (let i = 0; i < SLOTS && weight > 0; i++) {
      const at = (this.#newest - i + SLOTS) % SLOTS;
      const taken = Math.min(weight, this.#slots[at]!);
      this.#slots[at] = this.#slots[at]! - taken;
      this.total -= taken;
      weight -= taken;
    }
  }

  /** Slots until at least `weight` has left the window. */
  slotsUntil(weight: number): number {
    let left = 0;
    for (let i = 1; i <= SLOTS; i++) {
      left += this.#slots[(this.#newest + i) % SLOTS]!;
      if (left >= weight) return i;
    }
    return SLOTS;
  }
}

/** One layer of docs/protocol.md#7. */
export interface Layer {
  /** Name in headers and bodies. */
  readonly name: string;
  /** Weight that may be spent in a window. */
  readonly limit: number;
  /** Length of the window in seconds: 60 or 3600. */
  readonly seconds: number;
}

/** What one layer counts for one key. */
export interface Charge {
  readonly layer: Layer;
  /** Whom it counts for. */
  readonly key: string;
  /** Owner with whom the window goes, where it does. */
  readonly owner?: string;
}

/** What a request is refused with that a layer lets pass in so many seconds. */
export function rateLimited(layer: Layer, seconds: number): SvcError {
  const unit = layer.seconds === 60 ? "min" : layer.seconds === 3600 ? "hour" : "s";
  return new SvcError("rate_limited", undefined, {
    retryAfter: seconds,
    extra: { layer: layer.name, limit: `${layer.limit} weighted-requests/${unit}` },
  });
}

/** Counts weights in sliding windows; a denied request consumes nothing in any layer. */
export class RateLimiter {
  readonly #now: () => number;
  readonly #onSpent: ((charges: readonly Charge[], weight: number) => void) | undefined;
  readonly #windows = new BoundedMap<string, Window>(MAX_KEYS);

  /**
   * @param now Milliseconds since the epoch.
   * @param onSpent Told what was counted.
   */
  constructor(now: () => number, onSpent?: (charges: readonly Charge[], weight: number) => void) {
    this.#now = now;
    this.#onSpent = onSpent;
  }

  /**
   * Spends a weight in all layers, or in none.
   *
   * @throws {SvcError} `rate_limited` naming the layer that takes longest.
   */
  spend(charges: readonly Charge[], weight: number): void {
    if (weight === 0) return;
    const windows = charges.map((charge) => this.#window(charge));
    const denials = charges.flatMap(({ layer }, i) => {
      const missing = windows[i]!.total + weight - layer.limit;
      if (missing <= 0) return [];
      const slots = windows[i]!.slotsUntil(missing);
      return [{ layer, seconds: Math.max(1, Math.ceil(slots * layer.seconds / SLOTS)) }];
    });
    // The request passes when the slowest of the spent windows lets it.
    const [denial] = denials.sort((a, b) => b.seconds - a.seconds);
    if (denial !== undefined) {
      throw rateLimited(denial.layer, denial.seconds);
    }
    for (const window of windows) window.add(weight);
    this.#onSpent?.(charges, weight);
  }

  /** Counts what an answer turned out to weigh, also beyond the limits: later requests wait for it. */
  add(charges: readonly Charge[], weight: number): void {
    for (const charge of charges) this.#window(charge).add(weight);
    this.#onSpent?.(charges, weight);
  }

  /** Gives back what a request spent that a later layer denied: it consumes nothing. */
  refund(charges: readonly Charge[], weight: number): void {
    for (const charge of charges) this.#window(charge).remove(weight);
  }

  /** Headers of the IETF RateLimit draft; none without charges. */
  headers(charges: readonly Charge[]): Record<string, string> {
    if (charges.length === 0) return {};
    const policy = charges.map(({ layer }) =>
      `"${layer.name}";q=${layer.limit};w=${layer.seconds}`
    );
    const state = charges.map((charge) => {
      const { layer } = charge;
      const left = Math.max(0, Math.floor(layer.limit - this.#window(charge).total));
      return `"${layer.name}";r=${left};t=${layer.seconds}`;
    });
    return { [HEADER.rateLimitPolicy]: policy.join(", "), [HEADER.rateLimit]: state.join(", ") };
  }

  /** What a window counts, for another relayer to go on with; `undefined` when that is nothing. */
  noted(charge: Charge): string | undefined {
    const noted = this.#window(charge).noted();
    return noted && JSON.stringify(noted);
  }

  /** Goes on with a window as another relayer noted it. */
  goOn(charge: Charge, noted: string): void {
    this.#window(charge).goOn(JSON.parse(noted));
  }

  #window({ layer, key }: Charge): Window {
    // A layer may have a window of a minute and one of an hour.
    const id = `${layer.name} ${layer.seconds} ${key}`;
    const slot = Math.floor(this.#now() / (layer.seconds * 1000 / SLOTS));
    let window = this.#windows.get(id);
    if (window === undefined) {
      window = new Window();
      this.#windows.set(id, window);
    }
    window.advance(slot);
    return window;
  }
}
