import type { Uses } from "../parts.ts";
import type { SvcError } from "../../errors.ts";
import type { IndexedMemory, Match, ScopeQuery, SearchOptions } from "../../index/ranking.ts";
import type { Scope, Standing } from "../../interfaces/mod.ts";
import { type Caller, scopeOf } from "../caller.ts";
import { matchNearest, type SearchingLarge } from "./candidates.ts";
import type { RelationsView } from "../links/view.ts";
import { countThatFits, openPage, type ReadingPages } from "../large_reads.ts";
import { openMemories, requireCredential } from "../open.ts";
import type { MemoryRecord, Metadata } from "../record.ts";
import { Question } from "./answer_kinds.ts";
import { confidenceOf, type RecallMode } from "./confidence.ts";
import { inTheirPlace, mayComeUp, newestOfEach, withContradicting } from "./contradicting.ts";
import { worthReading } from "./newer_first.ts";
import { Narrowing, type NarrowingOptions } from "./narrowing.ts";
import { openSavedWords, type ReadingWords, readWords } from "./read_words.ts";

export type Searching = Uses<{
  index: "holds" | "read";
  largeScopes: "has";
  expiry: "purge";
}, ReadingWords & SearchingLarge>;

/** What is waited for before a search: jobs of the scope, and vectors of the present model. */
export type Settling = Uses<{
  worker: "expedite";
  jobs: "settle";
  reembedding: "hurry";
  config: "recallWaitMs";
}>;

export type Recalling =
  & Searching
  & Settling
  & ReadingPages
  & Uses<{ embedder: "closeness" | "aspects"; recentlyRecalled: "note" }>;

/** Weights of docs/protocol.md#10.6. */
export interface ScoringWeights {
  readonly semantic: number;
  /** Weight of 2^(−age / half-life). */
  readonly recency: number;
  /** Days after which the recency is halved. */
  readonly recencyHalfLifeDays: number;
  readonly importance: number;
}

/** What narrows and orders a recall. Times are milliseconds since the epoch. */
export interface RecallOptions extends Omit<NarrowingOptions, "accept"> {
  readonly namespace: string;
  readonly limit: number;
  /** Hybrid when absent. */
  readonly mode?: RecallMode | undefined;
  /** Keep hits with a smaller distance. */
  readonly maxDistance?: number | undefined;
  /** Keep hits with at least this score. */
  readonly minScore?: number | undefined;
  /** Keep hits with at least this confidence, and those without one. */
  readonly minConfidence?: number | undefined;
  /** Replaces the order by relevance. */
  readonly weights?: ScoringWeights | undefined;
}

/** A recalled memory. Times are RFC 3339, as its record has them. */
export interface Hit {
  readonly memoryId: string;
  readonly blobId: string | undefined;
  readonly namespace: string;
  readonly text: string;
  /** Cosine distance, 0 to 2. */
  readonly distance: number;
  /** What hits are ordered by. */
  readonly score: number;
  /** Probability that it answers the query, 0 to 1; absent where nobody measured the embedder. */
  readonly confidence: number | undefined;
  readonly createdAt: string;
  readonly occurredAt: string | undefined;
  /** 0 to 1. */
  readonly importance: number;
  readonly metadata: Metadata | undefined;
  readonly standing: Standing | undefined;
  /** What it is about. */
  readonly key: string | undefined;
  /** Where it was said, as its record has it. */
  readonly session: string | undefined;
  readonly position: number | undefined;
  /** Public key that signed for it, where that is known. */
  readonly writtenBy: string | undefined;
  readonly relations: RelationsView | undefined;
}

interface Recalled {
  /** Hits, best first. */
  readonly results: readonly Hit[];
  /** Hits that could not be opened. */
  readonly dropped: number;
  /**
   * The caller's jobs of the scope that were not recallable in time, and memories that wait to be
   * embedded by the present model.
   */
  readonly pending: number;
  /** Whether hits were left out because the answer would have become too large. */
  readonly truncated: boolean;
}

const DAY_MS = 86_400_000;
/** Weights are computed over at least this many candidates. */
const POOL = 200;

interface Scored extends Match {
  /** Relevance, 0 to 1, or the weighted sum. */
  readonly score: number;
  /** Relevance, not cut off at 1. */
  readonly relevance: number;
  /**
   * What candidates are ordered by: the score, its relevance not cut off at 1, and without weights
   * what the neighbours of a memory say for it.
   */
  readonly rank: number;
  /** How it stands to others; absent where that is not known. */
  readonly relations?: RelationsView;
}

interface Found extends Match {
  readonly relations?: RelationsView;
}

function scored(match: Found, weights: ScoringWeights | undefined, now: number): Scored {
  const relevance = Math.min(1, Math.max(0, match.score));
  if (weights === undefined || (weights.recency === 0 && weights.importance === 0)) {
    const rank = match.score + (match.evidence ?? 0);
    return { ...match, score: relevance, relevance: match.score, rank };
  }
  const score = weightedScore(match, relevance, weights, now);
  // Strong hits, whose relevance is answered as 1, do not tie.
  const rank = weightedScore(match, Math.max(0, match.score), weights, now);
  return { ...match, score, relevance: match.score, rank };
}

function weightedScore(
  hit: Match,
  relevance: number,
  weights: ScoringWeights,
  now: number,
): number {
  const { occurredAt, createdAt } = hit.entry;
  const age = Math.max(0, now - (occurredAt ?? createdAt)) / DAY_MS;
  return weights.semantic * relevance +
    weights.recency * 2 ** (-age / weights.recencyHalfLifeDays) +
    weights.importance * hit.entry.importance;
}

function order(a: Scored, b: Scored): number {
  return b.rank - a.rank || b.entry.createdAt - a.entry.createdAt ||
    (a.entry.id < b.entry.id ? -1 : 1);
}

/**
 * Best candidates of a scope; tombstones, expiry and filters are respected.
 *
 * @throws {SvcError} why the texts of the scope cannot be read for this caller, where the query has
 * a text.
 */
export async function rank(
  domain: Searching,
  caller: Caller,
  query: ScopeQuery,
  options: RecallOptions & NarrowingOptions,
): Promise<Scored[]> {
  const scope = scopeOf(caller, options.namespace);
  const now = domain.now();
  const { weights, maxDistance } = options;
  const isDeleted = ({ id }: IndexedMemory): boolean => domain.tombstones.isDeleted(scope, id);
  const narrowing = new Narrowing(options, now, isDeleted);
  const search = {
    limit: weights === undefined ? options.limit : Math.max(POOL, 5 * options.limit),
    accept: narrowing.accept,
    ...(maxDistance === undefined ? {} : { maxDistance }),
    minScore: options.minScore,
    inContext: weights === undefined,
  } satisfies SearchOptions;
  if (await domain.largeScopes.has(scope)) {
    const asked = { ...search, accept: narrowing.acceptKept, narrowing };
    return best(await matchNearest(domain, caller, scope, query, asked), options, now);
  }
  // The words are opened while the scope is loaded.
  const isCold = query.text !== undefined && !domain.index.holds(scope);
  let opening = isCold ? openSavedWords(domain, caller, scope) : undefined;
  opening?.catch(() => {});
  const hits = await domain.index.read(scope, async (loaded) => {
    const opened = opening;
    // The scope takes the bytes over: a second run, after the scope was dropped, opens them again.
    opening = undefined;
    if (query.text !== undefined) await readWords(domain, caller, loaded, opened);
    const match = (accept: typeof narrowing.accept): Found[] =>
      loaded.match(query, { ...search, accept: narrowing.counting(loaded, accept) })
        .map((hit) => ({ ...hit, relations: narrowing.relationsOf(loaded, hit.entry) }));
    const found = match(narrowing.accept);
    // Rows of a deletion that is not finished must not take the places of others.
    return found.some(({ entry }) => isDeleted(entry)) ? match(narrowing.acceptKept) : found;
  });
  if (narrowing.expired) domain.expiry.purge(scope);
  return best(hits, options, now);
}

/** Scored, ordered and cut to the limit. */
function best(hits: readonly Found[], options: RecallOptions, now: number): Scored[] {
  const { weights } = options;
  return hits
    .map((hit) => scored(hit, weights, now))
    .filter((hit) => hit.score >= (options.minScore ?? -Infinity))
    .sort(order)
    .slice(0, options.limit);
}

/** Tells the confidence of hits by their texts. */
type Rating = (hit: Scored, text: string) => number | undefined;

function ratingOf(
  { embedder }: Recalling,
  query: string,
  mode: RecallMode,
  known: number | undefined,
  hits: readonly Scored[],
): Rating {
  const { closeness } = embedder;
  if (mode !== "keyword" && closeness === undefined) return () => undefined;
  const best = hits.reduce((most, hit) => Math.max(most, hit.relevance), -Infinity);
  const question = new Question(query);
  return ({ distance, relevance, coverage, among }, text) =>
    confidenceOf(mode, {
      question,
      text,
      closeness: mode === "keyword" ? 0 : 1 - distance - (closeness ?? 0),
      known: known ?? 1,
      coverage,
      behind: best - relevance,
      among,
    });
}

function toHit(scored: Scored, record: MemoryRecord, rating: Rating): Hit {
  const { entry, distance, score, relations } = scored;
  return {
    memoryId: entry.id,
    blobId: entry.blobId,
    namespace: entry.namespace,
    text: record.text,
    distance,
    score,
    confidence: rating(scored, record.text),
    createdAt: record.created_at,
    occurredAt: record.occurred_at,
    importance: entry.importance,
    metadata: record.metadata,
    standing: entry.standing,
    key: record.key,
    session: record.session,
    position: record.position,
    writtenBy: record.written_by,
    relations,
  };
}

/**
 * Opens any one memory, where a recall that finds nothing would otherwise answer a caller whose
 * credential is refused: that a word is not there is what the credential protects, too.
 */
async function proveCredential(domain: Searching, caller: Caller, scope: Scope): Promise<void> {
  const memory = await domain.index.read(
    scope,
    (loaded) => loaded.entries().find(({ source }) => source !== "manual"),
  );
  if (memory !== undefined) await openMemories(domain, caller, scope, [memory]);
}

/**
 * Waits for the caller's own jobs of a scope, and for memories whose vectors are of another model.
 *
 * @returns how many are left when the time is over.
 */
export async function settle(domain: Settling, caller: Caller, scope: Scope): Promise<number> {
  const { worker, jobs, reembedding, config: { recallWaitMs } } = domain;
  worker.expedite(scope);
  const [unfinished, outdated] = await Promise.all([
    jobs.settle(scope, recallWaitMs),
    reembedding.hurry(scope, caller, recallWaitMs),
  ]);
  return unfinished + outdated;
}

/**
 * Finds memories by meaning and by their words. It first waits for the caller's own pending jobs of
 * the scope, and for memories that have vectors of another model than the query's.
 *
 * @throws {SvcError} `embedding_unavailable`; `decrypt_credential_required` or
 * `decrypt_credential_invalid`; `key_service_unavailable` or `storage_unavailable`
 * when every hit was dropped for a temporary reason.
 */
export async function recall(
  domain: Recalling,
  caller: Caller,
  query: string,
  options: RecallOptions,
): Promise<Recalled> {
  requireCredential(domain, caller);
  if (options.limit === 0) return { results: [], dropped: 0, pending: 0, truncated: false };
  const scope = scopeOf(caller, options.namespace);
  const { mode = "hybrid" } = options;
  const [pending, embedding] = await Promise.all([
    settle(domain, caller, scope),
    mode === "keyword" ? undefined : domain.queries.get(query, caller.signal, scope.owner),
  ]);
  const asked: ScopeQuery = { ...embedding, ...(mode === "semantic" ? {} : { text: query }) };
  // Manual memories hold no text the relayer could open.
  const isText = (memory: IndexedMemory): boolean => memory.source !== "manual";
  const search = (limit: number, accept: (memory: IndexedMemory) => boolean) =>
    rank(domain, caller, asked, { ...options, limit, accept });
  const byTime = ordersByTime(options);
  const ranked = await search(options.limit + (byTime ? AROUND : 0), isText);
  const compared = ranked.map(({ relevance, distance }) => ({
    rank: relevance,
    cosine: 1 - distance,
  }));
  const { aspects } = domain.embedder;
  const worth = ranked.slice(0, worthReading(compared, options.limit, aspects !== undefined));
  const best = byTime
    ? await withContradicting(
      ranked,
      worth,
      options.limit,
      (ids) => search(ids.size, (memory) => isText(memory) && ids.has(memory.id)),
    )
    : worth;
  if (best.length === 0 && domain.cipher.needsCredential) {
    await proveCredential(domain, caller, scope);
  }
  const entries = best.map((hit) => hit.entry);
  const fitting = best.slice(0, countThatFits(entries));
  const { opened, errors } = await openHits(domain, caller, scope, fitting, options.limit);
  const rating = ratingOf(domain, query, mode, embedding?.known, best);
  const ordered = byTime
    ? newestOfEach({ text: query, known: 1, ...embedding, aspects }, opened)
    : opened;
  const found = ordered.slice(0, options.limit)
    .map(({ scored, record }) => toHit(scored, record, rating));
  const [first] = errors;
  if (found.length === 0 && first !== undefined && errors.every((error) => error.retryable)) {
    throw first;
  }
  const truncated = fitting.length < Math.min(best.length, options.limit);
  const { minConfidence = 0 } = options;
  const results = inTheirPlace(found, best).filter(({ confidence = 1 }) =>
    confidence >= minConfidence
  );
  const ids = results.map(({ memoryId }) => memoryId);
  domain.recentlyRecalled.note(scope, caller.key?.publicKey, ids);
  return { results, dropped: errors.length, pending, truncated };
}

/** Hits beyond the limit among which a newer statement of one that is answered may be. */
const AROUND = 10;

/** Whether hits are ordered by what they say: where the caller weighs, or asks for less, they are not. */
function ordersByTime({ mode = "hybrid", weights, history = false }: RecallOptions): boolean {
  return mode === "hybrid" && weights === undefined && !history;
}

/** A hit and its record. */
interface OpenedHit {
  readonly scored: Scored;
  readonly record: MemoryRecord;
}

/**
 * Opens hits, best first; those that cannot be opened are left out. Beyond those that are answered only
 * the ones that may come up, unless some of the others cannot be opened.
 */
async function openHits(
  domain: Recalling,
  caller: Caller,
  scope: Scope,
  all: readonly Scored[],
  answered: number,
): Promise<{ readonly opened: readonly OpenedHit[]; readonly errors: readonly SvcError[] }> {
  const hits = mayComeUp(all, answered);
  const items = await openPage(domain, caller, scope, hits.map((hit) => hit.entry));
  const opened: OpenedHit[] = [];
  const errors: SvcError[] = [];
  for (const [i, scored] of hits.entries()) {
    const item = items[i];
    if (item === undefined || "deleted" in item) continue;
    if ("error" in item) errors.push(item.error);
    else opened.push({ scored, record: item.record });
  }
  const isWhole = hits.length === all.length || opened.length >= answered;
  return isWhole ? { opened, errors } : await openHits(domain, caller, scope, all, all.length);
}
