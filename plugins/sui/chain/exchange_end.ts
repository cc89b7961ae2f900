import { late } from "./node_failure.ts";

/**
 * The end of one exchange: at the caller's signal, or after some time without
 * {@linkcode ExchangeEnd.restart}. It does not rely on the signal given to `fetch` alone: in Deno
 * that no longer ends the reading of a body once the `Response` it came with was collected.
 */
export class ExchangeEnd {
  readonly #abort = new AbortController();
  readonly #own: AbortSignal | undefined;
  readonly #ended = Promise.withResolvers<never>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Counts from now on. */
  constructor(ms: number, own: AbortSignal | undefined) {
    this.#own = own;
    this.#ended.promise.catch(() => {});
    own?.addEventListener("abort", this.#leave);
    this.restart(ms);
  }

  /** Aborts at the end, with the reason. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Counts anew. */
  restart(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(late()), ms);
  }

  /** Waits for work, or until the end; for few calls, because each is held until the end. */
  until<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#ended.promise]);
  }

  /** The exchange is over. */
  settle(): void {
    clearTimeout(this.#timer);
    this.#own?.removeEventListener("abort", this.#leave);
  }

  readonly #leave = () => this.#end(this.#own?.reason);

  #end(reason: unknown): void {
    this.#ended.reject(reason);
    this.#abort.abort(reason);
  }
}
