import { Deadline } from "../deadline.ts";
import type { JobRecord, JobStatus } from "./results.ts";

/** Wait before the first poll and the longest wait between polls, in milliseconds. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2000;
/** What the last answer may take when time is up, in milliseconds. */
const LAST_ANSWER_MS = 1000;

/** What polling needs. */
interface Polling {
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** Whether waiting for a job is over: it got there, or never will. */
function isSettled(job: JobRecord | JobStatus, until: "recallable" | "done"): boolean {
  if (job.status === "done" || job.status === "failed" || job.status === "not_found") return true;
  return until === "recallable" && job.recallable;
}

/**
 * Polls until all jobs of an answer are recallable or done, failed, or time is up.
 *
 * @param ask Told whether a relayer cannot go on without a credential: it is shown to no other.
 */
export function pollJobs<T>(
  ask: (decrypts: false | "locked", signal?: AbortSignal) => Promise<T>,
  jobsIn: (answer: T) => readonly (JobRecord | JobStatus)[],
  until: "recallable" | "done",
  polling: Polling,
): Promise<T> {
  let isLocked = false;
  const satisfies = (answer: T) => {
    const jobs = jobsIn(answer);
    isLocked = jobs.some((job) => "waits_for" in job && job.waits_for !== undefined);
    return jobs.every((job) => isSettled(job, until));
  };
  return poll((signal) => ask(isLocked && "locked", signal), satisfies, polling);
}

/**
 * Polls with growing waits until the answer satisfies or time is up; answers the last one. The first
 * answer may take the time of every call.
 */
export async function poll<T>(
  ask: (signal: AbortSignal | undefined) => Promise<T>,
  satisfies: (answer: T) => boolean,
  { timeoutMs, now, sleep, signal }: Polling,
): Promise<T> {
  const end = now() + timeoutMs;
  let answer = await ask(signal);
  for (let wait = FIRST_WAIT_MS;; wait = Math.min(LONGEST_WAIT_MS, wait * 1.6)) {
    const left = end - now();
    if (satisfies(answer) || !(left > 0)) return answer;
    await sleep(Math.min(wait, left), signal);
    signal?.throwIfAborted();
    const deadline = new Deadline(Math.max(LAST_ANSWER_MS, end - now()), signal);
    try {
      answer = await deadline.wait(ask(deadline.signal));
    } catch (error) {
      signal?.throwIfAborted();
      if (!deadline.signal.aborted) throw error;
      return answer;
    } finally {
      deadline.close();
    }
  }
}
