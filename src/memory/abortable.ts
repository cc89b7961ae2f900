/**
 * What a promise gives, unless the signal ends first: then its reason. The work behind the promise
 * need not look at the signal.
 */
export async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return await work;
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** Runs work that ends after `ms` milliseconds or with the caller. */
export async function withinTime<T>(
  ms: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error("It took too long")), ms);
  const signals = caller === undefined ? [timeout.signal] : [timeout.signal, caller];
  try {
    return await work(AbortSignal.any(signals));
  } finally {
    clearTimeout(timer);
  }
}
