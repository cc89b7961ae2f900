import { ERROR_CODES, type ErrorCode, type JobErrorCode, SvcError } from "../../src/errors.ts";
import { JOB_ERRORS } from "../../src/jobs/job.ts";
import { ADVICE, type Advice } from "./error_advice.ts";
import { formatted, table } from "./markdown.ts";

const INTRODUCTION = `# Errors

Every code that a relayer answers, by status. [Section 5 of the protocol](protocol.md#5) says how
a body looks; \`request_id\` leads to the line in the relayer's log. The codes of jobs stand at the end.

This page is made by \`deno task docs\` from \`src/errors.ts\` and \`docs/generate/error_advice.ts\`.`;

const JOB_ADVICE: Readonly<Record<JobErrorCode, string>> = {
  embedding_failed: "look at `embedder` in `/health`, then retry",
  encryption_failed: "look at `key_service` and `chain` in `/health`, then retry",
  storage_failed: "look at `blob_store` in `/health`, then retry",
  quota_exceeded: "delete something, then retry",
  deleted: "nothing: the memory is gone",
  internal_error: "look at the log, then retry",
};

function jobs(): string {
  const rows = Object.entries(JOB_ADVICE).map(([code, advice]) => [
    `\`${code}\``,
    JOB_ERRORS[code as JobErrorCode],
    advice,
  ]);
  return `## Jobs

A job that has not succeeded says why in \`error_code\` ([8](protocol.md#8)); while it is \`running\`
the code is that of its last try. A retry is \`POST /api/remember/{id}/retry\`.

${table([["Code", "Meaning", "What to do"], ...rows])}`;
}

function adviceOf(code: ErrorCode): Advice {
  if (code in ADVICE) return ADVICE[code];
  throw new Error(`docs/generate/error_advice.ts has no advice for ${code}`);
}

/** The page of all codes, docs/errors.md. */
export async function errorsMarkdown(): Promise<string> {
  const errors = ERROR_CODES.map((code) => new SvcError(code));
  const statuses = [...new Set(errors.map(({ status }) => status))].sort((a, b) => a - b);
  const parts = statuses.map((status) => [
    `## ${status}`,
    ...errors.filter((error) => error.status === status).map(({ code, message, retryAfter }) => {
      const [cause, remedy] = adviceOf(code);
      const wait = retryAfter === undefined ? "" : ` \`Retry-After\` is ${retryAfter} s as a rule.`;
      return `### ${code}\n\n"${message}".${wait}\n\n- Cause: ${cause}\n- What to do: ${remedy}`;
    }),
  ]);
  return await formatted([INTRODUCTION, ...parts.flat(), jobs()].join("\n\n"));
}
