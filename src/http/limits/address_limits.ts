import { BoundedMap } from "../../bounded_map.ts";
import type { SharedWindows, WindowLimit } from "../../interfaces/mod.ts";
import { type Charge, type Layer, rateLimited } from "./rate_limit.ts";

const MAX_SHUT = 10_000;
/** Bytes that name a window. */
const NAME_BYTES = 16;

/** Limits of those who are known by an address only. */
export interface AddressLimiter {
  /**
   * Spends a weight in all layers, or in none; a promise where other relayers are asked.
   *
   * @throws {SvcError} `rate_limited` naming the layer that takes longest; `storage_unavailable`.
   */
  spend(charges: readonly Charge[], weight: number): void | Promise<void>;
  /** Gives back what a request spent that a later layer denied. */
  refund(charges: readonly Charge[], weight: number): void | Promise<void>;
}

/** A window that let nothing more pass. */
interface Shut {
  readonly layer: Layer;
  readonly weight: number;
  /** By the clock of `performance`, milliseconds. */
  readonly until: number;
}

/**
 * Counts in windows that all relayers of a store share. Such requests are looked up in the database
 * anyway, so that one statement more is exact and costs nobody a memory; whoever was refused is refused
 * without asking until the window lets it pass.
 */
export class SharedLimiter implements AddressLimiter {
  readonly #windows: SharedWindows;
  readonly #hmac: (text: string) => Uint8Array;
  readonly #shut = new BoundedMap<string, Shut>(MAX_SHUT);

  /** `hmac` names windows so that the store learns no address. */
  constructor(windows: SharedWindows, hmac: (text: string) => Uint8Array) {
    this.#windows = windows;
    this.#hmac = hmac;
  }

  async spend(charges: readonly Charge[], weight: number): Promise<void> {
    for (const charge of charges) {
      const shut = this.#shut.get(idOf(charge));
      if (shut === undefined || shut.weight > weight) continue;
      const ms = shut.until - performance.now();
      if (ms > 0) throw rateLimited(shut.layer, secondsOf(ms));
    }
    const waits = await this.#windows.spend(
      charges.map((charge) => this.#windowOf(charge)),
      weight,
    );
    const [longest] = charges.map((charge, i) => ({ charge, ms: waits[i] ?? 0 }))
      .sort((a, b) => b.ms - a.ms);
    if (longest === undefined || longest.ms === 0) return;
    const { charge, ms } = longest;
    const { layer } = charge;
    this.#shut.set(idOf(charge), { layer, weight, until: performance.now() + ms });
    throw rateLimited(layer, secondsOf(ms));
  }

  async refund(charges: readonly Charge[], weight: number): Promise<void> {
    await this.#windows.spend(charges.map((charge) => this.#windowOf(charge)), -weight);
  }

  #windowOf(charge: Charge): WindowLimit {
    const { limit, seconds } = charge.layer;
    return { name: this.#hmac(idOf(charge)).subarray(0, NAME_BYTES), limit, seconds };
  }
}

const idOf = ({ layer, key }: Charge) => `${layer.name} ${layer.seconds} ${key}`;
const secondsOf = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
