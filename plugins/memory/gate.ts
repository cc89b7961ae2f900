import { type ErrorCode, SvcError } from "../../src/errors.ts";

/** Lets calls through until its backend is disposed. */
export class Gate implements AsyncDisposable {
  readonly #code: ErrorCode;
  #closed = false;

  /** `code` is what calls are refused with after disposal. */
  constructor(code: ErrorCode) {
    this.#code = code;
  }

  /** Rejects with the signal's reason when it is aborted, and after disposal. */
  pass(signal?: AbortSignal): Promise<void> {
    return Promise.try(() => {
      signal?.throwIfAborted();
      if (this.#closed) throw new SvcError(this.#code, undefined, { retryable: false });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }
}
