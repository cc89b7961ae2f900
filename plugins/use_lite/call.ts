/** One caller's texts and what is known of their vectors. */
export class EmbedCall {
  /** All vectors, in the order of the texts. */
  readonly result: Promise<Float32Array[][]>;
  /** How well the model knows each text's words, 0 to 1. */
  readonly known: number[];
  readonly #vectors: Float32Array[][];
  readonly #resolve: (vectors: Float32Array[][]) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #abandoned: () => void;
  #missing: number;

  /**
   * Takes the number of texts, at least 1; `abandoned` is called once if the signal ends the call
   * before they are all embedded.
   */
  constructor(count: number, signal: AbortSignal | undefined, abandoned: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[][]>();
    this.result = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#vectors = Array.from({ length: count }, () => []);
    this.known = Array<number>(count).fill(1);
    this.#missing = count;
    this.#signal = signal;
    this.#abandoned = abandoned;
    signal?.addEventListener("abort", this.#abort);
  }

  /** Whether nobody waits any more. */
  get settled(): boolean {
    return this.#missing === 0;
  }

  /** Takes the window vectors of one text, and how well the model knows its words. */
  deliver(index: number, windows: Float32Array[], known: number): void {
    if (this.settled) return;
    this.#vectors[index] = windows;
    this.known[index] = known;
    if (--this.#missing > 0) return;
    this.#release();
    this.#resolve(this.#vectors);
  }

  /** Ends the call with an error. */
  fail(reason: unknown): void {
    if (this.settled) return;
    this.#release();
    this.#reject(reason);
  }

  readonly #abort = (): void => {
    this.fail(this.#signal?.reason);
    this.#abandoned();
  };

  #release(): void {
    this.#missing = 0;
    this.#signal?.removeEventListener("abort", this.#abort);
  }
}
