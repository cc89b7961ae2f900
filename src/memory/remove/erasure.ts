import type { Uses } from "../parts.ts";
import { Deadline } from "../../deadline.ts";
import { SvcError } from "../../errors.ts";

/** Where deleted bytes may be left. */
type Erasing = Uses<{
  blobStore: "scrub" | "leavesDeleted";
  vectorStore: "scrub" | "leavesDeleted";
  tombstones: "unerased" | "markErased";
  scrubJobs: true;
  logger: true;
}>;

/** Longest pause after a pass, milliseconds; one that took long is followed by a longer one. */
const PAUSE = { least: 1_000, times: 20, most: 600_000 };
/** Pauses after a failure, milliseconds: doubled up to the longest. */
const RETRY = { first: 2_000, most: 60_000 };

/**
 * Overwrites what deletions left in logs and free pages of files. One pass is for all deletions that
 * were finished before it, and takes as long as the files are large, so that passes keep a distance.
 */
export class Erasure implements AsyncDisposable {
  readonly #domain: Erasing;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  /** When the next pass may begin, by the clock of `performance`. */
  #notBefore = -Infinity;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(domain: Erasing) {
    this.#domain = domain;
  }

  /** Takes up what an earlier process left. */
  start(): void {
    this.#schedule();
  }

  /**
   * To be called after a deletion: waits for a pass that may begin now, at most so many milliseconds.
   * One that may not comes later, and one under way may have begun before.
   */
  async hurry(ms: number): Promise<void> {
    if (this.#running !== undefined) return;
    this.#schedule();
    if (this.#running === undefined) return;
    using deadline = new Deadline(ms, this.#closing.signal);
    await deadline.wait(this.#running).catch(() => {});
  }

  /** Whether a store keeps what no pass can overwrite: then nothing is ever called erased. */
  get #isInVain(): boolean {
    const { blobStore, vectorStore } = this.#domain;
    return blobStore.leavesDeleted === true || vectorStore.leavesDeleted === true;
  }

  /** How long the next pass has to wait still, milliseconds. */
  get #wait(): number {
    return Math.max(0, this.#notBefore - performance.now());
  }

  /** Stops; what is left is erased by the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new SvcError("shutting_down"));
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#closing.signal.aborted || this.#running !== undefined) return;
    if (this.#domain.tombstones.unerased().length === 0) return;
    clearTimeout(this.#timer);
    if (this.#wait > 0) {
      this.#timer = setTimeout(() => this.#schedule(), this.#wait);
      Deno.unrefTimer(Number(this.#timer));
      return;
    }
    this.#running = this.#pass().finally(() => {
      this.#running = undefined;
      // Else what is left would bring the next pass: deletions do.
      if (!this.#isInVain || this.#failures > 0) this.#schedule();
    });
  }

  async #pass(): Promise<void> {
    const { blobStore, vectorStore, scrubJobs, tombstones, logger } = this.#domain;
    const { signal } = this.#closing;
    const started = performance.now();
    // What is finished later may be half in the files that are read now.
    const finished = tombstones.unerased();
    try {
      await vectorStore.scrub?.({ signal });
      await blobStore.scrub?.({ signal });
      await scrubJobs();
      if (!this.#isInVain) tombstones.markErased(finished);
      this.#failures = 0;
      const took = performance.now() - started;
      const pause = Math.min(PAUSE.most, Math.max(PAUSE.least, PAUSE.times * took));
      this.#notBefore = performance.now() + pause;
    } catch (error) {
      if (signal.aborted) return;
      const pause = Math.min(RETRY.most, RETRY.first * 2 ** this.#failures++);
      this.#notBefore = performance.now() + pause;
      logger.warn("erasure_delayed", { reason: SvcError.from(error).code, delay_ms: pause });
    }
  }
}
