import type { ContextWeights, IndexedMemory, Match } from "./ranking.ts";
import { startOf } from "./relations.ts";

/**
 * Chosen on conversations that are kept for tuning, and so that facts in sessions that were made at
 * random lose nothing; `deno task eval conversations --fit` tries others.
 */
export const WEIGHTS: ContextWeights = { question: 0.24, session: 0.15, asking: 0.5, words: 0.02 };

/** Memories without a session that follow each other so closely, in milliseconds, were said together. */
const TOGETHER_MS = 5 * 60_000;
/** Where so many texts of a namespace ask, it is made of conversations. */
const CONVERSATIONAL = 0.1;

/** What is known of the memories that a query finds, and of those beside them. */
export interface Surroundings {
  /** Whether the texts of memories ask something. */
  asking(memories: readonly IndexedMemory[]): readonly boolean[];
  /** Share of all texts of the namespace that ask something, 0 to 1. */
  readonly askingShare: number;
  /** BM25 of the words that a memory shares with the query. */
  words(memory: IndexedMemory): number;
  /** The memory that follows one in its session, where its writer said so. */
  following(memory: IndexedMemory): IndexedMemory | undefined;
  /** How well a memory that was not found answers; absent where it may not be found. */
  match(memory: IndexedMemory): Match | undefined;
}

/** A memory that was found, and what speaks for it. */
interface Candidate {
  readonly match: Match;
  /** Its score with what its words add, where that is no less than nothing. */
  readonly own: number;
  readonly asks: boolean;
  evidence: number;
}

/** How far the session of a memory is to be believed: what only its time tells, by the namespace. */
type Trusting = (memory: IndexedMemory) => number;

/**
 * The memories that a query finds in the order of all that speaks for them: their score, and what
 * stands beside them. A turn of a conversation means little without the question that it answers, and
 * what was said together is about the same. Whatever a neighbour scores, it brings nothing to the top
 * that has to do with nothing of the query.
 *
 * @param found Best first.
 */
export function inContext(
  found: readonly Match[],
  around: Surroundings,
  weights: ContextWeights = WEIGHTS,
): Match[] {
  const candidates = new Map<string, Candidate>();
  const share = Math.min(1, around.askingShare / CONVERSATIONAL);
  const add = (matches: readonly Match[]): void => {
    const asking = around.asking(matches.map(({ entry }) => entry));
    for (const [i, match] of matches.entries()) {
      const evidence = share * weights.words * around.words(match.entry);
      const own = Math.max(0, match.score + evidence);
      candidates.set(match.entry.id, { match, own, asks: asking[i]!, evidence });
    }
  };
  add(found);
  const next = new Map<string, IndexedMemory>();
  for (const { match: { entry }, asks } of candidates.values()) {
    const following = asks ? around.following(entry) : undefined;
    if (following !== undefined) next.set(entry.id, following);
  }
  const missing = new Map([...next.values()].map((memory) => [memory.id, memory]));
  for (const id of candidates.keys()) missing.delete(id);
  add([...missing.values()].flatMap((memory) => around.match(memory) ?? []));

  const trusting: Trusting = ({ standing }) => standing?.sessionDigest === undefined ? share : 1;
  const groups = groupsOf([...candidates.values()], share > 0);
  for (const group of groups) weighGroup(group, next, trusting, weights);
  for (const [id, { id: nextId }] of next) {
    const candidate = candidates.get(id)!;
    answer(candidate, candidates.get(nextId), weights);
  }
  return [...candidates.values()]
    .map(({ match, evidence }) => ({ ...match, evidence }))
    .sort(byPlace);
}

function byPlace(a: Match, b: Match): number {
  return b.score + (b.evidence ?? 0) - a.score - (a.evidence ?? 0) ||
    b.entry.createdAt - a.entry.createdAt || (a.entry.id < b.entry.id ? -1 : 1);
}

/** A question gives way to what follows it. */
function answer(
  asked: Candidate,
  following: Candidate | undefined,
  { asking, question }: ContextWeights,
  trust = 1,
): void {
  asked.evidence -= trust * asking * asked.own;
  if (following !== undefined) following.evidence += trust * question * asked.own;
}

/** Candidates by session; those without one that were said together, in their order. */
function groupsOf(candidates: readonly Candidate[], byTime: boolean): Candidate[][] {
  const named = new Map<string, Candidate[]>();
  const others: Candidate[] = [];
  for (const candidate of candidates) {
    const session = candidate.match.entry.standing?.sessionDigest;
    if (session === undefined) others.push(candidate);
    else named.getOrInsertComputed(session, () => []).push(candidate);
  }
  const groups = [...named.values()];
  if (!byTime) return groups;
  const start = ({ match }: Candidate): number => startOf(match.entry);
  others.sort((a, b) => start(a) - start(b));
  let group: Candidate[] = [];
  for (const candidate of others) {
    const last = group.at(-1);
    if (last === undefined || start(candidate) - start(last) > TOGETHER_MS) {
      groups.push(group = []);
    }
    group.push(candidate);
  }
  return groups;
}

function weighGroup(
  group: readonly Candidate[],
  next: ReadonlyMap<string, IndexedMemory>,
  trusting: Trusting,
  weights: ContextWeights,
): void {
  if (group.length < 2) return;
  const trust = trusting(group[0]!.match.entry);
  const isNamed = group[0]!.match.entry.standing?.sessionDigest !== undefined;
  const [best, second] = group.map(({ own }) => own).sort((a, b) => b - a);
  for (const [i, candidate] of group.entries()) {
    const other = candidate.own === best ? second! : best!;
    candidate.evidence += trust * weights.session * other;
    const following = group[i + 1];
    // What was accepted at once has no order.
    const isOrdered = !isNamed && following !== undefined &&
      startOf(following.match.entry) > startOf(candidate.match.entry);
    if (candidate.asks && isOrdered && !next.has(candidate.match.entry.id)) {
      answer(candidate, following, weights, trust);
    }
  }
}
