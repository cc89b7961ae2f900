import { KeyLock } from "../key_lock.ts";
import { SvcError } from "../errors.ts";
import type { ExecutedTransaction } from "../interfaces/mod.ts";
import type { LedgerSharing, SponsorLedger } from "./ledger.ts";

/** Refusals after which the transaction is certainly not executed. */
const REFUSALS: readonly string[] = ["invalid_sponsor_signature", "sponsor_rejected"];

/** Slots for requests to the sponsor; at most `count` are in use at a time. */
export class Places {
  readonly #count: number;
  #taken = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /**
   * Takes a place until it is disposed of.
   *
   * @throws {SvcError} `sponsor_overloaded` when all are taken.
   */
  take(): Disposable {
    if (this.#taken >= this.#count) throw new SvcError("sponsor_overloaded");
    this.#taken++;
    return { [Symbol.dispose]: () => void this.#taken-- };
  }
}

/** Executes sponsored transactions: each once, whoever asks how often, also across restarts. */
export class Executions {
  readonly #ledger: SponsorLedger;
  readonly #places: Places;
  readonly #sharing: LedgerSharing;
  readonly #now: () => number;
  readonly #lock = new KeyLock();

  /**
   * Keeps its record in a ledger; each execution takes a place while it is handed on. `now`:
   * milliseconds since the epoch.
   */
  constructor(
    ledger: SponsorLedger,
    sharing: LedgerSharing,
    places: Places,
    now: () => number,
  ) {
    this.#ledger = ledger;
    this.#sharing = sharing;
    this.#places = places;
    this.#now = now;
  }

  /**
   * Hands a transaction to the sponsor, unless that succeeded before. Those who ask at the same time
   * wait for each other, because a wrong signature must not stand for a right one.
   *
   * @throws {SvcError} what `forward` throws; `sponsorship_not_found` when it is gone meanwhile;
   * `sponsor_overloaded` when all places are taken.
   */
  run(digest: string, forward: () => Promise<ExecutedTransaction>): Promise<void> {
    return this.#lock.hold(digest, () => this.#once(digest, forward));
  }

  async #once(digest: string, forward: () => Promise<ExecutedTransaction>): Promise<void> {
    const before = this.#ledger.get(digest)?.state;
    if (before === undefined) throw new SvcError("sponsorship_not_found");
    if (before === "executed") return;
    // A request that finds no place is not handed on, so that nothing is noted.
    using _place = this.#places.take();
    this.#ledger.start(digest, this.#now());
    await this.#sharing.kept();
    let executed: ExecutedTransaction;
    try {
      executed = await forward();
    } catch (error) {
      this.#noteFailure(digest, before, SvcError.from(error).code);
      await this.#sharing.kept().catch(() => {});
      throw error;
    }
    this.#ledger.finish(digest, gasOf(executed), this.#now());
    // It is executed, whether or not that can be noted now: it is noted later then.
    await this.#sharing.kept().catch(() => {});
  }

  /** Notes a failure. After an attempt with an unknown outcome a later refusal proves nothing. */
  #noteFailure(digest: string, before: "open" | "running", code: string): void {
    if (before === "running") return;
    if (REFUSALS.includes(code)) this.#ledger.reopen(digest);
    if (code === "sponsorship_not_found") this.#ledger.drop(digest);
  }
}

/** Gas as it may be counted: a whole number, not below 0. */
function gasOf({ gasMist }: ExecutedTransaction): number | undefined {
  return gasMist !== undefined && Number.isSafeInteger(gasMist) && gasMist >= 0
    ? gasMist
    : undefined;
}
