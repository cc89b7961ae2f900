import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { IndexEntry, Scope } from "../../interfaces/mod.ts";
import type { IndexedMemory } from "../../index/ranking.ts";
import type { MemoryVersion } from "../../storage/core/version_table.ts";
import type { Caller } from "../caller.ts";
import { type Opened, type Opening, openMemories, storedEntries } from "../open.ts";

/** Where versions are read. */
type ReadingVersions = Uses<{ versions: "has" | "of" }>;

/** Where it is noted which versions a memory had. */
export type Versioning = Uses<{
  vectorStore: "get";
  versions: "note";
}, ReadingVersions>;

/** A version, as its row has it. */
type Written =
  & Pick<IndexEntry, "id" | "version" | "updatedAt" | "bytes">
  & { readonly blobId?: string | undefined };

function noted({ id, version, updatedAt, blobId, bytes }: Written, jobId = id): MemoryVersion {
  return { id, version, jobId, acceptedAt: updatedAt, blobId, bytes };
}

/**
 * To be called before rows are written: what they replace is noted as history, and so is what comes
 * too late to be recalled. Memories that were never replaced cost nothing.
 *
 * @param jobId The job that writes them, where one does.
 */
export async function noteReplaced(
  { vectorStore, versions }: Versioning,
  scope: Scope,
  entries: readonly IndexEntry[],
  jobId?: string,
): Promise<void> {
  // A record that no row holds is found by its job, whose id may be another one.
  const isElsewhere = ({ id, payload }: IndexEntry) =>
    jobId !== undefined && jobId !== id && payload.length === 0;
  const replacing = entries.filter((entry) =>
    entry.version > 1 || versions.has(scope, entry.id) || isElsewhere(entry)
  );
  if (replacing.length === 0) return;
  const rows = await storedEntries({ vectorStore }, scope.owner, replacing.map(({ id }) => id));
  const present = new Map(
    rows.filter(({ namespace }) => namespace === scope.namespace).map((row) => [row.id, row]),
  );
  versions.note(
    scope,
    replacing.flatMap((entry) => {
      const row = present.get(entry.id);
      if (row === undefined || row.version === entry.version) {
        return [noted({ ...entry, bytes: 0 }, jobId)];
      }
      const [old, current] = row.version < entry.version ? [row, entry] : [entry, row];
      return [
        noted(old, old === entry ? jobId : jobOf(versions, scope, old)),
        noted({ ...current, bytes: 0 }, current === entry ? jobId : undefined),
      ];
    }),
  );
}

function jobOf(
  versions: ReadingVersions["versions"],
  scope: Scope,
  { id, version }: Written,
): string {
  return versions.of(scope, id).find((row) => row.version === version)?.jobId ?? id;
}

/**
 * To be called when the blob of a version is known: whatever row was meant to name it may have been
 * replaced meanwhile.
 */
export async function noteBlob(
  { vectorStore, versions }: Versioning,
  scope: Scope,
  written: Written,
  jobId?: string,
): Promise<void> {
  const { id, version } = written;
  if (!versions.has(scope, id)) return;
  const [row] = await storedEntries({ vectorStore }, scope.owner, [id]);
  const isReplaced = row !== undefined && row.version > version;
  versions.note(scope, [noted({ ...written, bytes: isReplaced ? written.bytes : 0 }, jobId)]);
}

/** A memory's versions up to the indexed one, newest first; that one is always among them. */
export function versionsOf(
  { versions }: ReadingVersions,
  memory: IndexedMemory,
): MemoryVersion[] {
  const earlier = versions.of(memory, memory.id)
    .filter(({ version }) => version < memory.version);
  return [noted(memory), ...earlier];
}

/** Opens one version of a memory; nothing when there is none of that number. */
export async function openVersion(
  domain: Opening & ReadingVersions,
  caller: Caller,
  memory: IndexedMemory,
  version: number,
): Promise<Opened[]> {
  const found = versionsOf(domain, memory).find((row) => row.version === version);
  if (found === undefined) return [];
  const { owner, namespace } = memory;
  const { blobId: _, ...rest } = memory;
  const { blobId } = found;
  const earlier = { ...rest, version, ...blobId && { blobId }, payload: new Uint8Array() };
  if (version === memory.version) {
    return await openMemories(domain, caller, { owner, namespace }, [memory]);
  }
  const opened = await openMemories(domain, caller, { owner, namespace }, [earlier]);
  // Where its own record is lost, the present one was found by the memory's id.
  const isOther = (one: Opened) => "record" in one && one.record.version !== version;
  const lost = new SvcError("storage_unavailable", "The version cannot be read");
  return opened.map((one) => isOther(one) ? { error: lost } : one);
}
