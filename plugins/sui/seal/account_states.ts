import { BoundedMap } from "../../../src/bounded_map.ts";
import { since } from "./age.ts";
import type { AccountState, KeyWork } from "./calls.ts";
import { chainDown } from "./failures.ts";

/** Age from which a state is read anew, unless a change is told before. */
const FRESH_MS = 15_000;
/** Age up to which a state is used while the chain cannot be read. */
const STALE_MS = 60_000;
/** Age up to which a state is not read again to make sure. */
const SURE_MS = 1_000;
/** Nodes behind one address differ by seconds, so a generation not seen for so long was a lie. */
const BEHIND_MS = 10 * 60_000;
const MAX_KNOWN = 10_000;

interface Known {
  readonly state: AccountState;
  readonly at: number;
}

/** Generations and readers of accounts, read from the chain and kept briefly. */
export class AccountStates {
  readonly #work: Pick<KeyWork, "account">;
  readonly #now: () => number;
  readonly #known = new BoundedMap<string, Known>(MAX_KNOWN);
  readonly #running = new Map<string, Promise<Known>>();
  /** Highest generations seen, because the next answer may come from a node that is behind. */
  readonly #highest = new BoundedMap<string, { readonly generation: number; readonly at: number }>(
    MAX_KNOWN,
  );

  constructor(work: Pick<KeyWork, "account">, now: () => number) {
    this.#work = work;
    this.#now = now;
  }

  /**
   * The state of an account, at most 15 s old, 60 s while the chain is down.
   *
   * @param sure Reads a state again that is more than a second old.
   * @throws {SvcError} `chain_unavailable`, also when the chain knows no such account: that may
   * change, so that retries make sense.
   */
  async get(accountId: string, sure = false): Promise<AccountState> {
    const known = this.#known.get(accountId);
    const age = known === undefined ? Infinity : since(known.at, this.#now());
    if (known !== undefined && age < (sure ? SURE_MS : FRESH_MS)) return known.state;
    try {
      return (await this.#read(accountId)).state;
    } catch (error) {
      // Not when a change was told meanwhile, which `drop` has noted.
      if (known !== undefined && age < STALE_MS && this.#known.get(accountId) === known) {
        return known.state;
      }
      throw error;
    }
  }

  /** Forgets an account; without an id, all. */
  drop(accountId?: string): void {
    for (const map of [this.#known, this.#running]) {
      if (accountId === undefined) map.clear();
      else map.delete(accountId);
    }
  }

  #read(accountId: string): Promise<Known> {
    const running = this.#running.get(accountId);
    if (running !== undefined) return running;
    const reading = this.#work.account(accountId).then((state) => {
      // A reading that began before a change may have seen the earlier state.
      if (this.#running.get(accountId) !== reading) return this.#read(accountId);
      if (state === undefined) throw chainDown(new Error("The account is not on chain"));
      const at = this.#now();
      const highest = this.#highest.get(accountId);
      const isBehind = highest !== undefined && state.generation < highest.generation;
      if (isBehind && since(highest.at, at) < BEHIND_MS) {
        throw chainDown(new Error("The node is behind"));
      }
      this.#highest.set(accountId, { generation: state.generation, at });
      const known = { state, at };
      this.#known.set(accountId, known);
      return known;
    }).finally(() => {
      if (this.#running.get(accountId) === reading) this.#running.delete(accountId);
    });
    this.#running.set(accountId, reading);
    return reading;
  }
}
