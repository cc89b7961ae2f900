import { SvcError } from "../errors.ts";
import type { IndexedMemory } from "../index/loaded_scope.ts";
import type { Scope, SealedItem } from "../interfaces/mod.ts";
import { type Caller, type Domain, unseal } from "./domain.ts";
import { decodeStep } from "./payload.ts";
import { decodeBlob, decodeRecord, type MemoryRecord } from "./record.ts";

/** A memory's record, or why it could not be opened. */
export type Opened =
  | { readonly record: MemoryRecord }
  | { readonly error: SvcError };

/** The sealed record of an indexed memory: from the index, the blob store or its unfinished job. */
async function sealedRecord(domain: Domain, memory: IndexedMemory): Promise<SealedItem> {
  const scope: Scope = { owner: memory.owner, namespace: memory.namespace };
  if (memory.payload.length > 0) return { memoryId: memory.id, record: memory.payload };
  if (memory.blobId !== undefined && memory.source !== "manual") {
    const bytes = await domain.blobStore.get(memory.blobId, scope);
    const blob = bytes === undefined ? undefined : decodeBlob(bytes);
    if (blob?.memoryId === memory.id) return blob;
  }
  // The newest job of a memory carries its id until a version replaces it.
  const step = await domain.jobs.loadStep(memory.id);
  if (step !== undefined) {
    const { sealed } = decodeStep(await unseal(domain.steps, step, `step ${memory.id}`));
    return { memoryId: memory.id, ...sealed };
  }
  throw new SvcError("storage_unavailable", "The record cannot be read");
}

/** Opens the records of memories of one scope, each for itself, in the order given. */
export async function openMemories(
  domain: Domain,
  caller: Caller,
  scope: Scope,
  memories: readonly IndexedMemory[],
): Promise<Opened[]> {
  if (memories.length === 0) return [];
  const found = await Promise.allSettled(memories.map((memory) => sealedRecord(domain, memory)));
  const items = found.flatMap((item) => item.status === "fulfilled" ? [item.value] : []);
  const opened = await domain.cipher.open(items, {
    ...scope,
    accountId: caller.account.accountId,
    ...(caller.credential === undefined ? {} : { credential: caller.credential }),
    signal: caller.signal,
  });
  let next = 0;
  return found.map((item): Opened => {
    if (item.status === "rejected") return { error: SvcError.from(item.reason) };
    const result = opened[next++];
    if (result === undefined) return { error: new SvcError("internal_error") };
    if (result.status === "rejected") return { error: SvcError.from(result.reason) };
    try {
      return { record: decodeRecord(result.value) };
    } catch (error) {
      return { error: SvcError.from(error) };
    }
  });
}
