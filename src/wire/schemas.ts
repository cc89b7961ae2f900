import { z } from "zod";
import { type ErrorCode, SvcError } from "../errors.ts";
import * as limit from "./limits.ts";
import { parseTime } from "./rfc3339.ts";

const utf8 = new TextEncoder();
const CONTROL = /\p{Cc}/u;

function byteLength(text: string): number {
  // A UTF-16 unit takes at most 3 bytes: most texts need no encoding to be judged.
  return text.length * 3 <= 256 ? text.length * 3 : utf8.encode(text).length;
}

/** Adds an issue that becomes an error of this code. */
export function fail(context: z.RefinementCtx, code: ErrorCode, message?: string): void {
  context.addIssue({
    code: "custom",
    params: { code },
    message: message ?? new SvcError(code).message,
  });
}

/** An object whose `null` members count as absent and whose unknown members are dropped. */
export function object<T extends z.core.$ZodLooseShape>(shape: T) {
  const names = Object.keys(shape);
  return z.preprocess((value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    // By the known names: a body may have a hundred thousand others.
    const known = names.filter((name) => Object.hasOwn(value, name));
    const members = known.map((name) => [name, Reflect.get(value, name)] as const);
    return Object.fromEntries(members.filter(([, member]) => member !== null));
  }, z.object(shape));
}

/** Non-blank, well-formed text of at most `max` bytes. */
function boundedText(max: number, empty: ErrorCode, long: ErrorCode) {
  return z.string().superRefine((text, context) => {
    if (text.trim() === "") return fail(context, empty);
    if (!text.isWellFormed()) {
      return fail(context, "invalid_request", "must be well-formed Unicode");
    }
    if (text.length > max || byteLength(text) > max) {
      const member = empty.replace("empty_", "");
      fail(context, long, `${member} must have at most ${max} bytes of UTF-8`);
    }
  });
}

/**
 * A namespace as given, byte for byte; the empty one means `default`.
 *
 * @throws {SvcError} `invalid_namespace`.
 */
export function checkNamespace(name: string): string {
  if (name === "") return limit.DEFAULT_NAMESPACE;
  if (
    CONTROL.test(name) || !name.isWellFormed() ||
    (name.length * 3 > limit.NAMESPACE_BYTES && utf8.encode(name).length > limit.NAMESPACE_BYTES)
  ) {
    throw new SvcError("invalid_namespace", undefined, { field: "namespace" });
  }
  return name;
}

function namespaceRules(name: string, context: z.RefinementCtx): void {
  try {
    checkNamespace(name);
  } catch {
    fail(context, "invalid_namespace");
  }
}

const namespace = z.string().superRefine(namespaceRules)
  .transform((name) => name === "" ? limit.DEFAULT_NAMESPACE : name)
  .default(limit.DEFAULT_NAMESPACE)
  .meta({ type: "string", description: "1 to 256 bytes; missing or empty means default" });

const requiredNamespace = z.string().superRefine((name, context) => {
  if (name === "") fail(context, "empty_namespace");
  else namespaceRules(name, context);
});

const TIME = { type: "string", format: "date-time" };

/** A date and time of RFC 3339, read as milliseconds since the epoch. */
export const Time: z.ZodType<number, string> = z.string().transform((text, context) => {
  const time = parseTime(text);
  if (Number.isNaN(time)) fail(context, "invalid_request", "must be an RFC 3339 date and time");
  return time;
}).meta(TIME);

const future = Time.superRefine((at, context) => {
  if (Number.isFinite(at) && at <= Date.now()) {
    fail(context, "invalid_parameter", "must be in the future");
  }
}).meta(TIME);

function range(min: number, max: number, code: ErrorCode = "invalid_parameter") {
  return z.number().superRefine((value, context) => {
    if (value < min || value > max) fail(context, code, `must be from ${min} to ${max}`);
  });
}

type MetadataValue = string | number | boolean | null;

/** Most members that can fit: each takes at least the four bytes of `"":1`. */
const METADATA_MEMBERS = limit.METADATA_BYTES / 4;

function isFlat(value: unknown): value is Record<string, MetadataValue> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    Object.keys(value).length <= METADATA_MEMBERS &&
    Object.values(value).every((member) =>
      member === null || typeof member === "string" || typeof member === "boolean" ||
      (typeof member === "number" && Number.isFinite(member))
    );
}

/** Flat data; a member that is no object at all breaks the same rule. */
const metadata = z.unknown().transform((value, context) => {
  if (isFlat(value)) {
    const wellFormed = Object.entries(value).flat().every((part) =>
      typeof part !== "string" || part.isWellFormed()
    );
    if (wellFormed && utf8.encode(JSON.stringify(value)).length <= limit.METADATA_BYTES) {
      return value;
    }
  }
  fail(context, "invalid_metadata");
  return z.NEVER;
}).optional().meta({ type: "object", description: "flat; at most 4 KiB as JSON" });

const importance = range(0, 1);
const wholeNumber = z.number().superRefine((value, context) => {
  if (!Number.isInteger(value) || value < 0) {
    fail(context, "invalid_request", "must be a non-negative integer");
  }
});

const weights = object({
  semantic: range(0, 100, "invalid_scoring_weights").default(1),
  recency: range(0, 100, "invalid_scoring_weights").default(0),
  recency_half_life_days: range(1e-6, Number.MAX_VALUE, "invalid_scoring_weights").default(30),
  importance: range(0, 100, "invalid_scoring_weights").default(0),
});

const vector = z.custom<number[]>(
  (value) => Array.isArray(value) && value.every((n) => typeof n === "number"),
  {
    message: "must be a list of numbers",
  },
).transform((numbers, context) => {
  const floats = Float32Array.from(numbers);
  let norm = 0;
  for (const value of floats) norm += value * value;
  if (!(norm > 0) || !Number.isFinite(norm)) fail(context, "invalid_vector");
  return floats;
}).meta({ type: "array", items: { type: "number" } });

const encryptedData = z.string().transform((text, context) => {
  try {
    const bytes = Uint8Array.fromBase64(text);
    if (bytes.length > 0) return bytes;
  } catch {
    // Falls through: the message would quote the data.
  }
  fail(context, "invalid_encrypted_data");
  return new Uint8Array();
}).meta({ type: "string", contentEncoding: "base64" });

const times = {
  importance: importance.optional(),
  occurred_at: Time.optional(),
  expires_at: future.optional(),
};

const memoryText = boundedText(limit.TEXT_BYTES, "empty_text", "text_too_long");

/** One memory of remember and bulk. */
export const RememberBody = object({
  text: memoryText,
  namespace,
  metadata,
  ...times,
});

/** A bulk remember. */
export const BulkBody = object({
  items: z.array(z.unknown()).superRefine((items, context) => {
    if (items.length === 0) fail(context, "empty_items");
    if (items.length > limit.BULK_ITEMS) {
      fail(context, "too_many_items", `at most ${limit.BULK_ITEMS} items`);
    }
  }).pipe(z.array(RememberBody)),
});

/** A bulk status. */
export const BulkStatusBody = object({
  job_ids: z.array(z.unknown()).superRefine((ids, context) => {
    if (ids.length === 0) fail(context, "empty_job_ids");
    // Before the items are looked at: each that is no text would be a problem of its own.
    if (ids.length > limit.BULK_STATUS_IDS) {
      fail(context, "too_many_job_ids", `at most ${limit.BULK_STATUS_IDS} ids`);
    }
  }).pipe(z.array(z.string())),
});

/** A manual remember. */
export const ManualBody = object({
  encrypted_data: encryptedData.optional(),
  blob_id: z.string().optional(),
  vector,
  namespace,
  metadata,
  ...times,
}).superRefine((body, context) => {
  if (body.encrypted_data === undefined && body.blob_id === undefined) {
    context.addIssue({
      code: "custom",
      path: ["encrypted_data"],
      message: "encrypted_data or blob_id is needed",
    });
  }
});

const ranking = {
  namespace,
  max_distance: z.number().optional(),
  scoring_weights: weights.optional(),
};

const searching = {
  ...ranking,
  mode: z.string().superRefine((mode, context) => {
    if (!["hybrid", "semantic", "keyword"].includes(mode)) {
      fail(context, "invalid_parameter", "must be hybrid, semantic or keyword");
    }
  }).default("hybrid"),
  min_score: z.number().optional(),
  occurred_after: Time.optional(),
  occurred_before: Time.optional(),
};

/** A recall. */
export const RecallBody = object({
  query: boundedText(limit.QUERY_BYTES, "empty_query", "query_too_long"),
  limit: wholeNumber.default(limit.RECALL_LIMIT_DEFAULT),
  ...searching,
});

/** A question. */
export const AskBody = object({
  question: boundedText(limit.QUESTION_BYTES, "empty_question", "query_too_long"),
  limit: wholeNumber.default(limit.ASK_LIMIT_DEFAULT),
  ...searching,
});

/** A text whose facts are stored. */
export const AnalyzeBody = object({
  text: boundedText(limit.ANALYZE_TEXT_BYTES, "empty_text", "text_too_long"),
  namespace,
  occurred_at: Time.optional(),
});

/** A manual recall. */
export const RecallManualBody = object({
  vector,
  limit: wholeNumber.default(limit.RECALL_LIMIT_DEFAULT),
  ...ranking,
});

/** An embed call. */
export const EmbedBody = object({ text: memoryText });

/** A restore. */
export const RestoreBody = object({
  namespace: requiredNamespace,
  limit: wholeNumber.default(limit.RESTORE_LIMIT_DEFAULT),
});

/** A forget. */
export const ForgetBody = object({ namespace: requiredNamespace });

/** Stats. */
export const StatsBody = object({ namespace });

/** A body without members. */
export const EmptyBody = object({});

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
