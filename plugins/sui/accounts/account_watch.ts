import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { pause } from "../../../src/deadline.ts";
import type { AccountListener, BackendHealth } from "../../../src/interfaces/mod.ts";
import { isMissing, polledEvents, pushedEvents } from "./account_events.ts";

/** Times of an {@linkcode AccountWatch}; the defaults suit a public node. */
export interface WatchOptions {
  /** How long a subscription may take to fail, in milliseconds; 200 when absent. */
  readonly settleMs?: number;
  /** Time between polls of a node that pushes nothing, in milliseconds; 3 s when absent. */
  readonly pollMs?: number;
  /** First wait before a new connection in milliseconds, which doubles; 500 when absent. */
  readonly backoffMs?: number;
  /** Longest wait before a new connection in milliseconds; 30 s when absent. */
  readonly maxBackoffMs?: number;
  /** Time after which a change is told a second time, in milliseconds; 3 s when absent. */
  readonly againMs?: number;
}

/** How long a connection must have lasted to start with the first wait again, in milliseconds. */
const STEADY_MS = 10_000;

type Way = "pushed" | "polled";

/**
 * Tells listeners, as long as there are any, which accounts changed on chain. It subscribes to the
 * node's events, or polls when the node pushes none. After a gap, in which events may have been
 * missed, it tells that any account may have changed, but only once events come again: cached
 * accounts must outlast a node that is down.
 */
export class AccountWatch implements AsyncDisposable {
  readonly #client: SuiGrpcClient;
  readonly #packageId: string;
  readonly #options: Required<WatchOptions>;
  readonly #log: (message: string) => void;
  readonly #listeners = new Set<{ readonly call: AccountListener }>();
  readonly #repeats = new Set<ReturnType<typeof setTimeout>>();
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #connected: Way | undefined;
  #failures = 0;

  /** Contacts no node before there is a listener. */
  constructor(
    client: SuiGrpcClient,
    packageId: string,
    log: (message: string) => void,
    options: WatchOptions = {},
  ) {
    this.#client = client;
    this.#packageId = packageId;
    this.#log = log;
    this.#options = {
      settleMs: 200,
      pollMs: 3_000,
      backoffMs: 500,
      maxBackoffMs: 30_000,
      againMs: 3_000,
      ...options,
    };
  }

  get health(): BackendHealth {
    if (this.#connected !== undefined || this.#failures < 2) return { status: "ok" };
    return { status: "degraded", reason: "Changes of accounts are not told by the chain's node" };
  }

  /** Adds a listener; dispose of the result to remove it. */
  add(call: AccountListener): Disposable {
    const listener = { call };
    if (this.#listeners.size === 0) this.#start();
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    this.#end();
    await this.#running;
  }

  #start(): void {
    this.#stop = new AbortController();
    this.#running = this.#running.then(() => this.#run(this.#stop.signal));
  }

  #end(): void {
    this.#stop.abort();
    for (const timer of this.#repeats) clearTimeout(timer);
    this.#repeats.clear();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { backoffMs, maxBackoffMs } = this.#options;
    let way: Way = "pushed";
    while (!signal.aborted) {
      const start = Date.now();
      let missing = false;
      try {
        await this.#follow(way, signal);
      } catch (thrown) {
        missing = way === "pushed" && this.#connected === undefined && isMissing(thrown);
      }
      way = missing ? "polled" : "pushed";
      if (missing) continue;
      const steady = this.#connected !== undefined && Date.now() - start >= STEADY_MS;
      this.#connected = undefined;
      this.#failures = steady ? 1 : this.#failures + 1;
      // The first end is normal: a proxy may end a stream at any time.
      if (this.#failures === 2) this.#log("sui: the node tells no changes of accounts just now");
      const longest = Math.min(backoffMs * 2 ** (this.#failures - 1), maxBackoffMs);
      await pause(longest * (0.5 + Math.random() / 2), signal);
    }
    this.#connected = undefined;
    this.#failures = 0;
  }

  /** Follows one connection to its end. */
  async #follow(way: Way, signal: AbortSignal): Promise<void> {
    // Leaving the loop also ends the connection.
    const connection = new AbortController();
    const events = way === "pushed" ? pushedEvents : polledEvents;
    try {
      const { settleMs, pollMs } = this.#options;
      const news = events(this.#client, {
        packageId: this.#packageId,
        settleMs,
        pollMs,
        signal: AbortSignal.any([signal, connection.signal]),
      });
      for await (const one of news) {
        if (signal.aborted) return;
        if (one.kind === "changed") this.#changed(one.accountId);
        else {
          this.#connected = way;
          this.#tell(undefined);
        }
      }
    } finally {
      connection.abort();
    }
  }

  /**
   * Tells a change twice: behind one address there may be several nodes, and the one that accounts
   * are read from may be a little behind the one that pushed the event.
   */
  #changed(accountId: string | undefined): void {
    this.#tell(accountId);
    const timer = setTimeout(() => {
      this.#repeats.delete(timer);
      this.#tell(accountId);
    }, this.#options.againMs);
    this.#repeats.add(timer);
  }

  #tell(accountId: string | undefined): void {
    for (const { call } of [...this.#listeners]) call(accountId);
  }
}
