/** Calls under way at once. */
const LANES = 64;

/** Does work for each item, several at once; ends with the first failure. */
export async function forEach<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  for await (const item of items) {
    const done: Promise<void> = work(item).then(() => {}, (error) => {
      failure ??= { error };
    }).finally(() => underWay.delete(done));
    underWay.add(done);
    if (underWay.size >= LANES) await Promise.race(underWay);
    if (failure !== undefined) break;
  }
  await Promise.all(underWay);
  if (failure !== undefined) throw failure.error;
}
