import { z } from "zod";
import type { JobErrorCode } from "../../errors.ts";
import { blobId, count, flag, jobState, namespace, owner, redacted } from "../answer_members.ts";
import { text, timestamp, uuid } from "../answer_members.ts";
import * as limit from "../limits.ts";
import * as request from "../request_members.ts";
import { fail, object } from "../request_members.ts";
import type { RouteRows } from "../route.ts";

/** One memory of remember and bulk. */
const members = {
  text: request.memoryText,
  namespace: request.namespace,
  metadata: request.metadata,
  ...request.weightAndTimes,
  ...request.standing,
  ...request.saidIn,
};
const memory = object(members).superRefine(request.checkWritten);

/** Of remember and bulk. */
const deduplicate = z.boolean().default(true).describe(
  "Whether what is said already is not stored again, or kept behind the memory that says it",
);

const remember = object({
  ...members,
  secrets: request.secrets,
  deduplicate,
})
  .superRefine(request.checkWritten);

const bulk = object({
  items: z.array(z.custom<z.input<typeof memory>>()).superRefine((items, context) => {
    if (items.length === 0) fail(context, "empty_items");
    if (items.length > limit.BULK_ITEMS) {
      fail(context, "too_many_items", `at most ${limit.BULK_ITEMS} items`);
    }
  }).pipe(z.array(memory)),
  secrets: request.secrets,
  deduplicate,
});

const bulkStatus = object({
  job_ids: z.array(z.custom<string>()).superRefine((ids, context) => {
    if (ids.length === 0) fail(context, "empty_job_ids");
    // Before the items are looked at: each that is no text would be a problem of its own.
    if (ids.length > limit.BULK_STATUS_IDS) {
      fail(context, "too_many_job_ids", `at most ${limit.BULK_STATUS_IDS} ids`);
    }
  }).pipe(z.array(uuid("Id of a job"))),
});

const encryptedData = z.string().transform((text, context) => {
  try {
    const bytes = Uint8Array.fromBase64(text);
    if (bytes.length > 0) return bytes;
  } catch {
    // Falls through: the message would quote the data.
  }
  fail(context, "invalid_encrypted_data");
  return new Uint8Array();
}).meta({ type: "string", contentEncoding: "base64", examples: ["c2VhbGVk"] });

const manual = object({
  encrypted_data: encryptedData.optional(),
  blob_id: z.string().optional(),
  vector: request.vector,
  namespace: request.namespace,
  metadata: request.metadata,
  ...request.weightAndTimes,
}).superRefine((body, context) => {
  if (body.encrypted_data === undefined && body.blob_id === undefined) {
    context.addIssue({
      code: "custom",
      path: ["encrypted_data"],
      message: "encrypted_data or blob_id is needed",
    });
  }
});

const jobId = () => uuid("Id of the job");
const memoryId = () => uuid("Id of the memory");

const accepted = () =>
  z.strictObject({
    job_id: jobId(),
    status: z.enum(["running", "pending"]),
    memory_id: memoryId(),
    id: uuid("Equals `job_id`"),
    blob_id: blobId(),
    owner: owner(),
    namespace: namespace(),
    recallable: flag("Whether a recall finds the memory", false),
  });

const JOB_ERROR_CODES = [
  "embedding_failed",
  "encryption_failed",
  "storage_failed",
  "quota_exceeded",
  "deleted",
  "internal_error",
] as const satisfies readonly JobErrorCode[];

/** How far a job is. */
const progress = () => ({
  recallable: flag("Whether a recall finds the memory"),
  memory_id: memoryId(),
  attempts: count("How often it was tried"),
  blob_id: text("Id of the blob, once it is stored", "0b6c2f8e").optional(),
  folded: z.strictObject({
    memory_id: uuid("The memory that stands for it"),
    reason: text("The rule that found it", "other_words"),
  }).optional().describe("Another memory says the same: lists and recall show that one"),
  waits_for: z.literal("credential").optional()
    .describe("What it cannot go on without: a request of whoever may read it"),
  error: text("Why the last attempt failed").optional(),
  error_code: z.enum(JOB_ERROR_CODES).optional(),
});

const job = () =>
  z.strictObject({
    job_id: jobId(),
    status: jobState().meta({ examples: ["done"] }),
    owner: owner(),
    namespace: namespace(),
    ...progress(),
    created_at: timestamp("When it was accepted"),
    updated_at: timestamp("When it changed last"),
  });

const JOB = { access: "signed", errors: ["job_not_found"] } as const;
const REMEMBERS = {
  access: "signed",
  permissions: ["write"],
  writes: true,
  idempotent: true,
} as const;
const MEMORY_ERRORS = [
  "invalid_namespace",
  "invalid_metadata",
  "invalid_parameter",
  "quota_exceeded",
  "key_service_unavailable",
] as const;

/** Remember, bulk, manual, and the jobs they start. */
export const REMEMBER = {
  "POST /api/remember": {
    ...REMEMBERS,
    summary: "Store a memory",
    weight: 5,
    body: remember,
    answers: () => ({
      202: accepted().extend({
        redacted: redacted(),
        deduplicated: z.literal(true).optional()
          .describe("Nothing was stored: `memory_id` says the same, word for word"),
        unread_language: text("Language that the embedder does not read; said once", "de")
          .optional(),
      }),
    }),
    errors: ["empty_text", "text_too_long", "memory_not_found", "secret_found", ...MEMORY_ERRORS],
  },
  "POST /api/remember/bulk": {
    ...REMEMBERS,
    summary: "Store up to 20 memories",
    weight: 10,
    body: bulk,
    answers: () => ({
      202: z.strictObject({
        job_ids: z.array(jobId()).describe("One id an item, in the order of the items"),
        total: count("Number of items"),
        status: z.literal("running"),
        deduplicated: z.array(count("Place of an item, from 0")).optional()
          .describe(
            "Items that were not stored: their ids are those of memories that say the same",
          ),
        redacted: redacted(),
      }),
    }),
    errors: [
      "empty_items",
      "too_many_items",
      "empty_text",
      "text_too_long",
      "memory_not_found",
      "secret_found",
      ...MEMORY_ERRORS,
    ],
  },
  "POST /api/remember/bulk/status": {
    access: "signed",
    summary: "States of up to 20 jobs",
    weight: 0,
    body: bulkStatus,
    answers: () => ({
      200: z.strictObject({
        results: z.array(z.union([
          z.strictObject({ job_id: jobId(), status: jobState(), ...progress() }),
          z.strictObject({
            job_id: text("Names no job of the caller"),
            status: z.literal("not_found"),
          }),
        ])).describe("In the order of the request"),
      }),
    }),
    errors: ["empty_job_ids", "too_many_job_ids"],
  },
  "POST /api/remember/manual": {
    ...REMEMBERS,
    summary: "Store what the client encrypted and embedded itself",
    weight: 3,
    body: manual,
    answers: () => ({
      200: z.strictObject({
        id: uuid("Equals `job_id`"),
        blob_id: text("Id of the blob", "0b6c2f8e"),
        owner: owner(),
        namespace: namespace(),
        memory_id: memoryId(),
        job_id: jobId(),
      }),
      202: accepted().describe("The job stores the blob"),
    }),
    errors: [
      "invalid_encrypted_data",
      "invalid_vector",
      "dimension_mismatch",
      "blob_not_found",
      ...MEMORY_ERRORS,
    ],
  },
  "GET /api/remember/:id": {
    ...JOB,
    summary: "State of a job",
    weight: 0,
    answers: () => ({ 200: job() }),
  },
  "POST /api/remember/:id/retry": {
    access: "signed",
    summary: "Try a failed job again",
    permissions: ["write"],
    writes: true,
    body: object({}),
    optionalBody: true,
    answers: () => ({ 202: job() }),
    errors: ["job_not_found", "job_not_retryable"],
  },
} as const satisfies RouteRows;
