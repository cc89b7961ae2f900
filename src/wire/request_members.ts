import * as limit from "./limits.ts";
import { type ErrorCode, SvcError } from "../errors.ts";
import { isUuid } from "./keys.ts";
import { z } from "zod";

const CLOCK = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const RFC3339 = new RegExp(
  `^(\\d{4}-\\d\\d-\\d\\d)T(${CLOCK}):([0-5]\\d|60)(?:\\.(\\d{1,3})\\d*)?(Z|[+-]${CLOCK})$`,
  "i",
);
/** Years have four digits, in answers too, which are in UTC. */
const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Milliseconds since the epoch of a date and time of RFC 3339; what is finer is cut off. A leap
 * second, which is the last of a day of UTC, is read as the second after it.
 *
 * @returns `NaN` for any other text, and for years that are not from 0 to 9999 in UTC.
 */
export function parseTime(text: string): number {
  const [, day = "", clock = "", second = "", fraction = "", zone = ""] = RFC3339.exec(text) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  // The parser takes 30 February for 2 March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return NaN;
  const minute = new Date(`${day}T${clock}${zone.toUpperCase()}`);
  const isLast = minute.getUTCHours() === 23 && minute.getUTCMinutes() === 59;
  if (second === "60" && !isLast) return NaN;
  const time = minute.getTime() + Number(second) * 1000 + Number(fraction.padEnd(3, "0"));
  return time >= FIRST && time <= LAST ? time : NaN;
}

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

const utf8 = new TextEncoder();
const CONTROL = /\p{Cc}/u;

/** Length in UTF-8, or more where it is at most 256. */
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
export function object<T extends z.core.$ZodLooseShape>(
  shape: T,
  nullable: readonly (keyof T)[] = [],
) {
  const names = Object.keys(shape);
  return z.preprocess((value: z.input<z.ZodObject<T>>) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    // By the known names: a body may have a hundred thousand others.
    const known = names.filter((name) => Object.hasOwn(value, name));
    const members = known.map((name) => [name, Reflect.get(value, name)] as const);
    return Object.fromEntries(
      members.filter(([name, member]) => member !== null || nullable.includes(name)),
    );
  }, z.object(shape));
}

/** Non-blank, well-formed text of at most `max` bytes. */
export function boundedText(max: number, empty: ErrorCode, long: ErrorCode, example: string) {
  return z.string().superRefine((text, context) => {
    if (text.trim() === "") return fail(context, empty);
    if (!text.isWellFormed()) {
      return fail(context, "invalid_request", "must be well-formed Unicode");
    }
    if (text.length > max || byteLength(text) > max) {
      const member = empty.replace("empty_", "");
      fail(context, long, `${member} must have at most ${max} bytes of UTF-8`);
    }
  }).meta({ examples: [example] });
}

export const memoryText = boundedText(
  limit.TEXT_BYTES,
  "empty_text",
  "text_too_long",
  "I am allergic to peanuts",
);

function checkNamespace(name: string, context: z.RefinementCtx): void {
  const isValid = !CONTROL.test(name) && name.isWellFormed() &&
    byteLength(name) <= limit.NAMESPACE_BYTES;
  if (!isValid) fail(context, "invalid_namespace");
}

/** A namespace as given, byte for byte; the empty one means `default`, as does a missing one. */
export const namespace = z.string().superRefine(checkNamespace)
  .transform((name) => name === "" ? limit.DEFAULT_NAMESPACE : name)
  .default(limit.DEFAULT_NAMESPACE)
  .meta({ type: "string", description: "1 to 256 bytes; missing or empty means default" });

/** A namespace that may be named: without one, all of them are meant. */
export const givenNamespace = z.string().superRefine(checkNamespace)
  .transform((name) => name === "" ? limit.DEFAULT_NAMESPACE : name)
  .meta({ type: "string", description: "1 to 256 bytes; missing means every namespace" });

/** A namespace that has to be named. */
export const requiredNamespace = z.string().superRefine((name, context) => {
  if (name === "") fail(context, "empty_namespace");
  else checkNamespace(name, context);
}).meta({ examples: ["work"] });

const TIME = { type: "string", format: "date-time" };

/** A date and time of RFC 3339, read as milliseconds since the epoch. */
export const time = z.string().transform((text, context) => {
  const time = parseTime(text);
  if (Number.isNaN(time)) fail(context, "invalid_request", "must be an RFC 3339 date and time");
  return time;
}).meta(TIME);

const future = time.superRefine((at, context) => {
  if (Number.isFinite(at) && at <= Date.now()) {
    fail(context, "invalid_parameter", "must be in the future");
  }
}).meta(TIME);

function range(min: number, max: number, code: ErrorCode = "invalid_parameter") {
  return z.number().superRefine((value, context) => {
    if (value < min || value > max) fail(context, code, `must be from ${min} to ${max}`);
  });
}

export function word<const T extends string>(words: readonly T[]): z.ZodType<T, T> {
  const rule = `must be ${words.join(", ").replace(/, (\w+)$/, " or $1")}`;
  const schema = z.string().superRefine((given, context) => {
    if (!words.some((item) => item === given)) fail(context, "invalid_parameter", rule);
  }).meta({ enum: words });
  // Nothing else passes: the types do not see that a check narrows.
  return schema as unknown as z.ZodType<T, T>;
}

/** Flat data of a caller. */
type Metadata = Readonly<Record<string, string | number | boolean | null>>;

/** Most members that can fit: each takes at least the four bytes of `"":1`. */
const METADATA_MEMBERS = limit.METADATA_BYTES / 4;

function isFlat(value: unknown): value is Metadata {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    Object.keys(value).length <= METADATA_MEMBERS &&
    Object.values(value).every((member) =>
      member === null || typeof member === "string" || typeof member === "boolean" ||
      (typeof member === "number" && Number.isFinite(member))
    );
}

/** Flat data; a member that is no object at all breaks the same rule. */
export const metadata = z.any().transform((value: unknown, context): Metadata => {
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

/** What may be asked for about secrets. */
export const SECRETS_RULES = ["refuse", "redact", "allow"] as const;

/** What is to be done about secrets; `allow` only where the relayer does. */
export const secrets = word(SECRETS_RULES).optional()
  .describe("What is done about secrets; `allow` only where the relayer allows them");

/** What may become of memories that say something else than an older one. */
export const CONFLICT_POLICIES = ["suggest", "auto", "off"] as const;

/** An id of the caller's, in lower case. */
export const uuid = z.string().superRefine((value, context) => {
  if (!isUuid(value)) fail(context, "invalid_parameter", "must be a UUID");
}).transform((value) => value.toLowerCase());

/** A least probability that a memory answers. */
export const confidence = range(0, 1);

/** What may be said about a memory besides its text: how much it matters, and its times. */
export const weightAndTimes = {
  importance: range(0, 1).optional(),
  occurred_at: time.optional(),
  expires_at: future.optional(),
};

/** A change of what is said about a memory: what is left out stays, and null takes it away. */
export const changedWeightAndTimes = {
  importance: range(0, 1).optional(),
  occurred_at: time.nullish(),
  expires_at: future.nullish(),
};

/** A text of the caller's of at most so many bytes; empty ones are none. */
function name(most: number, description: string) {
  return z.string().superRefine((given, context) => {
    const bytes = utf8.encode(given).length;
    if (given.trim() === "" || bytes > most || !given.isWellFormed()) {
      fail(context, "invalid_parameter", `must have 1 to ${most} bytes`);
    }
  }).meta({ type: "string", minLength: 1, description });
}

const keyText = name(limit.KEY_BYTES, "What it is about, at most 256 bytes");

/** The chat, document or other session that a memory comes from. */
export const session = name(
  limit.SESSION_BYTES,
  "Chat or other session it comes from, at most 256 bytes",
);

/** Where a memory was said. */
export const saidIn = {
  session: session.optional(),
  position: z.number().superRefine((value, context) => {
    if (!Number.isInteger(value) || value < 0 || value > limit.POSITION) {
      fail(context, "invalid_parameter", `must be a whole number from 0 to ${limit.POSITION}`);
    }
  }).optional().describe("Its place in the session, from 0"),
};

/** Refuses a place in no session, and a time that ends before it begins. */
export function checkWritten(
  written: Parameters<typeof checkValidity>[0] & {
    readonly session?: string | undefined;
    readonly position?: number | undefined;
  },
  context: z.RefinementCtx,
): void {
  checkValidity(written, context);
  if (written.position !== undefined && written.session === undefined) {
    context.addIssue({
      code: "custom",
      path: ["position"],
      params: { code: "invalid_parameter" },
      message: "goes with a session",
    });
  }
}

const superseded = z.array(z.string()).superRefine((ids, context) => {
  if (ids.length > limit.SUPERSEDED_IDS) {
    fail(context, "invalid_parameter", `at most ${limit.SUPERSEDED_IDS} ids`);
  } else if (!ids.every(isUuid)) fail(context, "invalid_parameter", "must be UUIDs");
}).meta({ description: "Ids of memories whose place it takes, at most 20" });

const trust = word(["user", "agent", "import", "web"]);

/** Memories by who said them. */
export const trusts = z.array(trust).superRefine((given, context) => {
  if (given.length === 0 || given.length > 4) {
    fail(context, "invalid_parameter", "must name 1 to 4");
  }
});

/** When a memory is true, what it takes the place of, and how far it may be believed. */
export const standing = {
  valid_from: time.optional(),
  valid_to: time.optional(),
  supersedes: superseded.optional(),
  key: keyText.optional(),
  trust: trust.optional(),
};

/** A change of that: what is left out stays, and null takes it away. */
export const changedStanding = {
  valid_from: time.nullish(),
  valid_to: time.nullish(),
  supersedes: superseded.nullish(),
  key: keyText.nullish(),
  trust: trust.optional(),
};

/** Refuses a time that ends before it begins. */
export function checkValidity(
  { valid_from, valid_to }: {
    readonly valid_from?: number | null | undefined;
    readonly valid_to?: number | null | undefined;
  },
  context: z.RefinementCtx,
): void {
  if (typeof valid_from === "number" && typeof valid_to === "number" && valid_to <= valid_from) {
    context.addIssue({
      code: "custom",
      path: ["valid_to"],
      params: { code: "invalid_parameter" },
      message: "must be later than valid_from",
    });
  }
}

/** A whole number from 0. */
export const wholeNumber = z.number().superRefine((value, context) => {
  if (!Number.isInteger(value) || value < 0) {
    fail(context, "invalid_request", "must be a non-negative integer");
  }
});

/** Weights of the parts of a score. */
export const weights = object({
  semantic: range(0, 100, "invalid_scoring_weights").default(1),
  recency: range(0, 100, "invalid_scoring_weights").default(0),
  recency_half_life_days: range(1e-6, Number.MAX_VALUE, "invalid_scoring_weights").default(30),
  importance: range(0, 100, "invalid_scoring_weights").default(0),
});

/** A vector of any length but zero. */
export const vector = z.custom<readonly number[]>(
  (value) => Array.isArray(value) && value.every((n) => typeof n === "number"),
  { message: "must be a list of numbers" },
).transform((numbers, context) => {
  const floats = Float32Array.from(numbers);
  let norm = 0;
  for (const value of floats) norm += value * value;
  if (!(norm > 0) || !Number.isFinite(norm)) fail(context, "invalid_vector");
  return floats;
}).meta({ type: "array", items: { type: "number" }, examples: [[0.12, -0.07, 0.31]] });
