/** What every fault may say about when it strikes. */
export interface FaultScope {
  /** Strikes only requests whose `METHOD path` contains this text; all when absent. */
  readonly only?: string;
  /** Is over after so many strikes; lasts until it is taken back when absent. */
  readonly times?: number;
}

/** Something that is wrong with an endpoint. */
export type Fault =
  & FaultScope
  & (
    /** The connection breaks before anything is done. */
    | { readonly kind: "down" }
    /** Answers correctly, `ms` milliseconds late. */
    | { readonly kind: "slow"; readonly ms: number }
    /** Never answers, and does nothing. */
    | { readonly kind: "hang" }
    /** Refuses with an HTTP status; `retryAfter` in seconds. */
    | { readonly kind: "status"; readonly status: number; readonly retryAfter?: number }
    /** Answers in the right form, but lies: other bytes, a wrong signature, a wrong key share. */
    | { readonly kind: "wrong" }
    /**
     * Does the work, then the connection breaks: the caller cannot know that it is done. Mind that
     * Deno's fetch by itself repeats such a request, once and whatever its method, when the
     * connection was in use before and the body is text or bytes (denoland/deno#35610): with
     * `times: 1` the repetition succeeds. A Blob, a form or a stream is sent once.
     */
    | { readonly kind: "lost" }
  );

/** The connection is to be broken without an answer. */
export class Dropped extends Error {
  /** A connection that breaks. */
  constructor() {
    super("the connection is broken by a fault");
    this.name = "Dropped";
  }
}

/** Faults of the endpoints of a development network, by endpoint (`chain`, `aggregator:0`, …). */
export class Faults {
  readonly #faults = new Map<string, { fault: Fault; left: number }>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #listeners = new Set<(endpoint: string, fault: Fault | undefined) => void>();

  /** Sets or takes back the fault of an endpoint; requests that hang on the old one go on. */
  set(endpoint: string, fault: Fault | undefined): void {
    if (fault === undefined) this.#faults.delete(endpoint);
    else this.#faults.set(endpoint, { fault, left: fault.times ?? Infinity });
    this.#release(endpoint);
    for (const listener of this.#listeners) listener(endpoint, fault);
  }

  /** Calls back after every {@linkcode set}: what runs for long has to notice it. */
  watch(listener: (endpoint: string, fault: Fault | undefined) => void): void {
    this.#listeners.add(listener);
  }

  /** The fault of an endpoint, without counting a strike. */
  get(endpoint: string): Fault | undefined {
    return this.#faults.get(endpoint)?.fault;
  }

  /** Whether the endpoint cannot be reached by others now, or lies to them. */
  isFaulty(endpoint: string): boolean {
    return this.#faults.has(endpoint);
  }

  /** The fault that strikes a request, counted as a strike. @param what `METHOD path`. */
  strike(endpoint: string, what: string): Fault | undefined {
    const entry = this.#faults.get(endpoint);
    if (entry === undefined) return undefined;
    if (entry.fault.only !== undefined && !what.includes(entry.fault.only)) return undefined;
    if (--entry.left <= 0) this.#faults.delete(endpoint);
    return entry.fault;
  }

  /** Takes back every fault. */
  clear(): void {
    this.#faults.clear();
    for (const endpoint of [...this.#waiting.keys()]) this.#release(endpoint);
  }

  /**
   * Does the work of a request under the endpoint's fault.
   *
   * @param what `METHOD path` of the request.
   * @param work Does it; `wrong` asks for a well-formed lie.
   * @param refuse The answer of a `status` fault.
   * @param signal Aborts when the caller is gone.
   * @throws {Dropped} When the caller is to see a broken connection.
   */
  async run<T>(
    endpoint: string,
    what: string,
    { work, refuse, signal }: {
      readonly work: (wrong: boolean) => Promise<T>;
      readonly refuse: (status: number, retryAfter: number | undefined) => T;
      readonly signal?: AbortSignal;
    },
  ): Promise<T> {
    const fault = this.strike(endpoint, what);
    switch (fault?.kind) {
      case undefined:
        return await work(false);
      case "down":
        throw new Dropped();
      case "hang":
        await this.#wait(endpoint, Infinity, signal);
        throw new Dropped();
      case "slow":
        await this.#wait(endpoint, fault.ms, signal);
        return await work(false);
      case "status":
        return refuse(fault.status, fault.retryAfter);
      case "wrong":
        return await work(true);
      case "lost":
        await work(false);
        throw new Dropped();
    }
  }

  /** {@linkcode run} for an HTTP request. */
  answer(
    endpoint: string,
    request: Request,
    work: (wrong: boolean) => Promise<Response>,
  ): Promise<Response> {
    return this.run(endpoint, `${request.method} ${new URL(request.url).pathname}`, {
      work,
      refuse: (status, retryAfter) =>
        new Response(`status ${status}`, {
          status,
          headers: retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` },
        }),
      signal: request.signal,
    });
  }

  #release(endpoint: string): void {
    const waiting = this.#waiting.get(endpoint);
    this.#waiting.delete(endpoint);
    for (const end of waiting ?? []) end();
  }

  #wait(endpoint: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(endpoint) ?? new Set();
      this.#waiting.set(endpoint, waiting);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      if (ms !== Infinity) timer = setTimeout(end, ms);
      waiting.add(end);
      signal?.addEventListener("abort", end);
      if (signal?.aborted) end();
    });
  }
}
