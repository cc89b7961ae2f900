import type { CallToolResult } from "@modelcontextprotocol/server";
import { SvcAnswerError, SvcConnectionError } from "../../client/failures.ts";
import { secretWords } from "../../client/text/redacted_words.ts";
import { SvcError } from "../../errors.ts";
import type { ToolName, ToolOutput } from "../../wire/table/tools.ts";

/** A value that its holder may not change, at any depth. */
type Frozen<T> = T extends readonly (infer E)[] ? readonly Frozen<E>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;

/** A successful result of a tool: one text and the same as data. */
export function success<N extends ToolName>(
  text: string,
  structuredContent: Frozen<ToolOutput<N>>,
): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent };
}

/** A text on one line, whatever line ends it has: a list shows each entry on a line of its own. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\r\n\v\f\u0085\u2028\u2029]+\s*/g, " ");
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Arguments that break the tool's schema. */
export class InvalidArguments extends Error {}

/** A job that failed for good; jobs have error codes of their own. */
export class JobFailure extends Error {
  readonly code: string;

  constructor(code: string) {
    super("The memory could not be saved");
    this.code = code;
  }
}

const withoutSecret = (found: string): string =>
  `The text holds a secret (${found}). Nothing was saved. Save it again without the secret, and ` +
  "tell the user that secrets are not kept here";

const CHANGED = "The memory was changed meanwhile, and is as it was changed. Look at it again by " +
  "svc_list, and ask the user anew";

/** Message and code of anything thrown; unknown errors say nothing about themselves. */
function describe(thrown: unknown): { readonly message: string; readonly code: string } {
  if (thrown instanceof SvcError && thrown.code === "version_conflict") {
    return { message: CHANGED, code: thrown.code };
  }
  if (thrown instanceof SvcAnswerError) {
    return { message: thrown.message, code: thrown.code ?? "internal_error" };
  }
  if (thrown instanceof SvcConnectionError) {
    // Its own message names an internal address.
    return { message: "The relayer does not answer", code: "sidecar_unavailable" };
  }
  if (thrown instanceof JobFailure) return { message: thrown.message, code: thrown.code };
  const { message, code, extra } = SvcError.from(thrown);
  // The relayer's own text names members of a request that models do not write.
  if (code === "secret_found") return { message: withoutSecret(secretWords(extra)), code };
  return { message, code };
}

export function failureOf(tool: string, thrown: unknown): CallToolResult {
  if (thrown instanceof InvalidArguments) {
    return failure(`MCP error -32602: Invalid arguments for tool ${tool}: ${thrown.message}`);
  }
  const { message, code } = describe(thrown);
  return failure(`Tool error: ${message} (code: ${code})`);
}
