import { z } from "zod";
import {
  blobId,
  count,
  flag,
  jobState,
  linkKind,
  metadata,
  namespace,
  standing,
} from "../answer_members.ts";
import {
  conflictPolicy,
  deduplicating,
  number,
  owner,
  redacted,
  text,
  timestamp,
  uuid,
} from "../answer_members.ts";
import * as limit from "../limits.ts";
import * as request from "../request_members.ts";
import { oneOf, pageLimit, queryTime } from "../query_members.ts";
import { fail, object } from "../request_members.ts";
import type { RouteRows } from "../route.ts";

/** The name of a namespace that a page of namespaces ends with, as base64url. */
const namespaceCursor = z.string().transform((cursor, context) => {
  try {
    const bytes = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    fail(context, "invalid_cursor");
    return z.NEVER;
  }
}).optional().meta({ type: "string", description: "`next_cursor` of the page before" });

export const memory = () => ({
  memory_id: uuid("Id of the memory"),
  namespace: namespace(),
  text: text("The text, unless left out", "I am allergic to peanuts").optional(),
  text_error: text("Code of the error for which there is no text").optional(),
  blob_id: blobId().meta({ examples: ["0b6c2f8e"] }),
  status: jobState().meta({ description: "State of its newest job", examples: ["done"] }),
  recallable: flag("Whether a recall finds it"),
  version: count("From 1, raised by each replacement"),
  importance: number("0 to 1", 0.5),
  metadata: metadata().optional(),
  occurred_at: timestamp("When the fact happened").optional(),
  expires_at: timestamp("When it ends").optional(),
  created_at: timestamp("When it was accepted first"),
  updated_at: timestamp("When it changed last"),
  size_bytes: count("Size of its ciphertext", 212),
  source: z.enum(["remember", "bulk", "manual", "analyze", "import", "restore"]),
  ...standing(),
});

/** What ties a memory to another one. */
export const link = () => ({
  memory_id: uuid("Id of the other memory"),
  kind: linkKind(),
  by: text("The rule that found it; `caller` where the writer said so", "caller"),
  score: number("How sure that is, 0 to 1", 1),
});

/** What is over, folded or contradicted, in a query. */
const included = () => oneOf<"present" | "history">("present", "history");

/** What every page has besides its items. */
const page = (items: string) => ({
  total: count(`Number of all ${items}`),
  next_cursor: text("Where the next page starts; absent on the last").optional(),
});

/** The number of a version, as a member of a body. */
const versionNumber = () =>
  z.number().superRefine((value, context) => {
    if (!Number.isInteger(value) || value < 1) {
      fail(context, "invalid_request", "must be a whole number from 1");
    }
  });

/** The answer to whatever writes a new version of a memory. */
export const acceptedVersion = () =>
  z.strictObject({
    job_id: uuid("Id of the job, another one than the memory's"),
    memory_id: uuid("Id of the memory"),
    version: count("Number of the new version", 2),
    status: z.enum(["running", "pending"]),
    namespace: namespace(),
    redacted: redacted(),
  });

/** A new version of a memory. */
const replacement = object({
  text: request.memoryText.optional(),
  from_version: versionNumber().optional().describe(
    "An earlier version to copy, instead of a text",
  ),
  metadata: request.metadata.nullable(),
  ...request.changedWeightAndTimes,
  ...request.changedStanding,
  secrets: request.secrets,
  expected_version: versionNumber().optional().describe(
    "Refuses the change when the newest version is another one",
  ),
}, [
  "metadata",
  "occurred_at",
  "expires_at",
  "valid_from",
  "valid_to",
  "supersedes",
  "key",
]).superRefine((body, context) => {
  request.checkValidity(body, context);
  const { text, from_version: from } = body;
  if ((text === undefined) === (from === undefined)) {
    const message = text === undefined ? "is required" : "goes without text";
    const path = [text === undefined ? "text" : "from_version"];
    context.addIssue({ code: "custom", path, message });
  }
});

/** The end of an id in a query, as lists for people show it. */
const idEnd = () =>
  z.string().superRefine((value, context) => {
    if (!/^[0-9a-f-]{8,36}$/i.test(value)) {
      fail(context, "invalid_parameter", "must be 8 to 36 characters of an id");
    }
  }).transform((value) => value.toLowerCase()).optional().meta({
    type: "string",
    description: "Only memories whose id is, or ends with, this",
  });

/** A version's number in a query. */
const versionQuery = (description: string) =>
  z.custom<number>((given) => typeof given === "string").transform((given, context) => {
    const text = String(given);
    if (!/^[1-9]\d{0,8}$/.test(text)) {
      fail(context, "invalid_parameter", "must be a whole number from 1");
    }
    return Number(text);
  }).optional().meta({
    type: "integer",
    minimum: 1,
    description,
  });

/** Errors of whatever opens memories. */
export const OPENS = [
  "decrypt_credential_required",
  "decrypt_credential_invalid",
  "key_service_unavailable",
] as const;
const READS = { access: "signed", permissions: ["read"] } as const;
const RECEIPT = "What was deleted and what is left of it, signed";

/** A signed statement about deletions. */
const receipt = (description: string) =>
  z.strictObject({
    statement: text("JSON, exactly as it was signed", '{"v":1,"type":"svc-deletion"}'),
    signature: text("Ed25519, 128 hex characters", "5c".repeat(64)),
    public_key: text("The relayer's receipt key, 64 hex characters", "a4".repeat(32)),
  }).describe(description);

const erased = () =>
  flag("Whether no byte of it is left anywhere; what is left says the receipt").optional();

const REMOVES = { access: "signed", permissions: ["write"], writes: true } as const;

/** Memories and namespaces. */
export const MEMORIES = {
  "GET /api/memories": {
    ...READS,
    summary: "List memories of a namespace",
    weight: 0,
    query: z.object({
      namespace: request.namespace,
      limit: pageLimit(limit.MEMORY_PAGE_DEFAULT, limit.MEMORY_PAGE_MAX),
      cursor: z.string().optional().describe("`next_cursor` of the page before"),
      order: oneOf<"newest" | "oldest">("newest", "oldest"),
      text: oneOf<boolean>(true, false),
      id: idEnd(),
      include: included(),
      as_of: queryTime(),
    }),
    answers: () => ({
      200: z.strictObject({
        memories: z.array(z.strictObject(memory())),
        ...page("memories"),
        history_count: count("Memories that are left out because they are over").optional(),
      }),
    }),
    errors: [
      "invalid_namespace",
      "invalid_parameter",
      "invalid_cursor",
      ...OPENS,
    ],
  },
  "GET /api/memories/:id": {
    ...READS,
    summary: "One memory with its versions",
    weight: 0,
    query: z.object({ version: versionQuery("An earlier version; without it the present one") }),
    answers: () => ({
      200: z.strictObject({
        ...memory(),
        links: z.array(z.strictObject(link())).describe("What ties it to others, and why")
          .optional(),
        versions: z.array(z.strictObject({
          version: count("Its number"),
          blob_id: blobId(),
          created_at: timestamp("When it was accepted"),
        })),
      }),
    }),
    errors: ["memory_not_found", "invalid_parameter", ...OPENS],
  },
  "PUT /api/memories/:id": {
    access: "signed",
    permissions: ["read", "write"],
    writes: true,
    idempotent: true,
    summary: "Write a new version of a memory",
    weight: 5,
    body: replacement,
    answers: () => ({ 202: acceptedVersion() }),
    errors: [
      "memory_not_found",
      "version_conflict",
      "empty_text",
      "text_too_long",
      "secret_found",
      "invalid_metadata",
      "invalid_parameter",
      "quota_exceeded",
      ...OPENS,
    ],
  },
  "DELETE /api/memories/:id": {
    ...REMOVES,
    summary: "Delete a memory with all its versions",
    query: z.object({
      expected_version: versionQuery(
        "Refuses the deletion when the newest version is another one; needs `read`",
      ),
    }),
    answers: () => ({
      200: z.strictObject({
        memory_id: uuid("Id of the memory"),
        deleted: z.literal(true),
        blob: z.enum(["deleted", "retained", "none"]).optional()
          .describe("What became of its blob; absent without `read`"),
        restatements: z.array(uuid("Id of a memory")).optional()
          .describe("Memories that said the same in other words, for which it stood: deleted, too"),
        erased: erased(),
        receipt: receipt(`${RECEIPT}; absent without \`read\``).optional(),
      }),
    }),
    errors: ["memory_not_found", "version_conflict", "invalid_parameter"],
  },
  "GET /api/namespaces": {
    ...READS,
    summary: "List namespaces with counts",
    weight: 0,
    query: z.object({
      limit: pageLimit(limit.NAMESPACE_PAGE_MAX, limit.NAMESPACE_PAGE_MAX),
      cursor: namespaceCursor,
    }),
    answers: () => ({
      200: z.strictObject({
        namespaces: z.array(z.strictObject({
          namespace: namespace(),
          memory_count: count("Number of memories"),
          storage_bytes: count("Size of their ciphertext", 212),
          last_write_at: timestamp("Time of the last write"),
          conflicts: conflictPolicy(),
          deduplicate: deduplicating(),
        })),
        ...page("namespaces"),
      }),
    }),
    errors: ["invalid_parameter", "invalid_cursor"],
  },
  "POST /api/stats": {
    ...READS,
    summary: "Counts of a namespace",
    body: object({ namespace: request.namespace }),
    answers: () => ({
      200: z.strictObject({
        memory_count: count("Number of memories"),
        storage_bytes: count("Size of their ciphertext", 212),
        pending: count("Unfinished jobs", 0),
        namespace: namespace(),
        owner: owner(),
      }),
    }),
    errors: ["invalid_namespace"],
  },
  "POST /api/forget": {
    ...REMOVES,
    summary: "Delete every memory of a namespace",
    body: object({ namespace: request.requiredNamespace }),
    answers: () => ({
      200: z.strictObject({
        deleted: count("Number of memories deleted; absent without `read`").optional(),
        namespace: namespace(),
        owner: owner(),
        erased: erased(),
        receipt: receipt(`${RECEIPT}; absent without \`read\`, and where nothing was deleted`)
          .optional(),
      }),
    }),
    errors: ["empty_namespace", "invalid_namespace"],
  },
  "POST /api/receipts": {
    ...READS,
    summary: "A receipt for memories that were deleted, as things are now",
    body: object({
      namespace: request.namespace,
      memory_ids: z.array(z.custom<string>()).superRefine((ids, context) => {
        if (ids.length === 0 || ids.length > limit.RECEIPT_IDS) {
          fail(context, "invalid_parameter", `must have 1 to ${limit.RECEIPT_IDS} ids`);
        }
      }).pipe(z.array(uuid("Id of a memory"))),
    }),
    answers: () => ({
      200: z.strictObject({
        erased: flag("Whether no byte of them is left anywhere"),
        receipt: receipt(RECEIPT),
      }),
    }),
    errors: ["invalid_namespace", "invalid_parameter", "memory_not_found"],
  },
} as const satisfies RouteRows;
