import type { Uses } from "./parts.ts";
import { type ErrorCode, SvcError } from "../errors.ts";
import type { MemoryLink, Standing } from "../interfaces/mod.ts";
import type { IndexedMemory } from "../index/ranking.ts";
import type { JobSpec, JobState } from "../jobs/job.ts";
import { type Caller, isOpenTo, scopeOf } from "./caller.ts";
import { countThatFits, openPage, type ReadingPages } from "./large_reads.ts";
import { entriesFor, requireCredential } from "./open.ts";
import { countsAt, relationsOf, type RelationsView } from "./links/view.ts";
import type { MemoryRecord, Metadata } from "./record.ts";
import type { MemoryVersion } from "../storage/core/version_table.ts";
import { openVersion, versionsOf } from "./versions/history.ts";

/** What reading memories with their texts takes. */
export type Listing = Uses<{
  index: "read";
  jobs: "newestOf";
  versions: "has" | "of";
  tombstones: "unappliedIn";
  expiry: "purge";
  largeScopes: "has";
  cursors: true;
  now: true;
}, ReadingPages>;

type Order = "newest" | "oldest";

/** A memory as its owner sees it. Times are milliseconds since the epoch. */
export interface MemoryView
  extends Pick<JobSpec, "memoryId" | "namespace" | "version" | "importance" | "source"> {
  /** The text; absent where it was not asked for or cannot be opened. */
  readonly text?: string;
  /** Why the text cannot be opened; absent for a manual memory, which has none. */
  readonly textError?: ErrorCode;
  /** Its blob, once stored. */
  readonly blobId: string | undefined;
  readonly state: JobState;
  /** Whether a recall finds it. */
  readonly recallable: boolean;
  readonly metadata?: Metadata | undefined;
  readonly occurredAt: number | undefined;
  readonly expiresAt: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Ciphertext bytes; 0 until it is indexed. */
  readonly bytes: number;
  readonly standing?: Standing | undefined;
  /** What it is about. */
  readonly key?: string | undefined;
  /** Where it was said, as its record has it. */
  readonly session?: string | undefined;
  readonly position?: number | undefined;
  /** Public key that signed for it; absent where its record is not opened. */
  readonly writtenBy?: string | undefined;
  readonly relations?: RelationsView | undefined;
}

interface MemoryPage {
  readonly memories: readonly MemoryView[];
  readonly total: number;
  /** Memories that are left out because they are over, or another one says the same. */
  readonly history: number;
  /** Where the next page starts. */
  readonly nextCursor?: string;
}

interface ListOptions {
  readonly namespace: string;
  readonly limit: number;
  readonly order: Order;
  /** Whether texts and metadata are opened. */
  readonly text: boolean;
  readonly cursor?: string | undefined;
  /** The end of an id: only what fits is listed. */
  readonly id?: string | undefined;
  /** Whether memories are listed that are over, or for which another one stands. */
  readonly include: "present" | "history";
  /** When the memories have to be true, milliseconds since the epoch; now when absent. */
  readonly as_of?: number | undefined;
}

/**
 * A memory as its owner sees it.
 *
 * @param opened Left out where texts are.
 */
export function viewOf(
  domain: Listing,
  memory: IndexedMemory,
  opened?: { readonly record: MemoryRecord } | { readonly error: SvcError },
): MemoryView {
  const { blobId } = memory;
  const record = opened !== undefined && "record" in opened ? opened.record : undefined;
  // The client encrypted a manual one: there is no text to expect.
  const isManual = memory.source === "manual";
  const text = isManual ? undefined : record?.text;
  const error = isManual || opened === undefined || "record" in opened ? undefined : opened.error;
  return {
    memoryId: memory.id,
    namespace: memory.namespace,
    ...(text === undefined ? {} : { text }),
    ...(error === undefined ? {} : { textError: error.code }),
    blobId,
    // A job that ended without a blob has failed; the memory is recallable all the same.
    state: domain.jobs.newestOf(memory.owner, memory.id)?.state ??
      (blobId === undefined ? "failed" : "done"),
    recallable: true,
    version: memory.version,
    importance: memory.importance,
    metadata: record?.metadata,
    occurredAt: memory.occurredAt,
    expiresAt: memory.expiresAt,
    createdAt: memory.createdAt,
    updatedAt: memory.updatedAt,
    bytes: memory.bytes,
    source: memory.source,
    standing: memory.standing,
    key: record?.key,
    session: record?.session,
    position: record?.position,
    writtenBy: record?.written_by,
  };
}

/** Cursors are sealed, so that nobody can forge or read one. */
export function sealCursor(
  domain: Pick<Listing, "cursors">,
  bound: string,
  memory: IndexedMemory,
): string {
  const plain = new TextEncoder().encode(`${memory.createdAt} ${memory.id}`);
  return domain.cursors.seal(plain, bound).toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * The time and the id that a page ended with.
 *
 * @throws {SvcError} `invalid_cursor`.
 */
export function openCursor(
  domain: Pick<Listing, "cursors">,
  bound: string,
  cursor: string,
): [number, string] {
  try {
    const sealed = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
    const [time, id] = new TextDecoder().decode(domain.cursors.open(sealed, bound)).split(" ");
    return [Number(time), id ?? ""];
  } catch (cause) {
    throw new SvcError("invalid_cursor", undefined, { cause, field: "cursor" });
  }
}

/**
 * One page of a namespace.
 *
 * @throws {SvcError} `invalid_cursor`.
 */
export async function listMemories(
  domain: Listing,
  caller: Caller,
  options: ListOptions,
): Promise<MemoryPage> {
  if (options.text) requireCredential(domain, caller);
  const scope = scopeOf(caller, options.namespace);
  const { id: end = "" } = options;
  const bound = `${scope.owner} ${options.order} ${options.namespace}${end && `\n${end}`}`;
  const after = options.cursor === undefined
    ? undefined
    : openCursor(domain, bound, options.cursor);
  const now = domain.now();
  const sign = options.order === "newest" ? -1 : 1;
  const compare = (time: number, id: string, time2: number, id2: string) =>
    sign * (time - time2 || (id < id2 ? -1 : id > id2 ? 1 : 0));
  const deleted = domain.tombstones.unappliedIn(scope);
  const isShown = ({ id, expiresAt = Infinity }: IndexedMemory) =>
    expiresAt > now && !deleted.has(id);
  const { present, unexpired, related } = await domain.index.read(scope, (loaded) => {
    const present = loaded.entries().filter(({ id }) => id.endsWith(end) && !deleted.has(id));
    const unexpired = present.filter(isShown);
    const { as_of: at = now } = options;
    const counts = countsAt(loaded, at, isShown, options.as_of !== undefined);
    // Of all of them: the page is cut out later, and another may be loaded by then.
    const related = new Map(unexpired.map((memory) => [memory.id, {
      counts: counts(memory),
      relations: relationsOf(loaded, memory, at, isShown),
    }]));
    return { present, unexpired, related };
  });
  if (unexpired.length < present.length) domain.expiry.purge(scope);
  const all = options.include === "history"
    ? unexpired
    : unexpired.filter(({ id }) => related.get(id)?.counts);
  const rest = after === undefined
    ? [...all]
    : all.filter((m) => compare(m.createdAt, m.id, after[0], after[1]) > 0);
  rest.sort((a, b) => compare(a.createdAt, a.id, b.createdAt, b.id));
  const asked = rest.slice(0, options.limit);
  const page = options.text ? asked.slice(0, countThatFits(asked)) : asked;
  const opened = options.text ? await openPage(domain, caller, scope, page) : [];
  const memories = page.flatMap((memory, i) => {
    const item = opened[i];
    if (item !== undefined && "deleted" in item) return [];
    if (domain.tombstones.isDeleted(scope, memory.id)) return [];
    const { relations } = related.get(memory.id)!;
    return [{ ...viewOf(domain, memory, item), relations }];
  });
  const last = page.at(-1);
  return {
    memories,
    total: all.length,
    history: unexpired.length - all.length,
    ...(last !== undefined && rest.length > page.length
      ? { nextCursor: sealCursor(domain, bound, last) }
      : {}),
  };
}

/** A memory and when each of its versions was accepted, newest first; none until it is indexed. */
interface MemoryHistory {
  readonly memory: MemoryView;
  readonly links?: readonly MemoryLink[];
  readonly versions: readonly Pick<MemoryVersion, "version" | "blobId" | "acceptedAt">[];
}

/**
 * One memory with its versions.
 *
 * @param version An earlier version to be shown instead of the present one.
 * @throws {SvcError} `memory_not_found`, also for another owner's and for an unknown version; why its
 * record cannot be opened.
 */
export async function getMemory(
  domain: Listing,
  caller: Caller,
  id: string,
  version?: number,
): Promise<MemoryHistory> {
  requireCredential(domain, caller);
  const [entry] = await entriesFor(domain, caller, [id]);
  const expired = entry?.expiresAt !== undefined && entry.expiresAt <= domain.now();
  if (entry === undefined || expired || domain.tombstones.isDeleted(entry, id)) {
    const memory = pendingMemory(domain, caller, id);
    if (version !== undefined) throw new SvcError("memory_not_found");
    return { memory, versions: [] };
  }
  const [opened] = await openVersion(domain, caller, entry, version ?? entry.version);
  if (opened === undefined || "deleted" in opened) throw new SvcError("memory_not_found");
  if ("error" in opened) throw opened.error;
  const relations = await presentRelations(domain, entry);
  const memory = { ...viewOf(domain, entry, opened), ...(relations && { relations }) };
  const { links } = entry.standing ?? {};
  const versions = versionsOf(domain, entry);
  if (version === undefined || version === entry.version) {
    return { memory, versions, ...(links === undefined ? {} : { links }) };
  }
  const { blobId } = versions.find((row) => row.version === version)!;
  const { links: then } = opened.record;
  const earlier = { ...memory, ...viewOfRecord(opened.record), blobId };
  return { memory: earlier, versions, ...(then === undefined ? {} : { links: then }) };
}

/** How a memory stands to others now; `undefined` where its namespace is too large to be looked at. */
async function presentRelations(
  domain: Listing,
  entry: IndexedMemory,
): Promise<RelationsView | undefined> {
  if (await domain.largeScopes.has(entry)) return undefined;
  const now = domain.now();
  const isShown = ({ id, expiresAt = Infinity }: IndexedMemory) =>
    expiresAt > now && !domain.tombstones.isDeleted(entry, id);
  return await domain.index.read(entry, (loaded) => relationsOf(loaded, entry, now, isShown));
}

/** What a replaced version says of itself. */
function viewOfRecord(record: MemoryRecord) {
  const time = (text: string | undefined) => text === undefined ? undefined : Date.parse(text);
  return {
    state: "done" as const,
    recallable: false,
    version: record.version,
    importance: record.importance,
    occurredAt: time(record.occurred_at),
    expiresAt: time(record.expires_at),
    updatedAt: Date.parse(record.updated_at),
  };
}

function pendingMemory(domain: Listing, caller: Caller, id: string): MemoryView {
  const live = domain.jobs.newestOf(caller.account.owner, id);
  if (live === undefined || live.cancelled || !isOpenTo(caller, live.job.namespace)) {
    throw new SvcError("memory_not_found");
  }
  const { job, blobId, state, recallable } = live;
  const { memoryId, namespace, version, importance, source, createdAt } = job;
  const { occurredAt, expiresAt, acceptedAt: updatedAt, standing } = job;
  const times = { occurredAt, expiresAt, createdAt, updatedAt };
  const known = { memoryId, namespace, version, importance, source, standing, ...times };
  return { ...known, blobId, state, recallable, bytes: 0 };
}
