/** As long as a slow machine needs for what a fast one does in a second, milliseconds. */
const PATIENCE_MS = 120_000;

/**
 * What a promise comes to.
 *
 * @param what Named in the error; called only then.
 * @throws {Error} when it takes too long: a test that fails tells more than one that hangs.
 */
export async function within<T>(
  promise: Promise<T>,
  what: () => string,
  ms: number = PATIENCE_MS,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`waited ${ms / 1000} s: ${what()}`)), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
