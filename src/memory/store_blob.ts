import type { Uses } from "./parts.ts";
import { SvcError } from "../errors.ts";
import type { EndedJob, LiveJob, Waiting } from "../jobs/job.ts";
import { isBlobUnknown } from "../jobs/ended_jobs.ts";
import { abortable } from "../deadline.ts";
import type { JobSpec } from "../interfaces/mod.ts";
import type { Payload, Step } from "./waiting/job_contents.ts";
import { encodeBlob } from "./record.ts";

/** Longest waits for a store to name a blob, milliseconds: of a deletion, and of what finishes it. */
export const NAMING_MS = { deletion: 1_000, upkeep: 15_000 };

/** What storing a blob, and finding out its id later, takes. */
export type StoringBlobs = Uses<{
  blobStore: "put" | "withdraw" | "delete" | "erases";
  contents: "ownCiphertext" | "step";
  logger: true;
}>;

type KeepingBytes = Uses<{ blobStore: "delete" | "erases" }>;

const BLOB_ID = /^[\w-]{1,128}$/;

/** Whether the blob store may keep the bytes of deleted memories where others read them. */
export function keepsBytes({ blobStore }: KeepingBytes): boolean {
  return blobStore.delete === undefined || blobStore.erases !== true;
}

/**
 * Stores what a job made, once: the same job is answered the same blob again.
 *
 * @throws {SvcError} what the store throws; `storage_unavailable` when it names no blob: without a name
 * nothing is found again, and the job would end without its memory.
 */
export async function storeBlob(
  { blobStore }: Pick<StoringBlobs, "blobStore">,
  job: JobSpec,
  payload: Payload,
  made: Step,
  signal?: AbortSignal,
): Promise<string> {
  if (payload.kind === "manual" && payload.blobId !== undefined) return payload.blobId;
  return await put({ blobStore }, job, bytesOf(job, payload, made), signal);
}

/** What is stored for a job: a client's own ciphertext, or the sealed record. */
function bytesOf({ memoryId }: JobSpec, payload: Payload | undefined, made: Step): Uint8Array {
  return payload?.kind === "manual" ? payload.data : encodeBlob({ memoryId, ...made.sealed });
}

async function put(
  { blobStore }: Pick<StoringBlobs, "blobStore">,
  { owner, namespace, id, source }: JobSpec,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<string> {
  const blobId: unknown = await blobStore.put(bytes, {
    owner,
    namespace,
    idempotencyKey: id,
    // Whoever encrypted it reads it from the store by its id.
    standalone: source === "manual",
    signal,
  });
  if (typeof blobId === "string" && BLOB_ID.test(blobId)) return blobId;
  throw new SvcError("storage_unavailable", "The blob store named no blob");
}

/**
 * Finds out the blob id of a job whose attempt was cut off, so that the blob can be deleted: storing
 * something under the same key again names it. A deletion does not wait for a slow store.
 */
export async function nameBlob(domain: StoringBlobs, live: LiveJob): Promise<void> {
  if (isBlobUnknown(live) && live.ending === undefined) live.naming ??= name(domain, live);
  await live.naming;
}

async function name(domain: StoringBlobs, live: LiveJob): Promise<void> {
  const { job } = live;
  try {
    // What has not left this machine needs no deletion.
    if (await domain.blobStore.withdraw?.(job.id, job)) live.mayBeStored = false;
    else live.blobId = await storeAgain(domain, job, NAMING_MS.deletion);
  } catch (error) {
    noteUnnamed(domain, job, error);
  }
}

/**
 * The same for a job that has ended, of a memory that was deleted: `undefined` where the store does not
 * tell in time.
 */
export async function nameEndedBlob(
  domain: StoringBlobs,
  job: EndedJob,
  ms: number,
): Promise<string | undefined> {
  try {
    return await storeAgain(domain, job, ms);
  } catch (error) {
    noteUnnamed(domain, job, error);
    return undefined;
  }
}

function noteUnnamed({ logger }: StoringBlobs, { id }: JobSpec, error: unknown): void {
  logger.warn("blob_not_named", { job_id: id, reason: SvcError.from(error).code });
}

/**
 * Puts something under the key of a job, which answers what was put under it first. Only where a store
 * keeps what it was ever given it has to be the same.
 */
async function storeAgain(
  domain: StoringBlobs,
  job: JobSpec & Partial<Waiting["job"]>,
  ms: number,
): Promise<string> {
  const { contents } = domain;
  const { payload, ...spec } = job;
  const isOwn = job.source === "manual";
  const own = isOwn && payload !== undefined
    ? await contents.ownCiphertext({ job: { ...spec, payload } })
    : undefined;
  if (own?.kind === "manual" && own.blobId !== undefined) return own.blobId;
  const signal = AbortSignal.timeout(ms);
  let bytes: Uint8Array = new TextEncoder().encode(job.id);
  if (keepsBytes(domain)) {
    const made = await contents.step(job.id);
    if (made === undefined || (isOwn && own === undefined)) {
      throw new SvcError("storage_unavailable", "The sealed record is missing");
    }
    bytes = bytesOf(job, own, made);
  }
  return await abortable(put(domain, job, bytes, signal), signal);
}
