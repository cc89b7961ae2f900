import type { Uses } from "../parts.ts";
import { type ErrorCode, SvcError } from "../../errors.ts";
import type { IndexedMemory } from "../../index/ranking.ts";
import { isNewer, isOfVersion } from "../../index/relations.ts";
import type { IndexEntry, MemoryLink } from "../../interfaces/mod.ts";
import type { LiveJob } from "../../jobs/job.ts";
import { type Caller, scopeOf } from "../caller.ts";
import { countThatFits, openPage } from "../large_reads.ts";
import { type Listing, type MemoryView, openCursor, sealCursor, viewOf } from "../list.ts";
import { entriesFor, type Opened, requireCredential } from "../open.ts";
import { type Answering, type Change, replaceMemory, type Replacing } from "../versions/replace.ts";
import { checkSuperseded } from "./superseded.ts";
import { relationsOf } from "./view.ts";

/** Why a memory is to be looked at. */
export type ReviewReason = "conflict" | "superseded" | "folded" | "untrusted";

/** A link that a rule made, with what the other memory says. */
interface ReviewedLink extends MemoryLink {
  readonly text?: string;
  /** Why there is no text. */
  readonly textError?: ErrorCode;
}

/** A memory that somebody should look at, and why. */
interface ReviewItem {
  readonly memory: MemoryView;
  readonly reasons: readonly ReviewReason[];
  readonly links: readonly ReviewedLink[];
}

interface ReviewPage {
  /** Newest first. */
  readonly items: readonly ReviewItem[];
  readonly total: number;
  /** Where the next page starts. */
  readonly nextCursor?: string;
}

/** Whether a link was made by a rule, and nobody has looked at it. */
function isOpen({ by, kind }: MemoryLink): boolean {
  return by !== "caller" && kind !== "distinct";
}

/** Whether a memory came from somewhere that anybody may have written. */
function isUntrusted({ standing }: Pick<IndexedMemory, "standing">): boolean {
  return standing?.trust === "web" || standing?.trust === "import";
}

const REASONS = { conflicts: "conflict", supersedes: "superseded", restates: "folded" } as const;

function reasonsOf(memory: IndexedMemory, links: readonly MemoryLink[]): ReviewReason[] {
  const reasons = new Set<ReviewReason>();
  for (const { kind } of links) if (kind !== "distinct") reasons.add(REASONS[kind]);
  if (isUntrusted(memory)) reasons.add("untrusted");
  return [...reasons];
}

/** What is listed, before anything is opened. */
interface Found {
  readonly memory: IndexedMemory;
  readonly reasons: readonly ReviewReason[];
  readonly links: readonly MemoryLink[];
  /** The memories that the links name. */
  readonly others: readonly IndexedMemory[];
  readonly relations: ReturnType<typeof relationsOf>;
}

interface ReviewOptions {
  readonly namespace: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Only what is listed for this one. */
  readonly reason?: ReviewReason | undefined;
}

/**
 * What rules found in a namespace, and what came from elsewhere, as long as nobody has accepted or
 * undone it.
 *
 * @throws {SvcError} `invalid_cursor`; what opening memories throws.
 */
export async function listReview(
  domain: Listing,
  caller: Caller,
  options: ReviewOptions,
): Promise<ReviewPage> {
  requireCredential(domain, caller);
  const { namespace, limit, cursor, reason = "" } = options;
  const scope = scopeOf(caller, namespace);
  const bound = `review ${scope.owner} ${reason} ${namespace}`;
  const [time, id] = cursor === undefined ? [Infinity, ""] : openCursor(domain, bound, cursor);
  const found = await toReview(domain, caller, options);
  const rest = found.filter(({ memory: { createdAt, id: other } }) =>
    createdAt < time || (createdAt === time && other < id)
  );
  const asked = rest.slice(0, limit);
  const sizes = asked.map(({ memory, others }) => ({
    bytes: others.reduce((sum, other) => sum + other.bytes, memory.bytes),
  }));
  const page = asked.slice(0, countThatFits(sizes));
  const memories = page.flatMap(({ memory, others }) => [memory, ...others]);
  const unique = [...new Map(memories.map((memory) => [memory.id, memory])).values()];
  const items = await openPage(domain, caller, scope, unique);
  const opened = new Map(unique.map((memory, i) => [memory.id, items[i]]));
  const last = page.at(-1);
  return {
    items: page.flatMap((item) => itemOf(domain, item, opened)),
    total: found.length,
    ...(last !== undefined && rest.length > page.length
      ? { nextCursor: sealCursor(domain, bound, last.memory) }
      : {}),
  };
}

/** Everything to review in a namespace, newest first. */
async function toReview(
  domain: Listing,
  caller: Caller,
  { namespace, reason }: ReviewOptions,
): Promise<Found[]> {
  const scope = scopeOf(caller, namespace);
  const now = domain.now();
  const deleted = domain.tombstones.unappliedIn(scope);
  const isShown = ({ id, expiresAt = Infinity }: IndexedMemory) =>
    expiresAt > now && !deleted.has(id);
  const found = await domain.index.read(
    scope,
    (loaded) =>
      loaded.entries().filter(isShown).flatMap((memory): Found[] => {
        const { links = [] } = memory.standing ?? {};
        if (links.length === 0 && !isUntrusted(memory)) return [];
        const tied = links.filter(isOpen).flatMap((link) => {
          const other = loaded.get(link.id);
          const isInForce = other !== undefined && isShown(other) && isOfVersion(link, other);
          return isInForce ? [{ link, other }] : [];
        });
        const open = tied.map(({ link }) => link);
        const reasons = reasonsOf(memory, open);
        if (reasons.length === 0 || (reason !== undefined && !reasons.includes(reason))) return [];
        const relations = relationsOf(loaded, memory, now, isShown);
        return [{
          memory,
          reasons,
          links: open,
          others: tied.map(({ other }) => other),
          relations,
        }];
      }),
  );
  return found.sort(({ memory: a }, { memory: b }) =>
    b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)
  );
}

function itemOf(
  domain: Listing,
  { memory, reasons, links, relations }: Found,
  opened: ReadonlyMap<string, Opened | undefined>,
): ReviewItem[] {
  const own = opened.get(memory.id);
  if (own === undefined || "deleted" in own) return [];
  return [{
    memory: { ...viewOf(domain, memory, own), relations },
    reasons,
    links: links.map((link) => {
      const other = opened.get(link.id);
      if (other === undefined || "deleted" in other) return link;
      if ("error" in other) return { ...link, textError: other.error.code };
      return { ...link, text: other.record.text };
    }),
  }];
}

/** What somebody who has looked at it says. */
export interface Decision {
  readonly id: string;
  readonly decision: "accept" | "undo";
  /** Only what ties it to this memory; all that rules found when absent. */
  readonly otherId?: string | undefined;
}

type Deciding = Replacing & Uses<{ index: "read" }>;

/**
 * Accepts or undoes what rules found about a memory, by a new version of it that says so. What is
 * accepted is as if its writer had said it: a contradiction becomes a memory that takes the other one's
 * place, if it is the newer one. What is undone is not found again.
 *
 * @param answering makes the answer of the accepted job, which is kept in the same commit.
 * @throws {SvcError} `memory_not_found`; `invalid_parameter` where there is nothing to decide;
 * `version_conflict`; what replacing a memory throws.
 */
export async function decide<A>(
  domain: Deciding,
  caller: Caller,
  given: Decision,
  answering: Answering<A>,
): Promise<{ readonly answer: A; readonly live: LiveJob }> {
  requireCredential(domain, caller);
  const { id, otherId } = given;
  const entry = await presentEntry(domain, caller, id);
  const decided = await decidedOn(domain, caller, entry, given);
  if (decided !== undefined) {
    return await replaceMemory(domain, caller, id, decided, answering);
  }
  // Either of the two may be named first.
  const other = otherId === undefined
    ? undefined
    : await presentEntry(domain, caller, otherId).catch(() => undefined);
  const turned = other &&
    await decidedOn(domain, caller, other, { ...given, id: other.id, otherId: id });
  if (other === undefined || turned === undefined) {
    throw new SvcError("invalid_parameter", "There is nothing to decide", { field: "memory_id" });
  }
  return await replaceMemory(domain, caller, other.id, turned, answering);
}

/** A memory that is there. */
async function presentEntry(domain: Deciding, caller: Caller, id: string): Promise<IndexEntry> {
  const [entry] = await entriesFor(domain, caller, [id]);
  const { expiresAt = Infinity } = entry ?? {};
  if (
    entry === undefined || expiresAt <= domain.now() || domain.tombstones.isDeleted(entry, id)
  ) throw new SvcError("memory_not_found");
  return entry;
}

/** The change that says what was decided; `undefined` where there is nothing to decide. */
async function decidedOn(
  domain: Deciding,
  caller: Caller,
  entry: IndexEntry,
  { decision, otherId }: Decision,
): Promise<Change | undefined> {
  const { links = [] } = entry.standing ?? {};
  const isMeant = (link: MemoryLink): boolean => {
    if (otherId !== undefined && link.id !== otherId) return false;
    // What was accepted can be undone, too, where it is named.
    return isOpen(link) ||
      (decision === "undo" && otherId !== undefined && link.kind !== "distinct");
  };
  const meant = await inForce(domain, caller, links.filter(isMeant));
  const vouches = decision === "accept" && otherId === undefined && isUntrusted(entry);
  if (meant.length === 0 && !vouches) return undefined;
  const ids = new Set(meant.map(({ link }) => link.id));
  const decided = meant.map(({ link, other }) =>
    decision === "undo" ? saidOf(link.id, "distinct") : accepted(entry, link, other)
  );
  await checkSuperseded(domain, caller, entry.namespace, decided, entry.id);
  return {
    fromVersion: entry.version,
    expectedVersion: entry.version,
    links: [...links.filter((link) => !ids.has(link.id)), ...decided],
    ...(vouches ? { trust: "user" as const } : {}),
  };
}

/** Links to memories that are there and still say what was looked at. */
async function inForce(domain: Deciding, caller: Caller, links: readonly MemoryLink[]) {
  const others = await entriesFor(domain, caller, links.map(({ id }) => id));
  return links.flatMap((link) => {
    const other = others.find(({ id }) => id === link.id);
    if (other === undefined || domain.tombstones.isDeleted(other, other.id)) return [];
    return isOfVersion(link, other) ? [{ link, other }] : [];
  });
}

function saidOf(id: string, kind: MemoryLink["kind"]): MemoryLink {
  return { id, kind, by: "caller", score: 1 };
}

/** A link as if the writer had made it. */
function accepted(
  entry: IndexEntry,
  { id, kind, version }: MemoryLink,
  other: IndexEntry,
): MemoryLink {
  if (kind === "conflicts" && isNewer(entry, other)) return saidOf(id, "supersedes");
  if (kind === "supersedes" || version === undefined) return saidOf(id, kind);
  return { ...saidOf(id, kind), version };
}
