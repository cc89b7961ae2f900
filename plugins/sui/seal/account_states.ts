import { since } from "./age.ts";
import type { AccountState, KeyWork } from "./calls.ts";
import { chainDown } from "./failures.ts";

/** An account's state is read anew after this time, if nobody tells of a change before. */
const FRESH_MS = 15_000;
/** What was read is used for so long while the chain cannot be read. */
const STALE_MS = 60_000;
/** A state younger than this is not read again to make sure. */
const SURE_MS = 1_000;
/** Nodes of one address are apart by seconds: a generation that none has seen for so long was a lie. */
const BEHIND_MS = 10 * 60_000;
const MAX_KNOWN = 10_000;

interface Known {
  readonly state: AccountState;
  readonly at: number;
}

/** The accounts' generations and readers, as the chain says, kept briefly. */
export class AccountStates {
  readonly #work: Pick<KeyWork, "account">;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  readonly #running = new Map<string, Promise<Known>>();
  /** Highest generations seen: nodes of one address are not all equally far. */
  readonly #highest = new Map<string, { readonly generation: number; readonly at: number }>();

  /** Reads nothing by itself. */
  constructor(work: Pick<KeyWork, "account">, now: () => number) {
    this.#work = work;
    this.#now = now;
  }

  /**
   * The state of an account, at most 15 s old, 60 s while the chain is down.
   *
   * @param sure Whether a state that is more than a second old must be read again.
   * @throws {SvcError} `chain_unavailable`, also when the chain knows no such account: that may
   * change, and what waits for it is not lost.
   */
  async get(accountId: string, sure = false): Promise<AccountState> {
    const known = this.#known.get(accountId);
    const age = known === undefined ? Infinity : since(known.at, this.#now());
    if (known !== undefined && age < (sure ? SURE_MS : FRESH_MS)) return known.state;
    try {
      return (await this.#read(accountId)).state;
    } catch (error) {
      // Unless it changed meanwhile, which is known even while the chain cannot be read.
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
      // A reading that began before a change may have seen what was before it.
      if (this.#running.get(accountId) !== reading) return this.#read(accountId);
      if (state === undefined) throw chainDown(new Error("The account is not on chain"));
      const at = this.#now();
      const highest = this.#highest.get(accountId);
      const isBehind = highest !== undefined && state.generation < highest.generation;
      if (isBehind && since(highest.at, at) < BEHIND_MS) {
        throw chainDown(new Error("The node is behind"));
      }
      if (this.#highest.size >= MAX_KNOWN) this.#highest.clear();
      this.#highest.set(accountId, { generation: state.generation, at });
      const known = { state, at };
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(accountId, known);
      return known;
    }).finally(() => {
      if (this.#running.get(accountId) === reading) this.#running.delete(accountId);
    });
    this.#running.set(accountId, reading);
    return reading;
  }
}
