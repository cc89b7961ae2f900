import { SvcError } from "../errors.ts";

/** What was given cannot be used, and trying again does not help before somebody changes it. */
export function invalid(message: string, cause?: unknown): SvcError {
  return new SvcError("invalid_parameter", message, { cause });
}
