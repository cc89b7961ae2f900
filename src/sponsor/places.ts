import { SvcError } from "../errors.ts";

/** Places of requests that are handed to the sponsor; so many are at a time. */
export class Places {
  readonly #count: number;
  #taken = 0;

  /** `count`: how many there are. */
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
