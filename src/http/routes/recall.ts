import type { z } from "zod";
import { SvcError } from "../../errors.ts";
import { timeText } from "../../memory/record.ts";
import {
  rank,
  recall,
  type RecallMode,
  type RecallOptions,
  type ScoringWeights,
} from "../../memory/recall/recall.ts";
import { documentVectors } from "../../memory/vectors.ts";
import { restore } from "../../memory/restore/restore.ts";
import { RECALL_LIMIT_MAX, RESTORE_LIMIT_MAX } from "../../wire/limits.ts";
import { EmbedBody, RecallBody, RecallManualBody, RestoreBody } from "../../wire/schemas.ts";
import { type SignedRoute, signedRoute } from "../route.ts";

const NOTHING = "No matching memories found";

function weightsOf(
  weights: z.output<typeof RecallBody>["scoring_weights"],
): ScoringWeights | undefined {
  return weights && {
    semantic: weights.semantic,
    recency: weights.recency,
    recencyHalfLifeDays: weights.recency_half_life_days,
    importance: weights.importance,
  };
}

/** How a recall or an ask searches; a limit above `limitMax` counts as that. */
export function recallOptions(
  body: Omit<z.output<typeof RecallBody>, "query">,
  limitMax: number,
): RecallOptions {
  return {
    namespace: body.namespace,
    limit: Math.min(body.limit, limitMax),
    // The schema lets no other value through.
    mode: body.mode as RecallMode,
    maxDistance: body.max_distance,
    minScore: body.min_score,
    weights: weightsOf(body.scoring_weights),
    occurredAfter: body.occurred_after,
    occurredBefore: body.occurred_before,
  };
}

/** Mean of a text's window vectors, unit length. */
function meanVector(windows: readonly Float32Array[]): number[] {
  const [first] = windows;
  if (first === undefined) throw new SvcError("embedding_unavailable");
  if (windows.length === 1) return [...first];
  const sum = new Float64Array(first.length);
  for (const window of windows) {
    for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + window[i]!;
  }
  const norm = Math.hypot(...sum) || 1;
  return [...sum].map((value) => value / norm);
}

/** Recall, manual recall, embed and restore (docs/protocol.md#10.6 to #10.8). */
export const recallRoutes: readonly SignedRoute[] = [
  signedRoute({
    method: "POST",
    path: "/api/recall",
    permissions: ["read"],
    schema: RecallBody,
    summary: "Find memories by meaning and by their words",
    handle: async (domain, call) => {
      const options = recallOptions(call.body, RECALL_LIMIT_MAX);
      const found = await recall(domain, call.caller, call.body.query, options);
      const { results, dropped, pending } = found;
      return {
        status: 200,
        body: {
          results,
          total: results.length,
          ...(dropped > 0 ? { dropped_count: dropped } : {}),
          ...(pending > 0 ? { pending } : {}),
          ...(results.length === 0 ? { message: NOTHING } : {}),
        },
      };
    },
  }),
  signedRoute({
    method: "POST",
    path: "/api/recall/manual",
    permissions: ["read"],
    schema: RecallManualBody,
    summary: "Find memories by a vector of the caller's own",
    handle: async (domain, call) => {
      const { body, caller } = call;
      const { dimensions } = domain.embedder;
      if (body.vector.length !== dimensions) {
        throw new SvcError(
          "dimension_mismatch",
          `vector must have ${dimensions} numbers, not ${body.vector.length}`,
          { field: "vector" },
        );
      }
      const limit = Math.min(body.limit, RECALL_LIMIT_MAX);
      const scale = 1 / Math.hypot(...body.vector);
      const best = limit === 0
        ? []
        : await rank(domain, caller, { vector: body.vector.map((v) => v * scale) }, {
          namespace: body.namespace,
          limit,
          maxDistance: body.max_distance,
          weights: weightsOf(body.scoring_weights),
          accept: (memory) => memory.blobId !== undefined,
        });
      const results = best.map(({ entry, distance, score }) => ({
        blob_id: entry.blobId ?? "",
        distance,
        created_at: timeText(entry.createdAt),
        importance: entry.importance,
        memory_id: entry.id,
        namespace: entry.namespace,
        score,
      }));
      return { status: 200, body: { results, total: results.length } };
    },
  }),
  signedRoute({
    method: "POST",
    path: "/api/embed",
    schema: EmbedBody,
    summary: "Embed a text; nothing is stored",
    handle: async (domain, call) => {
      const { embedder } = domain;
      const { body: { text }, caller: { signal } } = call;
      const [windows] = await documentVectors(embedder, [text], signal);
      const vector = meanVector(windows ?? []);
      return { status: 200, body: { vector, dimensions: vector.length, model: embedder.model } };
    },
  }),
  signedRoute({
    method: "POST",
    path: "/api/restore",
    permissions: ["read", "write"],
    weight: 3,
    writes: true,
    schema: RestoreBody,
    summary: "Index memories that are in the blob store only",
    handle: async (domain, call) => {
      const { namespace } = call.body;
      const limit = Math.min(call.body.limit, RESTORE_LIMIT_MAX);
      const counts = await restore(domain, call.caller, namespace, limit);
      return {
        status: 200,
        body: { ...counts, namespace, owner: call.caller.account.owner },
      };
    },
  }),
];
