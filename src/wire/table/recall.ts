import { z } from "zod";
import { blobId, count, metadata, namespace, number, owner, standing } from "../answer_members.ts";
import { redacted, text, timestamp, uuid } from "../answer_members.ts";
import * as limit from "../limits.ts";
import * as request from "../request_members.ts";
import { boundedText, object } from "../request_members.ts";
import type { RouteRows } from "../route.ts";

const ranking = {
  namespace: request.namespace,
  max_distance: z.number().optional(),
  scoring_weights: request.weights.optional(),
};

const searching = {
  ...ranking,
  mode: request.word(["hybrid", "semantic", "keyword"]).default("hybrid"),
  min_score: z.number().optional(),
  min_confidence: request.confidence.optional(),
  occurred_after: request.time.optional(),
  occurred_before: request.time.optional(),
  as_of: request.time.optional(),
  include: request.word(["present", "history"]).default("present"),
  trust: request.trusts.optional(),
};

/** A memory found by vector: identifiers and numbers only. */
const found = () => ({
  blob_id: blobId(),
  distance: number("Cosine distance, 0 to 2", 0.2),
  score: number("Order of the hits, highest first", 0.8),
  memory_id: uuid("Id of the memory"),
  namespace: namespace(),
  created_at: timestamp("When it was accepted"),
  importance: number("0 to 1", 0.5).optional(),
});

/** A memory found by a recall. */
const hit = () =>
  z.strictObject({
    ...found(),
    text: text("The memory", "I am allergic to peanuts"),
    confidence: number("Probability that it answers the query, 0 to 1", 0.62).optional(),
    occurred_at: timestamp("When the fact happened").optional(),
    metadata: metadata().optional(),
    ...standing(),
  });

/** What a search could not do in time, or not answer. */
const shortfall = () => ({
  truncated: z.boolean().optional()
    .describe("Hits were left out: all of them would be more than about 4 MiB"),
  dropped_count: count("Hits that could not be decrypted").optional(),
  pending: count("Own memories that were not recallable in time").optional(),
});

/** Of opening memories and of embedding. */
const OPENING_ERRORS = [
  "decrypt_credential_required",
  "decrypt_credential_invalid",
  "embedding_unavailable",
  "key_service_unavailable",
] as const;
const SEARCH_ERRORS = [
  "invalid_namespace",
  "invalid_parameter",
  "invalid_scoring_weights",
  ...OPENING_ERRORS,
] as const;

/** Recall by text and by vector, ask, analyze, embed and restore. */
export const RECALL = {
  "POST /api/recall": {
    access: "signed",
    summary: "Find memories by meaning and by their words",
    permissions: ["read"],
    body: object({
      query: boundedText(
        limit.QUERY_BYTES,
        "empty_query",
        "query_too_long",
        "What should I not cook?",
      ),
      limit: request.wholeNumber.default(limit.RECALL_LIMIT_DEFAULT),
      ...searching,
    }),
    answers: () => ({
      200: z.strictObject({
        results: z.array(hit()).describe("Best first"),
        total: count("Number of hits"),
        ...shortfall(),
        message: text("Said when nothing was found").optional(),
      }),
    }),
    errors: ["empty_query", "query_too_long", ...SEARCH_ERRORS],
  },
  "POST /api/recall/manual": {
    access: "signed",
    summary: "Find memories by a vector of the caller's own",
    permissions: ["read"],
    body: object({
      vector: request.vector,
      limit: request.wholeNumber.default(limit.RECALL_LIMIT_DEFAULT),
      ...ranking,
    }),
    answers: () => ({
      200: z.strictObject({
        results: z.array(z.strictObject(found())).describe("Best first"),
        total: count("Number of hits"),
      }),
    }),
    errors: [
      "invalid_namespace",
      "invalid_vector",
      "dimension_mismatch",
      "invalid_scoring_weights",
    ],
  },
  "POST /api/embed": {
    access: "signed",
    summary: "Embed a text; nothing is stored",
    body: object({ text: request.memoryText }),
    answers: () => ({
      200: z.strictObject({
        vector: z.array(number("Part of the embedding", 0.12)),
        dimensions: count("Length of the vector", 384),
        model: text("Name of the model", "use-lite"),
      }),
    }),
    errors: ["empty_text", "text_too_long", "embedding_unavailable"],
  },
  "POST /api/restore": {
    access: "signed",
    summary: "Index memories that are in the blob store only",
    permissions: ["read", "write"],
    weight: 3,
    writes: true,
    body: object({
      namespace: request.requiredNamespace,
      limit: request.wholeNumber.default(limit.RESTORE_LIMIT_DEFAULT),
    }),
    answers: () => ({
      200: z.strictObject({
        restored: count("Memories that were added to the index"),
        skipped: count("Blobs whose memory was there, or was deleted", 2),
        failed: count("Blobs that could not be read", 0),
        remaining: count("Blobs left for another call", 0),
        total: count("Blobs found: the sum of the other numbers", 3),
        namespace: namespace(),
        owner: owner(),
      }),
    }),
    errors: [
      "empty_namespace",
      "invalid_namespace",
      ...OPENING_ERRORS,
    ],
  },
  "POST /api/analyze": {
    access: "signed",
    summary: "Extract the facts of a text and store each",
    permissions: ["write"],
    weight: 10,
    writes: true,
    idempotent: true,
    body: object({
      text: boundedText(
        limit.ANALYZE_TEXT_BYTES,
        "empty_text",
        "text_too_long",
        "I am allergic to peanuts. How are you?",
      ),
      namespace: request.namespace,
      occurred_at: request.time.optional(),
      ...request.standing,
      session: request.session.optional(),
    }).superRefine(request.checkValidity),
    answers: () => ({
      202: z.strictObject({
        job_ids: z.array(uuid("Id of a job")).describe("One job a fact"),
        facts: z.array(z.strictObject({
          text: text("The fact", "I am allergic to peanuts"),
          id: uuid("Equals `job_id`"),
          job_id: uuid("Id of its job"),
          memory_id: uuid("Id of its memory"),
        })),
        fact_count: count("Number of facts"),
        total: count("Number of facts"),
        status: z.literal("pending"),
        owner: owner(),
        method: z.enum(["llm", "rules"]).describe("How the facts were found"),
        redacted: redacted(),
      }),
    }),
    errors: [
      "empty_text",
      "text_too_long",
      "invalid_namespace",
      "invalid_parameter",
      "memory_not_found",
      "quota_exceeded",
      ...OPENING_ERRORS,
      "llm_disabled",
      "llm_unavailable",
    ],
  },
  "POST /api/ask": {
    access: "signed",
    summary: "Answer a question from the memories",
    permissions: ["read"],
    weight: 2,
    body: object({
      question: boundedText(
        limit.QUESTION_BYTES,
        "empty_question",
        "query_too_long",
        "What should I not cook?",
      ),
      limit: request.wholeNumber.default(limit.ASK_LIMIT_DEFAULT),
      ...searching,
    }),
    answers: () => ({
      200: z.strictObject({
        answer: text("The answer", "Nothing with peanuts: you are allergic to them."),
        memories_used: count("Number of memories the answer rests on"),
        memories: z.array(hit()).describe("Those memories"),
        answer_mode: z.enum(["llm", "quotes"]).describe("Whether a model composed the answer"),
        ...shortfall(),
      }),
    }),
    errors: ["empty_question", "query_too_long", ...SEARCH_ERRORS, "llm_unavailable"],
  },
} as const satisfies RouteRows;
