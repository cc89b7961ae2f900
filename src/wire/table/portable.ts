import { z } from "zod";
import { type ErrorCode, SvcError } from "../../errors.ts";
import { count, linkKind, redacted, text, uuid } from "../answer_members.ts";
import * as limit from "../limits.ts";
import * as request from "../request_members.ts";
import { fail, object, parseBody, SECRETS_RULES } from "../request_members.ts";
import type { RouteRows } from "../route.ts";
import { queryFlag, queryWord } from "../query_members.ts";
import { OPENS } from "./memories.ts";

const id = request.uuid;

const past = request.time.superRefine((at, context) => {
  if (at > Date.now() + limit.TIMESTAMP_WINDOW_SECONDS * 1000) {
    fail(context, "invalid_parameter", "must not be in the future");
  }
});

const version = z.number().superRefine((value, context) => {
  if (!Number.isInteger(value) || value < 1 || value > limit.IMPORT_VERSION) {
    fail(context, "invalid_parameter", `must be a whole number from 1 to ${limit.IMPORT_VERSION}`);
  }
});

/** Links of an export's line, as they were found; unknown kinds are left out. */
const links = z.array(
  z.object({
    id,
    kind: linkKind(),
    by: z.string().max(limit.LABEL_BYTES),
    score: z.number().min(0).max(1),
    version: version.optional(),
  }).transform(({ version, ...link }) => version === undefined ? link : { ...link, version }),
)
  .superRefine((given, context) => {
    if (given.length > limit.LINKS) {
      fail(context, "invalid_parameter", `at most ${limit.LINKS} links`);
    }
  });

/** Members of a line of an import, in the form of an export's. */
const LINE = {
  memory_id: id.optional(),
  namespace: request.namespace,
  text: request.memoryText,
  metadata: request.metadata,
  importance: request.weightAndTimes.importance,
  occurred_at: request.time.optional(),
  expires_at: request.time.optional(),
  created_at: past.optional(),
  updated_at: past.optional(),
  version: version.optional(),
  ...request.standing,
  ...request.saidIn,
  links: links.optional(),
};

const memoryLine = object(LINE).superRefine(request.checkWritten);
/** A line that says what a memory said before: it is nothing without the memory. */
const versionLine = object({ ...LINE, memory_id: id, version })
  .superRefine(request.checkWritten);

/** A memory of an import, or an earlier version of one, checked. */
export type MemoryLine = z.output<typeof memoryLine> & {
  /** Its line, from 1. */
  readonly line: number;
  /** Whether it is an earlier version. */
  readonly isEarlier: boolean;
};

/** A line that was refused. */
export interface BadLine {
  /** Its number, from 1. */
  readonly line: number;
  readonly code: ErrorCode;
  /** For people; never quotes the line. */
  readonly error: string;
}

/** What the lines of an import hold. */
export interface ImportLines {
  readonly memories: readonly MemoryLine[];
  readonly bad: readonly BadLine[];
}

function objectOf(line: string): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // Without the cause: the parser's message quotes the line.
    throw new SvcError("malformed_json", "The line is not JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new SvcError("invalid_request", "The line is no object");
}

function readLines(body: string): ImportLines {
  const memories: MemoryLine[] = [];
  const bad: BadLine[] = [];
  let number = 0;
  for (let start = 0; start < body.length;) {
    if (++number > limit.IMPORT_LINES) throw new SvcError("too_many_items");
    const end = body.indexOf("\n", start);
    const line = body.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? body.length : end + 1;
    if (line.trim() === "") continue;
    try {
      const value = objectOf(line);
      const type = Reflect.get(value, "type") ?? "memory";
      if (type !== "memory" && type !== "version") continue;
      const isEarlier = type === "version";
      const memory = parseBody(isEarlier ? versionLine : memoryLine, value);
      memories.push({ ...memory, line: number, isEarlier });
    } catch (thrown) {
      const { code, message } = SvcError.from(thrown);
      bad.push({ line: number, code, error: message });
    }
    if (memories.length + bad.length > limit.IMPORT_MEMORIES) throw new SvcError("too_many_items");
  }
  return { memories, bad };
}

const importBody = z.string().transform((body, context): ImportLines => {
  try {
    return readLines(body);
  } catch (thrown) {
    const most = `at most ${limit.IMPORT_MEMORIES} memory lines of ${limit.IMPORT_LINES} lines`;
    fail(context, SvcError.from(thrown).code, most);
    return z.NEVER;
  }
}).meta({
  type: "string",
  examples: ['{"type":"memory","text":"I am allergic to peanuts"}\n'],
});

const SKIPS = ["exists", "older", "deleted", "expired", "history"] as const;

/** All of somebody's memories, out and in. */
export const PORTABLE = {
  "POST /api/export": {
    access: "signed",
    permissions: ["read"],
    summary: "Every memory, as NDJSON",
    weight: 10,
    body: object({
      namespace: request.givenNamespace.optional(),
      history: z.boolean().default(false).describe("Whether earlier versions are in it"),
    }),
    optionalBody: true,
    answers: () => ({
      200: {
        "application/x-ndjson": z.string().meta({
          description: "A header, a line for each memory, and a last line",
          examples: ['{"type":"end","memories":0,"errors":0}\n'],
        }),
      },
    }),
    errors: ["invalid_namespace", ...OPENS],
  },
  "POST /api/import": {
    access: "signed",
    permissions: ["read", "write"],
    writes: true,
    idempotent: true,
    summary: "Take memories of an export, up to 200",
    weight: 10,
    query: z.object({ bring_back: queryFlag(false), secrets: queryWord(SECRETS_RULES) }),
    body: importBody,
    lines: true,
    bodyBytes: limit.IMPORT_BODY_BYTES,
    answers: () => ({
      202: z.strictObject({
        accepted: count("Lines that became jobs"),
        skipped: count("Lines that were not taken, for the reasons in `skips`", 0),
        failed: count("Lines that were refused", 0),
        job_ids: z.array(uuid("Id of a job")),
        skips: z.array(z.strictObject({
          line: count("Number of the line, from 1", 1),
          reason: z.enum(SKIPS).describe("Why it was not taken"),
        })),
        errors: z.array(z.strictObject({
          line: count("Number of the line, from 1", 1),
          code: text("Code of the error", "empty_text"),
          error: text("The error for people", "text must not be empty"),
        })),
        status: z.literal("pending"),
        redacted: redacted(),
      }),
    }),
    errors: [
      "too_many_items",
      "invalid_parameter",
      "version_conflict",
      "quota_exceeded",
      ...OPENS,
    ],
  },
} as const satisfies RouteRows;
