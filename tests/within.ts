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

/**
 * Asks again and again until an answer fits, and answers that one; the pauses only spare the
 * processor.
 *
 * @throws {Error} with the last answer when it takes too long.
 */
export async function poll<T>(
  ask: () => T | Promise<T>,
  fits: (answer: T) => boolean,
  ms: number = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (performance.now() > end) throw new Error(`not in time: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Lets everything run that can run now: so many turns of the event loop. */
export async function turns(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setTimeout(resolve));
}
