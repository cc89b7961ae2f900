import type { Match } from "../../index/ranking.ts";
import { startOf } from "../../index/relations.ts";
import type { RelationsView } from "../links/view.ts";
import { type Asked, newerFirst } from "./newer_first.ts";

/** A match, and how it stands to others where that is known. */
interface Related extends Match {
  readonly relations?: RelationsView;
}

/** Whether it was found, or said, that memories contradict each other, or that they do not. */
function isKnownConflict(newer: Related, older: Related): boolean | undefined {
  const sets = ({ entry }: Related, { entry: { id } }: Related) =>
    entry.standing?.links?.some((link) => link.kind === "distinct" && link.id === id) ?? false;
  if (sets(newer, older) || sets(older, newer)) return false;
  return newer.relations?.conflictsWith?.includes(older.entry.id) === true ? true : undefined;
}

/** Most memories that are read besides: a measurement that is noted daily contradicts many. */
const MOST = 10;

/** Of memories that contradict one the newest, as far as their ids tell. */
function newestOf({ conflictsWith = [] }: RelationsView = {}): string[] {
  return conflictsWith.length === 0 ? [] : [conflictsWith.reduce((a, b) => a > b ? a : b)];
}

/**
 * Hits with the newest memories that are known to contradict those that are answered, however
 * little they look like the query: the newer of two is the answer, and has to be read to be one.
 *
 * @param ranked All that was found, best first.
 * @param worth The first of them, which are read anyway.
 * @param answered How many are answered.
 * @param search Finds memories by their ids.
 */
export async function withContradicting<T extends Related>(
  ranked: readonly T[],
  worth: readonly T[],
  answered: number,
  search: (ids: ReadonlySet<string>) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const read = new Set(worth.map(({ entry }) => entry.id));
  const named = worth.slice(0, answered).flatMap(({ relations }) => newestOf(relations));
  const wanted = new Set([...new Set(named).difference(read)].slice(0, MOST));
  if (wanted.size === 0) return worth;
  const behind = ranked.filter(({ entry }) => wanted.has(entry.id));
  const missing = wanted.difference(new Set(behind.map(({ entry }) => entry.id)));
  return [...worth, ...behind, ...missing.size === 0 ? [] : await search(missing)];
}

/**
 * The hits that are answered as they stand, and those behind that are newer than one before them: no
 * other takes a place, and what is accepted at once has one time.
 *
 * @param answered How many are answered.
 */
export function mayComeUp<T extends Related>(hits: readonly T[], answered: number): T[] {
  let oldest = Infinity;
  return hits.filter(({ entry }, i) => {
    const start = startOf(entry);
    const isNewer = start > oldest;
    oldest = Math.min(oldest, start);
    return i < answered || isNewer;
  });
}

/** A match that was opened. */
interface Opened {
  readonly scored: Related & { readonly relevance: number };
  readonly record: { readonly text: string };
}

/** Puts newer statements before older ones about the same thing, and notes that they differ. */
export function newestOfEach<T extends Opened>(asked: Asked, hits: readonly T[]): T[] {
  const { order, conflicts } = newerFirst(
    asked,
    hits.map(({ scored, record }) => ({
      text: record.text,
      rank: scored.relevance,
      cosine: 1 - scored.distance,
      vector: scored.vector,
      start: startOf(scored.entry),
    })),
    (newer, older) => isKnownConflict(hits[newer]!.scored, hits[older]!.scored),
  );
  const others = new Map<number, Set<string>>();
  for (const [newer, older] of conflicts) {
    for (const [one, other] of [[newer, older], [older, newer]] as const) {
      others.getOrInsertComputed(one, () => new Set()).add(hits[other]!.scored.entry.id);
    }
  }
  return order.map((at) => {
    const hit = hits[at]!;
    const { relations = {} } = hit.scored;
    const ids = new Set([...relations.conflictsWith ?? [], ...others.get(at) ?? []]);
    if (ids.size === 0) return hit;
    return {
      ...hit,
      scored: { ...hit.scored, relations: { ...relations, conflictsWith: [...ids] } },
    };
  });
}

/** A hit, as far as its confidence is decided. */
interface Rated {
  readonly memoryId: string;
  readonly confidence: number | undefined;
}

/**
 * Hits of which each that stands before one it is known to contradict is as likely to answer: it
 * answers in that one's place.
 *
 * @param hits In the order of the answer.
 * @param matches The same hits, before their order was changed.
 */
export function inTheirPlace<T extends Rated>(
  hits: readonly T[],
  matches: readonly Related[],
): readonly T[] {
  const known = new Map(
    matches.map(({ entry, relations }) => [entry.id, relations?.conflictsWith ?? []]),
  );
  return hits.map((hit, i) => {
    const others = known.get(hit.memoryId) ?? [];
    if (others.length === 0 || hit.confidence === undefined) return hit;
    const older = hits.slice(i + 1).filter(({ memoryId }) => others.includes(memoryId));
    const confidence = Math.max(hit.confidence, ...older.map((one) => one.confidence ?? 0));
    return { ...hit, confidence };
  });
}
