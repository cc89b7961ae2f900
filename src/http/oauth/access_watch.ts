import { SvcError } from "../../errors.ts";

/** Pause between looks, in milliseconds. */
const PAUSE_MS = 1000;

/** A stream on which an app listens. */
export interface WatchedStream {
  /** @throws {SvcError} of 401 when the app may not listen any more. */
  readonly check: () => Promise<void>;
  /** Ends the stream. */
  readonly end: (error: SvcError) => void;
}

/**
 * Looks once a second whether apps that listen are still let in. What comes on a stream is made for
 * the app that opened it, hours ago: nobody asks again by himself.
 */
export class AccessWatch implements Disposable {
  readonly #streams = new Set<WatchedStream>();
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Streams that are being looked at: a slow registry is asked about each once. */
  readonly #looking = new Set<WatchedStream>();

  /** Looks at a stream until it is left. */
  add(stream: WatchedStream): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => {
      for (const one of this.#streams) void this.#look(one);
    }, PAUSE_MS);
  }

  /** Looks no more at a stream, which has ended. */
  leave(stream: WatchedStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(stream: WatchedStream): Promise<void> {
    if (this.#looking.has(stream)) return;
    this.#looking.add(stream);
    try {
      await stream.check();
    } catch (thrown) {
      const error = SvcError.from(thrown);
      // Whether it may is not known where the accounts cannot be asked.
      if (error.status === 401 && this.#streams.has(stream)) stream.end(error);
    } finally {
      this.#looking.delete(stream);
    }
  }
}
