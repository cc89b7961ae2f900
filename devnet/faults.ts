/** How an endpoint of the devnet misbehaves. */
export type Fault =
  /** Nobody answers: the connection is closed at once. */
  | { readonly kind: "down" }
  /** The connection stays open, no answer comes. */
  | { readonly kind: "hang" }
  /** The answer comes late. `ms`: milliseconds. */
  | { readonly kind: "slow"; readonly ms: number }
  /** An error answer. `retryAfter`: seconds. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: number }
  /** A well-formed lie: other bytes, another owner, a wrong certificate or key share. */
  | { readonly kind: "wrong" };

/**
 * Name of an endpoint: `chain`, `keyServer:0`, `aggregator:0`, `publisher`, `relay`, `node:0`, …;
 * indexes count from 0.
 */
export type Endpoint = string;

/** Switches that make endpoints misbehave, and counts of what was called. */
export class Faults {
  readonly #faults = new Map<Endpoint, Fault>();
  readonly #calls = new Map<string, number>();
  readonly #changed = new Set<() => void>();

  /** Sets or, with undefined, clears the fault of an endpoint. */
  set(endpoint: Endpoint, fault: Fault | undefined): void {
    if (fault === undefined) this.#faults.delete(endpoint);
    else this.#faults.set(endpoint, fault);
    for (const listener of this.#changed) listener();
  }

  /** The fault of an endpoint. */
  get(endpoint: Endpoint): Fault | undefined {
    return this.#faults.get(endpoint);
  }

  /** Clears every fault. */
  clear(): void {
    this.#faults.clear();
    for (const listener of this.#changed) listener();
  }

  /** Calls back after every change, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }

  /** Counts a call. @param name `endpoint` or `endpoint/method`. */
  count(name: string): void {
    this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1);
  }

  /** How often each name was called. */
  get calls(): ReadonlyMap<string, number> {
    return this.#calls;
  }
}
