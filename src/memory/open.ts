import type { Uses } from "./parts.ts";
import type { CallOptions, Cipher, IndexEntry, Scope, SealedItem } from "../interfaces/mod.ts";
import { SvcError } from "../errors.ts";
import type { IndexedMemory } from "../index/ranking.ts";
import { type Caller, isOpenTo } from "./caller.ts";
import { decodeBlob, decodeRecord, type MemoryRecord } from "./record.ts";

/** Where the rows of memories are read by id. */
type StoredRows = Uses<{ vectorStore: "get" }>;

/** The owner's memories with these ids. Anything else that a store answers is left out. */
export async function storedEntries(
  { vectorStore }: StoredRows,
  owner: string,
  ids: readonly string[],
  options?: CallOptions,
): Promise<IndexEntry[]> {
  const wanted = new Set(ids);
  const found = await vectorStore.get(owner, ids, options);
  return found.filter((entry) => entry.owner === owner && wanted.has(entry.id));
}

/** The memories with these ids that are there for a caller. */
export async function entriesFor(
  domain: StoredRows,
  caller: Caller,
  ids: readonly string[],
): Promise<IndexEntry[]> {
  const found = await storedEntries(domain, caller.account.owner, ids);
  return found.filter(({ namespace }) => isOpenTo(caller, namespace));
}

/** What opening the records of memories takes. */
export type Opening = Uses<{
  cipher: "needsCredential" | "open";
  blobStore: "get";
  contents: "step";
  tombstones: "isDeleted";
  versions: "jobOf";
  jobs: "liveVersion";
}, StoredRows>;

/** Nothing has the record of a memory that is there, although everything answered. */
export class RecordLost extends SvcError {
  constructor() {
    super("storage_unavailable", "The record cannot be read");
  }
}

/** A memory's record, why it could not be opened, or that it was deleted meanwhile. */
export type Opened =
  | { readonly record: MemoryRecord }
  | { readonly error: SvcError }
  | { readonly deleted: true };

/**
 * Makes sure that records can be opened for this caller.
 *
 * @throws {SvcError} `decrypt_credential_required` where the cipher needs a credential and none
 * was sent.
 */
export function requireCredential(
  { cipher }: { readonly cipher: Pick<Cipher, "needsCredential"> },
  caller: Caller,
): void {
  if (cipher.needsCredential && caller.credential === undefined) {
    throw new SvcError("decrypt_credential_required");
  }
}

/** An opened record. @throws {SvcError} why it could not be opened. */
export function settled(result: PromiseSettledResult<Uint8Array> | undefined): Uint8Array {
  if (result?.status === "fulfilled") return result.value;
  throw SvcError.from(result?.reason);
}

/** Whether an error is about the caller's credential and not about one record. */
export function isCredentialError({ code }: SvcError): boolean {
  return code === "decrypt_credential_required" || code === "decrypt_credential_invalid";
}

async function storedRecord(
  domain: Opening,
  memory: IndexedMemory,
): Promise<SealedItem | undefined> {
  const scope: Scope = { owner: memory.owner, namespace: memory.namespace };
  if (isInline(memory)) return inlineRecord(memory).value;
  if (memory.blobId !== undefined && memory.source !== "manual") {
    const bytes = await domain.blobStore.get(memory.blobId, scope);
    const blob = bytes === undefined ? undefined : decodeBlob(bytes);
    if (blob?.memoryId === memory.id) return blob;
  }
  const { owner, id, version } = memory;
  const live = domain.jobs.liveVersion(owner, id, version);
  const jobId = live?.job.id ?? domain.versions.jobOf(memory, id, version);
  const step = await domain.contents.step(jobId);
  return step && { memoryId: memory.id, ...step.sealed };
}

/**
 * The sealed record of an indexed memory: from the index, the blob store or its unfinished job;
 * `undefined` when the memory was deleted.
 */
async function sealedRecord(
  domain: Opening,
  memory: IndexedMemory,
): Promise<SealedItem | undefined> {
  const found = await storedRecord(domain, memory);
  if (found !== undefined) return found;
  // Its job may have ended since the index was read, and the record moved to its blob.
  const [current] = await storedEntries(domain, memory.owner, [memory.id]);
  if (current === undefined || domain.tombstones.isDeleted(current, current.id)) return undefined;
  const moved = await storedRecord(domain, current);
  if (moved === undefined) throw new RecordLost();
  return moved;
}

function isInline({ payload }: IndexedMemory): boolean {
  return payload.length > 0;
}

/** What `sealedRecord` finds for inline records, without a promise for each memory. */
function inlineRecord({ id, payload }: IndexedMemory): PromiseFulfilledResult<SealedItem> {
  return { status: "fulfilled", value: { memoryId: id, record: payload } };
}

/**
 * Opens the records of memories of one scope, each for itself, in the order given.
 *
 * @throws {SvcError} `decrypt_credential_invalid`; what the cipher as a whole is refused with.
 */
export async function openMemories(
  domain: Opening,
  caller: Caller,
  scope: Scope,
  memories: readonly IndexedMemory[],
): Promise<Opened[]> {
  if (memories.length === 0) return [];
  const found = memories.every(isInline)
    ? memories.map(inlineRecord)
    : await Promise.allSettled(memories.map((memory) => sealedRecord(domain, memory)));
  const items = found.flatMap((item) =>
    item.status === "fulfilled" && item.value !== undefined ? [item.value] : []
  );
  const opened = await domain.cipher.open(items, {
    ...scope,
    accountId: caller.account.accountId,
    ...(caller.credential === undefined ? {} : { credential: caller.credential }),
    signal: caller.signal,
  });
  let next = 0;
  return found.map((item): Opened => {
    if (item.status === "rejected") return { error: SvcError.from(item.reason) };
    if (item.value === undefined) return { deleted: true };
    try {
      return { record: decodeRecord(settled(opened[next++])) };
    } catch (thrown) {
      const error = SvcError.from(thrown);
      if (isCredentialError(error)) throw error;
      return { error };
    }
  });
}
