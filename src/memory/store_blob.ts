import type { Uses } from "./parts.ts";
import { SvcError } from "../errors.ts";
import type { LiveJob } from "../jobs/job.ts";
import { abortable } from "../deadline.ts";
import type { Payload, Step } from "./job_contents.ts";
import { encodeBlob } from "./record.ts";

/** Longest wait for a store to name a blob, milliseconds. */
const NAMING_MS = 1_000;

/** What storing a blob, and finding out its id later, takes. */
export type StoringBlobs = Uses<{
  blobStore: "put" | "withdraw";
  contents: "payload" | "step";
  logger: true;
}>;

const BLOB_ID = /^[\w-]{1,128}$/;

/**
 * Stores what a job made, once: the same job is answered the same blob again.
 *
 * @throws {SvcError} what the store throws; `storage_unavailable` when it names no blob: without a name
 * nothing is found again, and the job would end without its memory.
 */
export async function storeBlob(
  { blobStore }: Pick<StoringBlobs, "blobStore">,
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
  const blobId: unknown = await blobStore.put(bytes, {
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
 * Finds out the blob id of a job whose attempt was cut off, so that the blob can be deleted: storing
 * the same bytes under the same key again names it. Best effort: a deletion does not wait for a slow
 * store, and its tombstone keeps the blob from being restored.
 */
export async function nameBlob(domain: StoringBlobs, live: LiveJob): Promise<void> {
  const unknown = live.mayBeStored && live.blobId === undefined && live.step !== undefined;
  if (unknown && live.ending === undefined) live.naming ??= name(domain, live);
  await live.naming;
}

async function name(domain: StoringBlobs, live: LiveJob): Promise<void> {
  const { id } = live.job;
  try {
    // What has not left this machine needs no deletion.
    if (await domain.blobStore.withdraw?.(id, live.job)) return;
    const made = await domain.contents.step(id);
    if (made === undefined) return;
    const payload = await domain.contents.payload(live);
    const signal = AbortSignal.timeout(NAMING_MS);
    live.blobId = await abortable(storeBlob(domain, live, payload, made, signal), signal);
  } catch (error) {
    domain.logger.warn("blob_not_named", { job_id: id, reason: SvcError.from(error).code });
  }
}
