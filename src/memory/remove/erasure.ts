import type { Uses } from "../parts.ts";
import { Deadline } from "../../deadline.ts";
import { SvcError } from "../../errors.ts";

/** Where deleted bytes may be left. */
type Erasing = Uses<{
  blobStore: "scrub" | "leavesDeleted";
  vectorStore: "scrub" | "leavesDeleted";
  savedWords: "leavesDeleted";
  tombstones: "unerased" | "unerasedCount" | "markErased";
  scrubJobs: true;
  cipher: "needsCredential";
  logger: true;
}>;

/** Longest pause after a pass, milliseconds; one that took long is followed by a longer one. */
const PAUSE = { least: 1_000, times: 20, most: 600_000 };
/** Pauses after a failure, milliseconds: doubled up to the longest. */
const RETRY = { first: 2_000, most: 60_000 };
/** How often it is looked for deletions that nobody waits for, such as of expired memories, milliseconds. */
const LOOK_MS = 1_000;
/** How long after a start texts that an earlier version left are taken out, milliseconds. */
const TEXTS_MS = 60_000;

/** When something that takes long may be done again. */
interface Turns {
  /** By the clock of `performance`. */
  notBefore: number;
  failures: number;
}

/** How long it has to wait still, milliseconds. */
const waitOf = ({ notBefore }: Turns) => Math.max(0, notBefore - performance.now());

/**
 * Overwrites what deletions left in logs and free pages of files. One pass is for all deletions that
 * were finished before it, and takes as long as the files are large, so that passes keep a distance.
 */
export class Erasure implements AsyncDisposable {
  readonly #domain: Erasing;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  readonly #passes: Turns = { notBefore: -Infinity, failures: 0 };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #look: ReturnType<typeof setInterval> | undefined;
  /** Deletions of which a pass that succeeded left bytes where it cannot overwrite them. */
  #passedInVain = 0;
  #texts: ReturnType<typeof setInterval> | undefined;

  constructor(domain: Erasing) {
    this.#domain = domain;
  }

  /** Takes up what an earlier process left. */
  start(): void {
    this.#schedule();
    this.#look = setInterval(() => this.#schedule(), LOOK_MS);
    Deno.unrefTimer(Number(this.#look));
    // Else whoever has the relayer key opens the memories themselves, too.
    if (!this.#domain.cipher.needsCredential) return;
    this.#texts = setInterval(() => void this.#takeOutTexts(), TEXTS_MS);
    Deno.unrefTimer(Number(this.#texts));
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
    const { blobStore, savedWords, vectorStore } = this.#domain;
    return [blobStore, savedWords, vectorStore].some(({ leavesDeleted }) => leavesDeleted === true);
  }

  /** Stops; what is left is erased by the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new SvcError("shutting_down"));
    clearTimeout(this.#timer);
    clearInterval(this.#look);
    clearInterval(this.#texts);
    await this.#running;
  }

  /**
   * Earlier versions let texts wait under the relayer key, and a job that ends leaves its bytes in the
   * file. Where the relayer key opens no memory it shall not open those, either.
   */
  async #takeOutTexts(): Promise<void> {
    if (this.#running !== undefined) return;
    const turn: Turns = { notBefore: -Infinity, failures: 0 };
    this.#running = this.#attempt(turn, () => this.#domain.scrubJobs());
    await this.#running;
    this.#running = undefined;
    if (turn.failures === 0) clearInterval(this.#texts);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#closing.signal.aborted || this.#running !== undefined) return;
    if (this.#domain.tombstones.unerasedCount === this.#passedInVain) return;
    clearTimeout(this.#timer);
    const wait = waitOf(this.#passes);
    if (wait > 0) {
      this.#timer = setTimeout(() => this.#schedule(), wait);
      Deno.unrefTimer(Number(this.#timer));
      return;
    }
    this.#running = this.#pass().finally(() => {
      this.#running = undefined;
      this.#schedule();
    });
  }

  async #pass(): Promise<void> {
    const { blobStore, vectorStore, tombstones } = this.#domain;
    const { signal } = this.#closing;
    // What is finished later may be half in the files that are read now.
    const finished = tombstones.unerased();
    await this.#attempt(this.#passes, async () => {
      await vectorStore.scrub?.({ signal });
      await blobStore.scrub?.({ signal });
      await this.#domain.scrubJobs();
      if (this.#isInVain) this.#passedInVain = finished.length;
      else tombstones.markErased(finished);
    });
  }

  /** Does something that takes long; the next time comes the later the longer it took. */
  async #attempt(turns: Turns, work: () => Promise<void>): Promise<void> {
    const started = performance.now();
    try {
      await work();
      turns.failures = 0;
      const took = performance.now() - started;
      const pause = Math.min(PAUSE.most, Math.max(PAUSE.least, PAUSE.times * took));
      turns.notBefore = performance.now() + pause;
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const pause = Math.min(RETRY.most, RETRY.first * 2 ** turns.failures++);
      turns.notBefore = performance.now() + pause;
      const reason = SvcError.from(error).code;
      this.#domain.logger.warn("erasure_delayed", { reason, delay_ms: pause });
    }
  }
}
