/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { Accepted, JobRecord, JobStatus, Memory } from "../../../src/client/results.ts";

/** As much of a job as is shown. */
export type ShownJob =
  & { readonly status: JobStatus["status"] }
  & Partial<Pick<Accepted | JobRecord | Memory, "recallable">>
  & Partial<Pick<JobRecord, "error" | "error_code" | "folded">>;

/** Whether its memory was deleted before it was saved. */
export function isDeleted({ status, error_code: code }: ShownJob): boolean {
  return status === "failed" && code === "deleted";
}

/** How far a job is, in words and as a part of its way. */
export function jobStage(job: ShownJob): {
  readonly words: string;
  readonly part: number;
  readonly kind: "" | "good" | "warn" | "bad";
} {
  if (job.status === "failed" || job.status === "not_found") {
    return { words: "Not saved", part: 1, kind: "bad" };
  }
  if (job.status === "done") {
    const words = job.folded === undefined ? "Saved" : "Saved behind one that says the same";
    return { words, part: 1, kind: "good" };
  }
  if (job.status === "uploaded") return { words: "Stored, finishing", part: 0.9, kind: "" };
  if (job.recallable) return { words: "Can be recalled, storing", part: 0.7, kind: "" };
  if (job.status === "running") return { words: "Reading and encrypting", part: 0.4, kind: "" };
  return { words: "Accepted, waiting", part: 0.15, kind: "" };
}

/** State of a job that is not over, or went wrong. */
export function JobChip({ job }: { job: ShownJob }) {
  const { words, kind } = jobStage(job);
  return <span class={`chip ${kind === "" ? "chip-warn" : `chip-${kind}`}`}>{words}</span>;
}
