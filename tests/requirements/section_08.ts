import { type Rule, rules } from "./rule.ts";

/** Rules of section 8, jobs. */
export const SECTION_8: readonly Rule[] = rules("8", [
  [1, "the states are pending, running, uploaded, done, failed; not_found in bulk status only"],
  [2, "pending goes to running, or to failed when its memory is deleted"],
  [3, "running goes to uploaded, failed, or done where no bookkeeping remains"],
  [4, "uploaded has a known blob_id and goes to done or failed"],
  [5, "done is final"],
  [6, "failed is final until retried, then pending"],
  [7, "recallable turns true when the memory is indexed locally, before the upload ends"],
  [8, "recallable stays true when the upload fails later"],
  [9, "the ciphertext is kept locally until it is stored"],
  [10, "temporary errors are retried with exponential backoff and jitter, 2 s to 10 min"],
  [11, "after SVC_JOB_MAX_ATTEMPTS a job fails"],
  [12, "between attempts the state stays running"],
  [13, "a permanent error fails at once"],
  [14, "a slow job is never declared dead while a worker holds it"],
  [15, "a job whose worker vanished is taken over"],
  [16, "a repeated upload neither pays nor stores twice"],
  [17, "finished records are kept SVC_JOB_RETENTION_DAYS, then answer 404"],
  [18, "the memory outlives its job record"],
  [19, "deleting a memory cancels its unfinished job: failed, error_code deleted"],
  [20, "a record has job_id, status, owner, namespace, memory_id, recallable, attempts and times"],
  [21, "a record has blob_id once known"],
  [22, "error and error_code of a running job describe its last failed attempt"],
  [23, "unfinished jobs survive a restart and finish without their caller"],
]);
