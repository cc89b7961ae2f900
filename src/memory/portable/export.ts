import type { Uses } from "../parts.ts";
import type { IndexEntry, Scope } from "../../interfaces/mod.ts";
import { type Caller, isOpenTo, labelOf, scopeOf } from "../caller.ts";
import { openPage, partsOf, type ReadingPages } from "../large_reads.ts";
import { type Opened, requireCredential } from "../open.ts";
import { type MemoryRecord, timeText } from "../record.ts";
import { openVersion, versionsOf } from "../versions/history.ts";

type Exporting = Uses<{
  vectorStore: "scan" | "scopes";
  jobs: "settle" | "liveOf";
  worker: "expedite";
  tombstones: "isDeleted";
  versions: "has" | "of";
  config: true;
  now: true;
}, ReadingPages>;

/** Memories opened together. */
const PART = 64;

/** What an export is of. */
export interface ExportOptions {
  /** Only this namespace; every one of the owner's when absent. */
  readonly namespace?: string | undefined;
  /** Whether each memory comes with its earlier versions. */
  readonly history: boolean;
}

/** What the last line of an export counts. */
interface Counts {
  memories: number;
  errors: number;
  /** Earlier versions, where they were asked for. */
  versions?: number;
}

/**
 * The lines of an export (docs/protocol.md#10.11), several at a time, each with its line end. What is
 * written meanwhile may be in it or not; what was accepted before is.
 *
 * @throws {SvcError} `decrypt_credential_required`, `decrypt_credential_invalid`,
 * `storage_unavailable`: the lines so far are no whole export then.
 */
export async function* exportLines(
  domain: Exporting,
  caller: Caller,
  { namespace, history }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  requireCredential(domain, caller);
  const { owner } = caller.account;
  const namespaces = namespace === undefined ? await namespacesOf(domain, caller) : [namespace];
  yield lineOf({
    type: "header",
    format: "svc-export/1",
    owner,
    exported_at: timeText(domain.now()),
  });
  const counts: Counts = { memories: 0, errors: 0, ...history && { versions: 0 } };
  for (const name of namespaces) yield* scopeLines(domain, caller, scopeOf(caller, name), counts);
  yield lineOf({ type: "end", ...counts });
}

/** The caller's namespaces, also those whose first memories wait. */
async function namespacesOf(domain: Exporting, caller: Caller): Promise<string[]> {
  const { owner } = caller.account;
  const waiting = domain.jobs.liveOf(owner).map(({ job }) => job.namespace);
  const indexed = (await domain.vectorStore.scopes(owner)).map((scope) => scope.namespace);
  return [...new Set([...indexed, ...waiting])].filter((name) => isOpenTo(caller, name));
}

function lineOf(members: object): string {
  return `${JSON.stringify(members)}\n`;
}

async function* scopeLines(
  domain: Exporting,
  caller: Caller,
  scope: Scope,
  counts: Counts,
): AsyncGenerator<string, void, undefined> {
  const { vectorStore, jobs, worker, config, now } = domain;
  worker.expedite(scope);
  await jobs.settle(scope, config.recallWaitMs);
  // What is written beside the scan may be met again, at its new place.
  const met = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await vectorStore.scan(scope, cursor, { signal: caller.signal });
    const entries = page.entries.filter(({ id, expiresAt = Infinity }) =>
      !met.has(id) && expiresAt > now()
    );
    for (const { id } of entries) met.add(id);
    for (const part of partsOf(entries, PART)) {
      const opened = await openPage(domain, caller, scope, part);
      yield* partLines(domain, caller, { part: part as IndexEntry[], opened, counts });
    }
    cursor = page.cursor;
    page.release?.();
  } while (cursor !== undefined);
}

interface Part {
  readonly part: readonly IndexEntry[];
  readonly opened: readonly Opened[];
  readonly counts: Counts;
}

/** Lines of some memories: together, but where earlier versions come between, which may be large. */
async function* partLines(
  domain: Exporting,
  caller: Caller,
  { part, opened, counts }: Part,
): AsyncGenerator<string, void, undefined> {
  let lines = "";
  for (const [i, entry] of part.entries()) {
    if (domain.tombstones.isDeleted(entry, entry.id)) continue;
    const line = memoryLine(caller, entry, opened[i]!);
    if (line === undefined) continue;
    if (counts.versions !== undefined && domain.versions.has(entry, entry.id)) {
      for await (const earlier of earlierLines(domain, caller, entry)) {
        counts[earlier.type === "version" ? "versions" : "errors"]++;
        yield lines + lineOf(earlier);
        lines = "";
      }
    }
    counts[line.type === "memory" ? "memories" : "errors"]++;
    lines += lineOf(line);
  }
  if (lines !== "") yield lines;
}

/** What a memory said before, oldest first: an import that takes the lines in turn ends with it. */
async function* earlierLines(domain: Exporting, caller: Caller, entry: IndexEntry) {
  const { id: memory_id, namespace } = entry;
  const [, ...earlier] = versionsOf(domain, entry);
  for (const { version } of earlier.reverse()) {
    const [opened] = await openVersion(domain, caller, entry, version);
    if (opened === undefined || domain.tombstones.isDeleted(entry, memory_id)) continue;
    if ("error" in opened) {
      yield { type: "error", memory_id, namespace, version, code: opened.error.code } as const;
    } else if ("record" in opened) {
      yield { type: "version", ...members(caller, entry, opened.record) } as const;
    }
  }
}

function memoryLine(caller: Caller, entry: IndexEntry, opened: Opened) {
  if ("deleted" in opened) return undefined;
  const { id: memory_id, namespace, source } = entry;
  // The client encrypted it: there is no text that the relayer could write.
  if (source === "manual") return { type: "error", memory_id, namespace, code: "manual_memory" };
  if ("error" in opened) return { type: "error", memory_id, namespace, code: opened.error.code };
  return { type: "memory", ...members(caller, entry, opened.record) };
}

function members(
  caller: Caller,
  { id, namespace, source }: IndexEntry,
  record: MemoryRecord,
) {
  return {
    memory_id: id,
    namespace,
    text: record.text,
    metadata: record.metadata,
    importance: record.importance,
    occurred_at: record.occurred_at,
    expires_at: record.expires_at,
    created_at: record.created_at,
    updated_at: record.updated_at,
    version: record.version,
    source,
    valid_from: record.valid_from,
    valid_to: record.valid_to,
    key: record.key,
    session: record.session,
    position: record.position,
    links: record.links,
    trust: record.trust,
    written_by: record.written_by,
    written_by_label: labelOf(caller, record.written_by, namespace),
  };
}
