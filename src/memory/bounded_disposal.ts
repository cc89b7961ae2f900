/** As long as work that was told to end may take, milliseconds. */
const PUT_DOWN_MS = 1_000;

/** Disposes of something that waits for its backends, at most a second: one may ignore its signal. */
export function bounded(subject: AsyncDisposable): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, PUT_DOWN_MS);
      try {
        await Promise.race([subject[Symbol.asyncDispose](), late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
