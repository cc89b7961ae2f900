import { abortable } from "../../../../src/deadline.ts";
import type { Clock } from "../clock.ts";

interface RaceOptions<T> {
  /** Milliseconds without an answer after which the next runner starts too. */
  readonly afterMs: number;
  /** Ends the race, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Whether an answer ends the race. */
  wins(answer: T): boolean;
  /** Whether an answer ends the race when none that wins comes within `patienceMs` after it. */
  readonly suffices?: ((answer: T) => boolean) | undefined;
  readonly patienceMs?: number;
  readonly after: Clock["after"];
}

/** How a runner that started did. */
export type Run<R, T> =
  | { readonly runner: R; readonly answer: T }
  | { readonly runner: R; readonly error: unknown }
  | { readonly runner: R; readonly outrun: true };

/**
 * Starts the first runner; the next one joins when there is no answer after a while, or at once when
 * one failed or gave an answer that does not win. The first answer that wins ends the race and
 * aborts the others.
 *
 * @returns how each runner that started did.
 */
export async function race<R, T>(
  runners: readonly R[],
  run: (runner: R, signal: AbortSignal) => Promise<T>,
  { afterMs, signal, wins, suffices, patienceMs = 0, after }: RaceOptions<T>,
): Promise<Run<R, T>[]> {
  signal?.throwIfAborted();
  const over = new AbortController();
  const ends = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const runs = new Map<R, Run<R, T>>();
  const finished = Promise.withResolvers<void>();
  const settled: Promise<void>[] = [];
  let started = 0;
  let running = 0;
  let cancel = () => {};
  let endPatience: (() => void) | undefined;
  const startNext = (): void => {
    cancel();
    if (over.signal.aborted) return;
    if (started === runners.length) {
      if (running === 0) finished.resolve();
      return;
    }
    const runner = runners[started++]!;
    running++;
    runs.set(runner, { runner, outrun: true });
    if (started < runners.length) cancel = after(afterMs, startNext);
    settled.push(
      run(runner, ends).then(
        (answer) => done({ runner, answer }, wins(answer)),
        (error) => done({ runner, error }, false),
      ),
    );
  };
  const done = (result: Run<R, T>, won: boolean): void => {
    running--;
    if (over.signal.aborted) return;
    runs.set(result.runner, result);
    if (won) return finished.resolve();
    if ("answer" in result && suffices?.(result.answer)) {
      endPatience ??= after(patienceMs, finished.resolve);
    }
    startNext();
  };
  try {
    startNext();
    await abortable(finished.promise, signal);
  } finally {
    cancel();
    endPatience?.();
    over.abort();
    // Waits until no connection is open and no body left unread.
    await Promise.allSettled(settled);
  }
  return [...runs.values()];
}
