import type { z } from "zod";
import { SvcError } from "../../errors.ts";
import { JOB_ERRORS, type JobView } from "../../jobs/job.ts";
import { Deadline } from "../../deadline.ts";
import { type Caller, scopeOf } from "../../memory/caller.ts";
import type { Domain } from "../../memory/domain.ts";
import { timeText } from "../../memory/record.ts";
import { accept, type NewMemory } from "../../memory/remember.ts";
import { isUuid } from "../../wire/keys.ts";
import {
  BulkBody,
  BulkStatusBody,
  EmptyBody,
  ManualBody,
  RememberBody,
} from "../../wire/schemas.ts";
import { type Answer, type Call, type SignedRoute, signedRoute } from "../route.ts";

function newMemory(item: z.output<typeof RememberBody>): NewMemory {
  const { text, namespace, metadata, importance, occurred_at, expires_at } = item;
  return {
    namespace,
    payload: { kind: "text", text, ...(metadata === undefined ? {} : { metadata }) },
    importance,
    occurredAt: occurred_at,
    expiresAt: expires_at,
  };
}

function acceptedAnswer(
  domain: Domain,
  caller: Caller,
  namespace: string,
  id: string,
): Answer {
  return {
    status: 202,
    body: {
      job_id: id,
      status: domain.worker.free ? "running" : "pending",
      memory_id: id,
      id,
      blob_id: "",
      owner: caller.account.owner,
      namespace,
      recallable: false,
    },
  };
}

/** A job record as answered. */
function jobBody(job: JobView): Record<string, unknown> {
  return {
    job_id: job.id,
    status: job.state,
    owner: job.scope.owner,
    namespace: job.scope.namespace,
    memory_id: job.memoryId,
    recallable: job.recallable,
    attempts: job.attempts,
    created_at: timeText(job.createdAt),
    updated_at: timeText(job.updatedAt),
    ...(job.blobId === undefined ? {} : { blob_id: job.blobId }),
    ...errorMembers(job),
  };
}

function errorMembers(job: JobView): Record<string, string> {
  const { errorCode } = job;
  return errorCode === undefined ? {} : { error: JOB_ERRORS[errorCode], error_code: errorCode };
}

async function remember(
  domain: Domain,
  call: Call<z.output<typeof RememberBody>>,
): Promise<Answer> {
  const memory = newMemory(call.body);
  let answer: Answer | undefined;
  await accept(domain, call.caller, "remember", [memory], ([job]) => {
    answer = acceptedAnswer(domain, call.caller, memory.namespace, job?.id ?? "");
    return call.keep(answer);
  });
  if (answer === undefined) throw new SvcError("internal_error");
  return answer;
}

async function bulk(domain: Domain, call: Call<z.output<typeof BulkBody>>): Promise<Answer> {
  let answer: Answer | undefined;
  await accept(domain, call.caller, "bulk", call.body.items.map(newMemory), (jobs) => {
    const ids = jobs.map((job) => job.id);
    answer = { status: 202, body: { job_ids: ids, total: ids.length, status: "running" } };
    return call.keep(answer);
  });
  if (answer === undefined) throw new SvcError("internal_error");
  return answer;
}

async function bulkStatus(
  domain: Domain,
  call: Call<z.output<typeof BulkStatusBody>>,
): Promise<Answer> {
  const { owner } = call.caller.account;
  const results = await Promise.all(call.body.job_ids.map(async (id) => {
    // Anything else is no job's id, and may be too long for a key of the job table.
    const job = isUuid(id) ? await domain.jobs.get(id.toLowerCase(), owner) : undefined;
    if (job === undefined) return { job_id: id, status: "not_found" };
    return {
      job_id: id,
      status: job.state,
      recallable: job.recallable,
      memory_id: job.memoryId,
      attempts: job.attempts,
      ...(job.blobId === undefined ? {} : { blob_id: job.blobId }),
      ...errorMembers(job),
    };
  }));
  return { status: 200, body: { results } };
}

async function manual(domain: Domain, call: Call<z.output<typeof ManualBody>>): Promise<Answer> {
  const { body, caller } = call;
  if (body.vector.length !== domain.embedder.dimensions) {
    throw new SvcError(
      "dimension_mismatch",
      `vector must have ${domain.embedder.dimensions} numbers, not ${body.vector.length}`,
      { field: "vector" },
    );
  }
  const scope = scopeOf(caller, body.namespace);
  let data: Uint8Array | undefined = body.encrypted_data;
  let blobId: string | undefined;
  if (data === undefined && body.blob_id !== undefined) {
    blobId = body.blob_id;
    const { blobStore } = domain;
    // A client that stored it by itself has marked it as nobody's.
    data = await blobStore.get(blobId, scope) ?? await blobStore.getForeign?.(blobId);
    if (data === undefined) throw new SvcError("blob_not_found");
  }
  const memory: NewMemory = {
    namespace: body.namespace,
    payload: {
      kind: "manual",
      vector: unit(body.vector),
      model: domain.embedder.model,
      data: data ?? new Uint8Array(),
      ...(blobId === undefined ? {} : { blobId }),
      ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    },
    importance: body.importance,
    occurredAt: body.occurred_at,
    expiresAt: body.expires_at,
  };
  const [live] = await accept(
    domain,
    caller,
    "manual",
    [memory],
    ([job]) => call.keep(acceptedAnswer(domain, caller, memory.namespace, job?.id ?? "")),
  );
  if (live === undefined) throw new SvcError("internal_error");
  const { config, worker } = domain;
  using deadline = new Deadline(config.manualWaitMs, worker.stopped);
  // A job that is not done in time, or put down by a stop, is done later all the same.
  await deadline.wait(live.ended).catch(() => {});
  if (live.blobId === undefined) {
    return acceptedAnswer(domain, caller, memory.namespace, live.job.id);
  }
  const id = live.job.id;
  const { owner } = caller.account;
  const { namespace } = memory;
  return {
    status: 200,
    body: { id, blob_id: live.blobId, owner, namespace, memory_id: id, job_id: id },
  };
}

/** Scaled to unit length, as every vector of the index is. */
function unit(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = 1 / Math.sqrt(sum);
  return vector.map((value) => value * scale);
}

/** Remember, bulk, manual and the job routes (docs/protocol.md#10.1 to #10.4). */
export const rememberRoutes: readonly SignedRoute[] = [
  signedRoute({
    method: "POST",
    path: "/api/remember",
    permissions: ["write"],
    weight: 5,
    writes: true,
    idempotent: true,
    schema: RememberBody,
    summary: "Store a memory",
    success: 202,
    handle: remember,
  }),
  signedRoute({
    method: "POST",
    path: "/api/remember/bulk",
    permissions: ["write"],
    weight: 10,
    writes: true,
    idempotent: true,
    schema: BulkBody,
    summary: "Store up to 20 memories",
    success: 202,
    handle: bulk,
  }),
  signedRoute({
    method: "POST",
    path: "/api/remember/bulk/status",
    weight: 0,
    schema: BulkStatusBody,
    summary: "States of up to 20 jobs",
    handle: bulkStatus,
  }),
  signedRoute({
    method: "POST",
    path: "/api/remember/manual",
    permissions: ["write"],
    weight: 3,
    writes: true,
    idempotent: true,
    schema: ManualBody,
    summary: "Store what the client encrypted and embedded itself",
    handle: manual,
  }),
  signedRoute({
    method: "GET",
    path: "/api/remember/:id",
    weight: 0,
    summary: "State of a job",
    handle: async (domain, call) => {
      const job = await domain.jobs.get(call.id, call.caller.account.owner);
      if (job === undefined) throw new SvcError("job_not_found");
      return { status: 200, body: jobBody(job) };
    },
  }),
  signedRoute({
    method: "POST",
    path: "/api/remember/:id/retry",
    permissions: ["write"],
    writes: true,
    schema: EmptyBody,
    optionalBody: true,
    summary: "Try a failed job again",
    success: 202,
    handle: async (domain, call) => {
      const { owner } = call.caller.account;
      const job = await domain.jobs.get(call.id, owner);
      if (job === undefined) throw new SvcError("job_not_found");
      if (domain.tombstones.isGone(job.scope, job.memoryId, job.createdAt)) {
        throw new SvcError("job_not_retryable");
      }
      let answer: Answer | undefined;
      const live = await domain.jobs.retry(call.id, owner, (pending) => {
        answer = { status: 202, body: jobBody(pending) };
        return call.keep(answer);
      });
      domain.worker.notify([live]);
      return answer ?? { status: 202, body: jobBody(live.view()) };
    },
  }),
];
