import { SvcError } from "../errors.ts";

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
