import type { JobRecord, JobStatus } from "./job_results.ts";

/** Wait before the first poll and the longest wait between polls, in milliseconds. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2000;

/** What polling needs. */
export interface Polling {
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** Whether waiting for a job is over: it got there, or never will. */
export function isSettled(job: JobRecord | JobStatus, until: "recallable" | "done"): boolean {
  if (job.status === "done" || job.status === "failed" || job.status === "not_found") return true;
  return until === "recallable" && job.recallable;
}

/** Polls with growing waits until the answer satisfies or time is up; answers the last one. */
export async function poll<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  { timeoutMs, now, sleep, signal }: Polling,
): Promise<T> {
  const end = now() + timeoutMs;
  for (let wait = FIRST_WAIT_MS;; wait = Math.min(LONGEST_WAIT_MS, wait * 1.6)) {
    const answer = await ask();
    const left = end - now();
    if (satisfies(answer) || left <= 0) return answer;
    await sleep(Math.min(wait, left), signal);
  }
}
