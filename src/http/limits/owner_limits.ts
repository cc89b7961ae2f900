import type { OwnerCounts } from "../../memory/owners/owner_counts.ts";
import type { OwnerCountTable } from "../../storage/core/owner_count_table.ts";
import { type Charge, RateLimiter } from "./rate_limit.ts";

const NAME = "limit ";
/** Of a limit may be spent before it is noted: a relayer that is killed forgets no more. */
const UNNOTED = 1 / 10;
/** Shorter windows are noted only when the owner goes, seconds. */
const NOTED_FROM = 60;

/** What of a window is not noted yet. */
interface Spent {
  readonly charge: Charge;
  weight: number;
}

/**
 * The limits of owners and their keys, where several relayers take turns: windows go with their owner,
 * so that who asks one relayer after the other may spend no more than who asks one. In between a tenth
 * of a limit is spent before that is noted, with what else is noted of the owner.
 */
export class OwnerLimits implements OwnerCounts {
  /** Spends for owners that are here. */
  readonly limiter: RateLimiter;
  readonly #table: Omit<OwnerCountTable, never>;
  readonly #spent = new Map<string, Map<string, Spent>>();

  /** `now`: milliseconds since the epoch. */
  constructor(table: Omit<OwnerCountTable, never>, now: () => number) {
    this.#table = table;
    this.limiter = new RateLimiter(now, (charges, weight) => this.#note(charges, weight));
  }

  enter(owner: string): void {
    for (const { name, value } of this.#table.of(owner)) {
      if (!name.startsWith(NAME)) continue;
      const [layer = "", seconds = "", key = ""] = name.slice(NAME.length).split(" ");
      const charge = { layer: { name: layer, limit: 0, seconds: Number(seconds) }, key, owner };
      this.limiter.goOn(charge, value);
      // Looked at again when the owner goes: it may be empty then.
      this.#spentBy(owner).set(name, { charge, weight: 0 });
    }
  }

  settle(owner: string): void {
    for (const { charge } of this.#spent.get(owner)?.values() ?? []) this.#write(owner, charge);
    this.#spent.delete(owner);
  }

  forget(owner: string): void {
    this.#spent.delete(owner);
  }

  #note(charges: readonly Charge[], weight: number): void {
    for (const charge of charges) {
      const { owner, layer } = charge;
      if (owner === undefined) continue;
      const name = nameOf(charge);
      const spent = this.#spentBy(owner).getOrInsertComputed(name, () => ({ charge, weight: 0 }));
      spent.weight += weight;
      if (layer.seconds < NOTED_FROM || spent.weight < layer.limit * UNNOTED) continue;
      this.#write(owner, charge);
      spent.weight = 0;
    }
  }

  #spentBy(owner: string): Map<string, Spent> {
    return this.#spent.getOrInsertComputed(owner, () => new Map());
  }

  #write(owner: string, charge: Charge): void {
    this.#table.write(owner, nameOf(charge), this.limiter.noted(charge));
  }
}

const nameOf = ({ layer, key }: Charge) => `${NAME}${layer.name} ${layer.seconds} ${key}`;
