import { z } from "zod";
import { conflictPolicy, count, deduplicating, namespace, text } from "../answer_members.ts";
import * as limit from "../limits.ts";
import { pageLimit, queryWord } from "../query_members.ts";
import * as request from "../request_members.ts";
import { object } from "../request_members.ts";
import type { RouteRows } from "../route.ts";
import { acceptedVersion, link, memory, OPENS } from "./memories.ts";

/** Why a memory is to be looked at. */
const REVIEW_REASONS = ["conflict", "superseded", "folded", "untrusted"] as const;

const reason = () => z.enum(REVIEW_REASONS);

/** What rules found and nobody has looked at, and what becomes of it. */
export const REVIEW = {
  "GET /api/review": {
    access: "signed",
    permissions: ["read"],
    summary: "Memories that somebody should look at",
    weight: 0,
    query: z.object({
      namespace: request.namespace,
      limit: pageLimit(limit.MEMORY_PAGE_DEFAULT, limit.MEMORY_PAGE_MAX),
      cursor: z.string().optional().describe("`next_cursor` of the page before"),
      reason: queryWord(REVIEW_REASONS),
    }),
    answers: () => ({
      200: z.strictObject({
        items: z.array(z.strictObject({
          ...memory(),
          reasons: z.array(reason()).describe(
            "`conflict`: a rule found that it says something else than another one; `superseded`: by " +
              "a rule it takes its place; `folded`: by a rule it says the same; `untrusted`: it came " +
              "from the web or another product",
          ),
          links: z.array(z.strictObject({
            ...link(),
            text: text("What the other one says", "I live in Berlin").optional(),
            text_error: text("Code of the error for which there is no text").optional(),
          })).describe("What rules found"),
        })).describe("Newest first"),
        total: count("Number of all items"),
        conflicts: conflictPolicy(),
        next_cursor: text("Where the next page starts; absent on the last").optional(),
      }),
    }),
    errors: ["invalid_namespace", "invalid_parameter", "invalid_cursor", ...OPENS],
  },
  "POST /api/review": {
    access: "signed",
    permissions: ["read", "write"],
    writes: true,
    idempotent: true,
    summary: "Accept or undo what a rule found about a memory",
    weight: 5,
    body: object({
      memory_id: request.uuid.meta({
        type: "string",
        description: "Id of the memory",
        examples: ["0b6e9c3a-6f0d-4a1e-9f57-3f5f3c1b2a10"],
      }),
      decision: request.word(["accept", "undo"]),
      other_id: request.uuid.optional().meta({
        type: "string",
        description: "Only what ties it to this one",
        examples: ["0b6e9c3a-6f0d-4a1e-9f57-3f5f3c1b2a10"],
      }),
    }),
    answers: () => ({ 202: acceptedVersion() }),
    errors: [
      "memory_not_found",
      "version_conflict",
      "secret_found",
      "invalid_parameter",
      "quota_exceeded",
      ...OPENS,
    ],
  },
  "PUT /api/namespaces": {
    access: "signed",
    permissions: ["write"],
    writes: true,
    summary: "Choose what becomes of contradictions and repetitions in a namespace",
    body: object({
      namespace: request.requiredNamespace,
      conflicts: request.word(request.CONFLICT_POLICIES).nullable().optional().describe(
        "`null`: what the relayer's settings say",
      ),
      deduplicate: z.boolean().nullable().optional().describe(
        "Whether what says the same is kept once; `null`: what the relayer's settings say",
      ),
    }, ["conflicts", "deduplicate"]),
    answers: () => ({
      200: z.strictObject({
        namespace: namespace(),
        conflicts: conflictPolicy(),
        deduplicate: deduplicating(),
      }),
    }),
    errors: ["empty_namespace", "invalid_namespace", "invalid_parameter"],
  },
} as const satisfies RouteRows;
