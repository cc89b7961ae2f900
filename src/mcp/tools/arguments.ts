import { z } from "zod";
import {
  RECALL_LIMIT_DEFAULT,
  RECALL_LIMIT_MAX,
  RESTORE_LIMIT_MAX,
  RESTORE_TOOL_LIMIT_DEFAULT,
} from "../../wire/limits.ts";
import { InvalidArguments } from "./results.ts";

const text = z.string().min(1);
const namespace = z.string().nullish();
const limit = (most: number, fallback: number) =>
  z.number().int().min(1).max(most).nullish().transform((value) => value ?? fallback);

const REMEMBER = z.strictObject({ text, namespace });
const RECALL = z.strictObject({
  query: text,
  limit: limit(RECALL_LIMIT_MAX, RECALL_LIMIT_DEFAULT),
  namespace,
});
const RESTORE = z.strictObject({
  namespace: text.nullish(),
  limit: limit(RESTORE_LIMIT_MAX, RESTORE_TOOL_LIMIT_DEFAULT),
});

/** Arguments of remember and analyze. */
interface TextArguments {
  /** What to save. */
  readonly text: string;
  /** Bucket; the relayer's default when absent. */
  readonly namespace: string | undefined;
}

/** Arguments of recall. */
interface RecallArguments {
  /** What to look for. */
  readonly query: string;
  /** Most matches. */
  readonly limit: number;
  /** Bucket; the relayer's default when absent. */
  readonly namespace: string | undefined;
}

/** Arguments of restore. */
interface RestoreArguments {
  /** Bucket. */
  readonly namespace: string;
  /** Most entries to add. */
  readonly limit: number;
}

function parse<T>(schema: z.ZodType<T>, given: unknown): T {
  const result = schema.safeParse(given ?? {});
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  );
  throw new InvalidArguments(issues.join("; "));
}

/** A namespace of the call as given, else the session's. */
function choose(given: string | null | undefined, fallback: string | undefined) {
  return given ? given : fallback;
}

/** Reads arguments of remember and analyze; `fallback` is the session's namespace. */
export function textArguments(given: unknown, fallback: string | undefined): TextArguments {
  const { text, namespace } = parse(REMEMBER, given);
  return { text, namespace: choose(namespace, fallback) };
}

/** Reads arguments of recall. */
export function recallArguments(given: unknown, fallback: string | undefined): RecallArguments {
  const { query, limit, namespace } = parse(RECALL, given);
  return { query, limit, namespace: choose(namespace, fallback) };
}

/** Reads arguments of restore, which has no namespace of its own. */
export function restoreArguments(given: unknown, fallback: string | undefined): RestoreArguments {
  const { limit, namespace } = parse(RESTORE, given);
  const chosen = choose(namespace, fallback);
  if (chosen === undefined) throw new InvalidArguments("namespace: required");
  return { namespace: chosen, limit };
}
