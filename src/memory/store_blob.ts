import { SvcError } from "../errors.ts";
import type { LiveJob } from "../jobs/live_job.ts";
import { abortable } from "../deadline.ts";
import { type Domain, unseal } from "./domain.ts";
import { decodePayload, decodeStep, type Payload, type Step } from "./payload.ts";
import { encodeBlob } from "./record.ts";

/** Longest wait for a store to name a blob, milliseconds: it may be uploading, or be down. */
const NAMING_MS = 1_000;

const BLOB_ID = /^[\w-]{1,128}$/;

/**
 * Stores what a job made, once: the same job is answered the same blob again.
 *
 * @throws {SvcError} what the store throws; `storage_unavailable` when it names no blob: without a name
 * nothing is found again, and the job would end without its memory.
 */
export async function storeBlob(
  domain: Domain,
  { job }: LiveJob,
  payload: Payload,
  { sealed }: Step,
  signal?: AbortSignal,
): Promise<string> {
  if (payload.kind === "manual" && payload.blobId !== undefined) return payload.blobId;
  const bytes = payload.kind === "manual"
    ? payload.data
    : encodeBlob({ memoryId: job.memoryId, ...sealed });
  const { owner, namespace, id } = job;
  const blobId: unknown = await domain.blobStore.put(bytes, {
    owner,
    namespace,
    idempotencyKey: id,
    // Whoever encrypted it reads it from the store by its id.
    standalone: payload.kind === "manual",
    signal,
  });
  if (typeof blobId === "string" && BLOB_ID.test(blobId)) return blobId;
  throw new SvcError("storage_unavailable", "The blob store named no blob");
}

/**
 * Finds out the blob of a job whose attempt was cut off, so that it can be deleted: asking again
 * with the same bytes and key names it. Best effort: a deletion does not wait for a store that is
 * down or slow, and its tombstone keeps a blob that stays from coming back.
 */
export async function nameBlob(domain: Domain, live: LiveJob): Promise<void> {
  const unknown = live.mayBeStored && live.blobId === undefined && live.step !== undefined;
  if (unknown && live.ending === undefined) live.naming ??= name(domain, live);
  await live.naming;
}

async function name(domain: Domain, live: LiveJob): Promise<void> {
  const { id } = live.job;
  try {
    // What has not left this machine needs no deletion.
    if (await domain.blobStore.withdraw?.(id, live.job)) return;
    const step = await domain.jobs.loadStep(id);
    if (step === undefined) return;
    const made = decodeStep(await unseal(domain.steps, step, `step ${id}`));
    const sealed = await unseal(domain.payloads, await domain.jobs.payload(live), id);
    const payload = decodePayload(sealed);
    const signal = AbortSignal.timeout(NAMING_MS);
    live.blobId = await abortable(storeBlob(domain, live, payload, made, signal), signal);
  } catch (error) {
    domain.logger.warn("blob_not_named", { job_id: id, reason: SvcError.from(error).code });
  }
}
