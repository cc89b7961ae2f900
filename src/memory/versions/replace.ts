import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { IndexEntry, MemoryLink, Scope, Source, Trust } from "../../interfaces/mod.ts";
import type { AcceptedJob, LiveJob, WrittenStanding } from "../../jobs/job.ts";
import type { Kept } from "../../jobs/replay.ts";
import { type Caller, scopeOf } from "../caller.ts";
import { type Opening, requireCredential } from "../open.ts";
import type { SecretsRule } from "../../interfaces/config.ts";
import type { Metadata } from "../record.ts";
import type { Redacted } from "../secrets.ts";
import { accept, type Accepting } from "../remember.ts";
import { textPayload } from "../waiting/job_contents.ts";
import { standingOfRecord, supersedesLinks, writtenStanding } from "../standing.ts";
import { checkSuperseded } from "../links/superseded.ts";
import { openVersion } from "./history.ts";
import { newestOf, type SeeingNewest } from "./newest.ts";

export type Replacing = Uses<{
  sameText: true;
  contents: "payload";
  tombstones: "isDeleted";
  versions: "latest" | "reserve" | "has" | "of";
  now: true;
}, Accepting & Opening & SeeingNewest>;

/** What a version says; times in milliseconds since the epoch. */
interface Content {
  readonly text: string;
  readonly metadata?: Metadata | undefined;
  readonly importance: number;
  readonly occurredAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  /** What it is about. */
  readonly key?: string | undefined;
  /** Where it was said, whatever becomes of its text. */
  readonly session?: string | undefined;
  readonly position?: number | undefined;
  readonly standing?: WrittenStanding | undefined;
}

/** A change of a memory: what is absent stays as it is, and null takes a value away. */
export interface Change {
  readonly text?: string | undefined;
  readonly metadata?: Metadata | null | undefined;
  readonly importance?: number | undefined;
  readonly occurredAt?: number | null | undefined;
  readonly expiresAt?: number | null | undefined;
  readonly validFrom?: number | null | undefined;
  readonly validTo?: number | null | undefined;
  /** Memories whose place it takes. */
  readonly supersedes?: readonly string[] | null | undefined;
  readonly key?: string | null | undefined;
  readonly trust?: Trust | undefined;
  /** All links of the new version, whatever the present one has. */
  readonly links?: readonly MemoryLink[] | undefined;
  /** An earlier version that the new one is to be a copy of, but for the other members. */
  readonly fromVersion?: number | undefined;
  /** What is asked for about secrets; the relayer's setting when absent. */
  readonly secrets?: SecretsRule | undefined;
  /** Refuses the change when the newest version is another one. */
  readonly expectedVersion?: number | undefined;
}

/** The newest version of a memory, accepted or indexed, and what it says. */
interface Replaced {
  readonly scope: Scope;
  readonly version: number;
  /** The highest number that was taken; one that was never written is no version. */
  readonly taken: number;
  readonly createdAt: number;
  readonly source: Source;
  readonly content: Content;
}

/** Makes the answer of the accepted job. */
export type Answering<A> = (job: AcceptedJob, redacted: readonly Redacted[] | undefined) => Kept<A>;

/** Tries against changes of others that come between reading and accepting. */
const TRIES = 10;

/**
 * Accepts a new version of a memory, which is recalled instead of the one before as soon as it is
 * recallable itself.
 *
 * @param answering makes the answer of the accepted job, which is kept in the same commit.
 * @throws {SvcError} `memory_not_found`, also for another owner's; `version_conflict`;
 * `invalid_parameter` for a memory that its app encrypted; what opening the present version, or
 * accepting, throws.
 */
export async function replaceMemory<A>(
  domain: Replacing,
  caller: Caller,
  id: string,
  change: Change,
  answering: Answering<A>,
): Promise<{ readonly answer: A; readonly live: LiveJob }> {
  requireCredential(domain, caller);
  for (let tried = 0; tried < TRIES; tried++) {
    try {
      const newest = await newestVersion(domain, caller, id, change.fromVersion);
      const { expectedVersion = newest.version } = change;
      if (expectedVersion !== newest.version) break;
      return await acceptVersion(domain, caller, newest, { id, change, answering });
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
    }
  }
  throw new SvcError("version_conflict");
}

/** Something came between reading the newest version and accepting the next one. */
class Overtaken extends Error {}

interface Asked<A> {
  readonly id: string;
  readonly change: Change;
  readonly answering: Answering<A>;
}

async function acceptVersion<A>(
  domain: Replacing,
  caller: Caller,
  { scope, version, taken, createdAt, source, content }: Replaced,
  { id, change, answering }: Asked<A>,
): Promise<{ readonly answer: A; readonly live: LiveJob }> {
  const { text, metadata, key, session, position, ...rest } = changed(content, change);
  if (change.supersedes) {
    const links = supersedesLinks(change.supersedes);
    await checkSuperseded(domain, caller, scope.namespace, links, id);
  }
  const { answer, jobs: [live] } = await accept(domain, caller, source, [{
    namespace: scope.namespace,
    payload: textPayload({ text, metadata, key, session, position }),
    ...rest,
    secrets: change.secrets,
    replaces: (jobId, acceptedAt) => {
      if (domain.tombstones.isDeleted(scope, id)) throw new SvcError("memory_not_found");
      if (domain.versions.latest(scope, id) > taken) throw new Overtaken();
      const given = domain.versions.reserve(scope, id, version, jobId, acceptedAt);
      return { memoryId: id, version: given, createdAt, source };
    },
  }], ([job], redacted) => answering(job!, redacted));
  return { answer, live: live! };
}

function changed(content: Content, change: Change): Content {
  const kept = <T>(given: T | null | undefined, present: T): T | undefined =>
    given === undefined ? present : given ?? undefined;
  return {
    text: change.text ?? content.text,
    metadata: kept(change.metadata, content.metadata),
    importance: change.importance ?? content.importance,
    occurredAt: kept(change.occurredAt, content.occurredAt),
    expiresAt: kept(change.expiresAt, content.expiresAt),
    key: kept(change.key, content.key),
    session: content.session,
    position: content.position,
    standing: writtenStanding({
      valid_from: kept(change.validFrom, content.standing?.validFrom),
      valid_to: kept(change.validTo, content.standing?.validTo),
      trust: change.trust ?? content.standing?.trust,
    }, changedLinks(content, change)),
  };
}

/** Links of the new version: those that were found belong to the text that they were found for. */
function changedLinks(
  content: Content,
  { text, supersedes, links: all }: Change,
): readonly MemoryLink[] {
  if (all !== undefined) return all;
  const { links = [] } = content.standing ?? {};
  const given = ({ kind, by }: MemoryLink) =>
    by === "caller" && (kind === "supersedes" || kind === "distinct");
  const found = text === undefined ? links.filter((link) => !given(link)) : [];
  const isDistinct = ({ kind }: MemoryLink) => kind === "distinct";
  // Whoever says what it takes the place of has looked at all of it.
  if (supersedes !== undefined) {
    return [...links.filter(isDistinct), ...supersedesLinks(supersedes ?? [])];
  }
  return [...links.filter(given), ...found];
}

async function newestVersion(
  domain: Replacing,
  caller: Caller,
  id: string,
  from: number | undefined,
): Promise<Replaced> {
  const { entry, live, version, taken } = await newestOf(domain, caller, id);
  const job = live?.job ?? entry;
  if (job === undefined) throw new SvcError("memory_not_found");
  const scope = scopeOf(caller, job.namespace);
  const { createdAt, source, expiresAt = Infinity } = job;
  if (expiresAt <= domain.now() || domain.tombstones.isDeleted(scope, id)) {
    throw new SvcError("memory_not_found");
  }
  if (source === "manual") {
    const message = "The app that encrypted this memory replaces it by saving a new one";
    throw new SvcError("invalid_parameter", message);
  }
  const indexed = entry?.version ?? 0;
  const known = { scope, version, taken, createdAt, source };
  if (from === undefined && live !== undefined) {
    return { ...known, content: await waitingContent(domain, live) };
  }
  if (entry === undefined) throw new SvcError("memory_not_found");
  return { ...known, content: await storedContent(domain, caller, entry, from ?? indexed) };
}

/** What a version says that is indexed, or was. */
async function storedContent(
  domain: Replacing,
  caller: Caller,
  entry: IndexEntry,
  version: number,
): Promise<Content> {
  const [opened] = await openVersion(domain, caller, entry, version);
  if (opened === undefined) {
    throw new SvcError("invalid_parameter", "There is no such version", { field: "from_version" });
  }
  if ("deleted" in opened) throw new SvcError("memory_not_found");
  if ("error" in opened) throw opened.error;
  const { text, metadata, importance, occurred_at, expires_at } = opened.record;
  const { key, session, position } = opened.record;
  const { validFrom, validTo, trust } = standingOfRecord(domain, entry, opened.record);
  const expiresAt = expires_at === undefined ? Infinity : Date.parse(expires_at);
  return {
    text,
    metadata,
    importance,
    occurredAt: occurred_at === undefined ? undefined : Date.parse(occurred_at),
    // What an earlier version said may be over by now.
    expiresAt: expiresAt > domain.now() && expiresAt < Infinity ? expiresAt : undefined,
    key,
    session,
    position,
    standing: writtenStanding(
      { valid_from: validFrom, valid_to: validTo, trust },
      opened.record.links,
    ),
  };
}

/** What an unfinished job is going to write. */
async function waitingContent(domain: Replacing, live: LiveJob): Promise<Content> {
  const payload = await domain.contents.payload(live).catch((error) => {
    // It has ended meanwhile: its version is read from the store.
    throw live.ending === undefined ? error : new Overtaken();
  });
  if (payload.kind !== "text") throw new SvcError("internal_error");
  const { kind: _, links: imported = [], ...said } = payload;
  const { importance, occurredAt, expiresAt, standing } = live.job;
  const links = [...standing?.links ?? [], ...imported];
  const written = links.length === 0 ? standing : { ...standing, links };
  return { ...said, importance, occurredAt, expiresAt, standing: written };
}
