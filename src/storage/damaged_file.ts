import { SvcError } from "../errors.ts";

/**
 * What a failure of SQLite means to whoever runs the relayer. Damage does not pass by itself: it
 * names the file and what is to be done, and a start that meets it is not tried again.
 */
export function fileFailure(cause: unknown, file: string, remedy: string): SvcError {
  const original = cause instanceof SvcError ? cause.cause : cause;
  // SQLITE_CORRUPT and SQLITE_NOTADB are told by the message only.
  const isDamaged = original instanceof Error && /malformed|not a database/.test(original.message);
  if (!isDamaged && cause instanceof SvcError) return cause;
  if (!isDamaged) return new SvcError("storage_unavailable", undefined, { cause });
  return new SvcError("storage_unavailable", `${file} is damaged: ${remedy}`, {
    cause,
    retryable: false,
  });
}
