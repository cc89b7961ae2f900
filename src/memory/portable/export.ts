import type { Uses } from "../parts.ts";
import type { IndexEntry, Scope } from "../../interfaces/mod.ts";
import { type Caller, scopeOf } from "../caller.ts";
import { openPage, partsOf, type ReadingPages } from "../large_reads.ts";
import { type Opened, requireCredential } from "../open.ts";
import { timeText } from "../record.ts";

type Exporting = Uses<{
  vectorStore: "scan" | "scopes";
  jobs: "settle";
  worker: "expedite";
  tombstones: "isDeleted";
  config: true;
  now: true;
}, ReadingPages>;

/** Memories opened together. */
const PART = 64;

/** What the last line of an export counts. */
interface Counts {
  memories: number;
  errors: number;
}

/**
 * The lines of an export (docs/protocol.md#10.11), several at a time, each with its line end. What is
 * written meanwhile may be in it or not; what was accepted before is.
 *
 * @param namespace Only this one; every namespace of the owner when absent.
 * @throws {SvcError} `decrypt_credential_required`, `decrypt_credential_invalid`,
 * `storage_unavailable`: the lines so far are no whole export then.
 */
export async function* exportLines(
  domain: Exporting,
  caller: Caller,
  namespace: string | undefined,
): AsyncGenerator<string, void, undefined> {
  requireCredential(domain, caller);
  const { owner } = caller.account;
  const namespaces = namespace === undefined
    ? (await domain.vectorStore.scopes(owner)).map((scope) => scope.namespace)
    : [namespace];
  yield lineOf({
    type: "header",
    format: "svc-export/1",
    owner,
    exported_at: timeText(domain.now()),
  });
  const counts: Counts = { memories: 0, errors: 0 };
  for (const name of namespaces) yield* scopeLines(domain, caller, scopeOf(caller, name), counts);
  yield lineOf({ type: "end", ...counts });
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
  const { vectorStore, jobs, worker, config, tombstones, now } = domain;
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
      const lines = part.flatMap((entry, i) => {
        if (tombstones.isDeleted(scope, entry.id)) return [];
        const line = memoryLine(entry as IndexEntry, opened[i]!);
        if (line === undefined) return [];
        counts[line.type === "memory" ? "memories" : "errors"]++;
        return [lineOf(line)];
      });
      if (lines.length > 0) yield lines.join("");
    }
    cursor = page.cursor;
    page.release?.();
  } while (cursor !== undefined);
}

function memoryLine(entry: IndexEntry, opened: Opened) {
  if ("deleted" in opened) return undefined;
  const { id: memory_id, namespace, source } = entry;
  // The client encrypted it: there is no text that the relayer could write.
  if (source === "manual") return { type: "error", memory_id, namespace, code: "manual_memory" };
  if ("error" in opened) return { type: "error", memory_id, namespace, code: opened.error.code };
  const { record } = opened;
  return {
    type: "memory",
    memory_id,
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
    links: record.links,
    trust: record.trust,
  };
}
