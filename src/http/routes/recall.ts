import { SvcError } from "../../errors.ts";
import { type Analysis, analyze } from "../../memory/analyze/analyze.ts";
import { ask } from "../../memory/ask.ts";
import type { Caller } from "../../memory/caller.ts";
import type { Domain } from "../../memory/domain.ts";
import {
  type Hit,
  rank,
  recall,
  type RecallOptions,
  type ScoringWeights,
} from "../../memory/recall/recall.ts";
import { timeText } from "../../memory/record.ts";
import { restore } from "../../memory/restore.ts";
import { writtenStanding } from "../../memory/standing.ts";
import { documentVectors } from "../../memory/vectors.ts";
import {
  ANALYZE_FACTS,
  ASK_LIMIT_MAX,
  RECALL_LIMIT_MAX,
  RESTORE_LIMIT_MAX,
} from "../../wire/limits.ts";
import type { Received } from "../../wire/routes.ts";
import type { AnswerOf } from "../../wire/route_types.ts";
import type { Answer, Call, SignedHandlers } from "../route.ts";
import { standingBody } from "./memories.ts";

const NOTHING = "No matching memories found";

type RecallBody = Received<"POST /api/recall", "body">;

function weightsOf(weights: RecallBody["scoring_weights"]): ScoringWeights | undefined {
  return weights && {
    semantic: weights.semantic,
    recency: weights.recency,
    recencyHalfLifeDays: weights.recency_half_life_days,
    importance: weights.importance,
  };
}

/** How a recall or an ask searches; a limit above `limitMax` counts as that. */
function recallOptions(body: Omit<RecallBody, "query">, limitMax: number): RecallOptions {
  return {
    namespace: body.namespace,
    limit: Math.min(body.limit, limitMax),
    mode: body.mode,
    maxDistance: body.max_distance,
    minScore: body.min_score,
    minConfidence: body.min_confidence,
    weights: weightsOf(body.scoring_weights),
    occurredAfter: body.occurred_after,
    occurredBefore: body.occurred_before,
    asOf: body.as_of,
    history: body.include === "history",
    trust: body.trust,
  };
}

/** A recalled memory as answered to a caller. */
function hitBody(
  domain: Domain,
  caller: Caller,
  hit: Hit,
): AnswerOf<"POST /api/recall">["results"][number] {
  return {
    blob_id: hit.blobId ?? "",
    text: hit.text,
    distance: hit.distance,
    score: hit.score,
    confidence: hit.confidence,
    memory_id: hit.memoryId,
    namespace: hit.namespace,
    created_at: hit.createdAt,
    importance: hit.importance,
    occurred_at: hit.occurredAt,
    metadata: hit.metadata,
    ...standingBody(domain, caller, hit),
  };
}

/** The vector has to fit the embedder's. */
export function checkDimensions({ embedder }: Domain, { length }: Float32Array): void {
  const { dimensions } = embedder;
  if (length === dimensions) return;
  const message = `vector must have ${dimensions} numbers, not ${length}`;
  throw new SvcError("dimension_mismatch", message, { field: "vector" });
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

function analyzed(
  { facts, method, redacted }: Analysis,
  jobIds: readonly string[],
  owner: string,
): Answer<"POST /api/analyze"> {
  return {
    status: 202,
    body: {
      job_ids: jobIds,
      facts: jobIds.map((id, i) => ({
        text: facts[i]?.text ?? "",
        id,
        job_id: id,
        memory_id: id,
      })),
      fact_count: jobIds.length,
      total: jobIds.length,
      status: "pending",
      owner,
      method,
      redacted,
    },
  };
}

async function recallManual(
  domain: Domain,
  { body, caller }: Call<"POST /api/recall/manual">,
): Promise<Answer<"POST /api/recall/manual">> {
  checkDimensions(domain, body.vector);
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
}

/**
 * Recall by text and by vector, ask, analyze, embed and restore. Where members may be missing the
 * answer's type is written down: then one that the table does not have is an error.
 */
export const recallHandlers = {
  "POST /api/recall": async (domain, call): Promise<Answer<"POST /api/recall">> => {
    const options = recallOptions(call.body, RECALL_LIMIT_MAX);
    const found = await recall(domain, call.caller, call.body.query, options);
    const { results, dropped, pending, truncated } = found;
    return {
      status: 200,
      body: {
        results: results.map((hit) => hitBody(domain, call.caller, hit)),
        total: results.length,
        truncated: truncated || undefined,
        dropped_count: dropped || undefined,
        pending: pending || undefined,
        message: results.length === 0 ? NOTHING : undefined,
      },
    };
  },
  "POST /api/recall/manual": recallManual,
  "POST /api/embed": async ({ embedder }, { body: { text }, caller: { signal } }) => {
    const [windows] = await documentVectors(embedder, [text], signal);
    const vector = meanVector(windows ?? []);
    return { status: 200, body: { vector, dimensions: vector.length, model: embedder.model } };
  },
  "POST /api/restore": async (domain, { body, caller }) => {
    const { namespace } = body;
    const limit = Math.min(body.limit, RESTORE_LIMIT_MAX);
    const counts = await restore(domain, caller, namespace, limit);
    return { status: 200, body: { ...counts, namespace, owner: caller.account.owner } };
  },
  "POST /api/analyze": async (domain, call): Promise<Answer<"POST /api/analyze">> => {
    const { text, namespace, occurred_at, key, session } = call.body;
    const { owner } = call.caller.account;
    const input = {
      text,
      namespace,
      occurredAt: occurred_at,
      key,
      session,
      standing: writtenStanding(call.body),
      mostFacts: ANALYZE_FACTS,
    };
    const { analysis, answer } = await analyze(
      domain,
      call.caller,
      input,
      (found, jobs) => call.keep(analyzed(found, jobs.map((job) => job.id), owner)),
    );
    return answer ?? analyzed(analysis, [], owner);
  },
  "POST /api/ask": async (domain, { body, caller }): Promise<Answer<"POST /api/ask">> => {
    const options = recallOptions(body, ASK_LIMIT_MAX);
    const found = await ask(domain, caller, body.question, options);
    const { answer, mode, memories, dropped, pending, truncated } = found;
    return {
      status: 200,
      body: {
        answer,
        memories_used: memories.length,
        memories: memories.map((hit) => hitBody(domain, caller, hit)),
        answer_mode: mode,
        truncated: truncated || undefined,
        pending: pending || undefined,
        dropped_count: dropped || undefined,
      },
    };
  },
} satisfies Partial<SignedHandlers>;
