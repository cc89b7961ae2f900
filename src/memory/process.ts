import { type JobErrorCode, SvcError } from "../errors.ts";
import type { IndexEntry, Scope, Sealed } from "../interfaces/mod.ts";
import type { AcceptedJob } from "../jobs/job.ts";
import { INLINE_BYTES } from "../jobs/staging.ts";
import { type Attempt, StepError } from "../jobs/worker.ts";
import { type Domain, timeText, unseal } from "./domain.ts";
import { decodePayload, decodeStep, encodeStep, type Payload, type Step } from "./payload.ts";
import { encodeBlob, encodeRecord } from "./record.ts";

async function step<T>(code: JobErrorCode, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new StepError(code, cause);
  }
}

/** Seals what the relayer knows of a memory; a manual one has no text for it. */
async function seal(domain: Domain, job: AcceptedJob, payload: Payload): Promise<Sealed> {
  const record = encodeRecord({
    v: 1,
    id: job.memoryId,
    version: job.version,
    text: payload.kind === "text" ? payload.text : "",
    ...(payload.metadata === undefined ? {} : { metadata: payload.metadata }),
    created_at: timeText(job.createdAt),
    updated_at: timeText(job.acceptedAt),
    ...(job.occurredAt === undefined ? {} : { occurred_at: timeText(job.occurredAt) }),
    ...(job.expiresAt === undefined ? {} : { expires_at: timeText(job.expiresAt) }),
    importance: job.importance,
    source: job.source,
  });
  return await domain.cipher.seal(record, job);
}

/** Embeds and seals once: the result is saved before its first effect. */
async function makeStep(
  domain: Domain,
  { live, signal }: Attempt,
  payload: Payload,
): Promise<Step> {
  const { job } = live;
  if (live.attempts > 1) {
    const saved = await domain.jobs.loadStep(job.id);
    if (saved !== undefined) {
      return decodeStep(await unseal(domain.steps, saved, `step ${job.id}`));
    }
  }
  const vectors = payload.kind === "manual" ? [payload.vector] : await step(
    "embedding_failed",
    async () => {
      const [windows] = await domain.embedder.embed([payload.text], {
        purpose: "document",
        signal,
      });
      if (windows === undefined || windows.length === 0) {
        throw new SvcError("embedding_unavailable");
      }
      return windows;
    },
  );
  domain.config.failpoint("embed");
  const sealed = await step("encryption_failed", () => seal(domain, job, payload));
  const made = { vectors, sealed };
  await step(
    "storage_failed",
    () => domain.jobs.saveStep(live, domain.steps.seal(encodeStep(made), `step ${job.id}`)),
  );
  domain.config.failpoint("seal");
  return made;
}

function entryOf(job: AcceptedJob, payload: Payload, { vectors, sealed }: Step): IndexEntry {
  return {
    owner: job.owner,
    namespace: job.namespace,
    id: job.memoryId,
    version: job.version,
    vectors,
    payload: sealed.record.length <= INLINE_BYTES ? sealed.record : new Uint8Array(),
    keyId: sealed.keyId,
    createdAt: job.createdAt,
    updatedAt: job.acceptedAt,
    importance: job.importance,
    source: job.source,
    bytes: payload.kind === "manual" ? payload.data.length : sealed.record.length,
    ...(job.occurredAt === undefined ? {} : { occurredAt: job.occurredAt }),
    ...(job.expiresAt === undefined ? {} : { expiresAt: job.expiresAt }),
  };
}

/** Whether the memory was deleted while its job waited or ran. */
function isDeleted(domain: Domain, job: AcceptedJob): boolean {
  return domain.tombstones.isDeleted(job, job.memoryId);
}

/** Removes whatever a job of a deleted memory left behind, then ends it. */
async function undo(domain: Domain, { live }: Attempt, blobId?: string): Promise<void> {
  const { job } = live;
  const scope: Scope = { owner: job.owner, namespace: job.namespace };
  domain.index.remove(scope, [job.memoryId]);
  await domain.vectorStore.delete(scope, [job.memoryId]);
  if (blobId !== undefined) await domain.blobStore.delete?.(blobId, scope);
  await domain.jobs.end(live, { state: "failed", errorCode: "deleted" });
}

/**
 * The job of one memory: embed, seal, index (recallable), store the blob, link it. Every effect is
 * idempotent under the job's id, so a crash between any two is repaired by running it again.
 *
 * @throws {StepError} naming the step that failed.
 */
export async function processMemory(domain: Domain, attempt: Attempt): Promise<void> {
  const { live, signal, release } = attempt;
  const { job } = live;
  const scope: Scope = { owner: job.owner, namespace: job.namespace };
  if (isDeleted(domain, job)) return await undo(domain, attempt);

  const sealedPayload = await step("storage_failed", () => domain.jobs.payload(live));
  const payload = decodePayload(await unseal(domain.payloads, sealedPayload, job.id));
  const made = await makeStep(domain, attempt, payload);
  const entry = entryOf(job, payload, made);

  await step("storage_failed", () => domain.vectorStore.upsert([entry], { signal }));
  // Tombstones come first, so one that is not there now is seen by whoever writes it.
  if (isDeleted(domain, job)) return await undo(domain, attempt);
  domain.index.apply([entry]);
  domain.config.failpoint("index");
  live.markRecallable();
  release();

  const blobId = await step("storage_failed", async () => {
    if (payload.kind === "manual" && payload.blobId !== undefined) return payload.blobId;
    const bytes = payload.kind === "manual"
      ? payload.data
      : encodeBlob({ memoryId: job.memoryId, ...made.sealed });
    return await domain.blobStore.put(bytes, { ...scope, idempotencyKey: job.id, signal });
  });
  domain.config.failpoint("blob");
  if (isDeleted(domain, job)) return await undo(domain, attempt, blobId);
  live.blobId = blobId;
  live.state = "uploaded";
  const link = { id: job.memoryId, version: job.version, blobId };
  await step("storage_failed", () => domain.vectorStore.link(scope, [link], { signal }));
  domain.index.applyLinks(scope, [link]);
  await step("storage_failed", () => domain.jobs.end(live, { state: "done" }));
  if (isDeleted(domain, job)) {
    domain.index.remove(scope, [job.memoryId]);
    await domain.vectorStore.delete(scope, [job.memoryId]);
    await domain.blobStore.delete?.(blobId, scope);
  }
  domain.config.failpoint("done");
}
