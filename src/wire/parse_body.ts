import type { z } from "zod";
import { type ErrorCode, SvcError } from "../errors.ts";

/** Path of a member, such as `items[3].text`. */
function fieldOf(path: readonly PropertyKey[]): string {
  return path.map((part) => typeof part === "number" ? `[${part}]` : `.${String(part)}`).join("")
    .replace(/^\./, "");
}

function codeOf(issue: z.core.$ZodIssue): ErrorCode {
  return issue.code === "custom" && typeof issue.params?.code === "string"
    ? issue.params.code as ErrorCode
    : "invalid_request";
}

/**
 * A body of the right shape.
 *
 * @throws {SvcError} `invalid_request` for a wrong shape, else the code of the first rule it breaks;
 * `field` names the member.
 */
export function parseBody<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  // Shape before values (docs/protocol.md#4.3, check 13).
  const issue = issues.find((item) => codeOf(item) === "invalid_request") ?? issues[0];
  if (issue === undefined) throw new SvcError("invalid_request");
  const field = fieldOf(issue.path);
  const code = codeOf(issue);
  // Codes name a member of their own; the other texts need the path in front.
  const message = code === "invalid_request" || code === "invalid_parameter"
    ? `${field || "the body"}: ${issue.message}`
    : issue.message;
  throw new SvcError(code, message, field === "" ? {} : { field });
}
