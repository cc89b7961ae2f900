import { within } from "../deadline.ts";

/** As long as work that was told to end may take, milliseconds. */
const PUT_DOWN_MS = 1_000;

/** Disposes of something that waits for its backends, at most a second: one may ignore its signal. */
export function bounded(subject: AsyncDisposable): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await within(PUT_DOWN_MS, Promise.resolve(subject[Symbol.asyncDispose]()));
    },
  };
}
