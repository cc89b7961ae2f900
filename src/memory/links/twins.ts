import { Deadline } from "../../deadline.ts";
import type { Uses } from "../parts.ts";
import type { IndexedMemory } from "../../index/ranking.ts";
import { type ChoosingRepetitions, deduplicates } from "./policy.ts";
import { type Caller, mayRead, scopeOf } from "../caller.ts";
import { changesUnderWay, type SeeingChanges } from "./changing.ts";
import { isPlain, type NewMemory } from "../remember.ts";
import { type Digesting, textDigest } from "../standing.ts";

type FindingTwins = Uses<{
  index: "read";
  largeScopes: "isAtHand";
  tombstones: "isDeleted";
  now: true;
}, Digesting & ChoosingRepetitions & SeeingChanges>;

/** Longest wait for a namespace that is not loaded, milliseconds: its first write is stored then. */
const WAIT_MS = 250;

function mayHaveTwin(
  domain: ChoosingRepetitions,
  caller: Caller,
  memory: NewMemory,
): boolean {
  const { deduplicate = true, secrets } = memory;
  // Where something is asked for about secrets, what is stored may be another text.
  return deduplicate && mayRead(caller) && secrets === undefined && isPlain(memory) &&
    deduplicates(domain, scopeOf(caller, memory.namespace));
}

/**
 * A memory of the namespace that says the same, word for word, counts today, and has no end: there is
 * nothing to store. `undefined` where there is none, where the new one says more than its text, for
 * callers that may not read, and in namespaces that are too large to be looked at.
 *
 * @param isReplaced Whether something else that is about to be stored takes a memory's place.
 */
export async function twinOf(
  domain: FindingTwins,
  caller: Caller,
  memory: NewMemory,
  isReplaced: (memory: IndexedMemory) => boolean = () => false,
): Promise<IndexedMemory | undefined> {
  const { payload, namespace } = memory;
  if (payload.kind !== "text" || !mayHaveTwin(domain, caller, memory)) return undefined;
  const scope = scopeOf(caller, namespace);
  const digest = textDigest(domain, scope, payload.text);
  const now = domain.now();
  using deadline = new Deadline(WAIT_MS, caller.signal);
  const { signal } = deadline;
  try {
    // A write must not push what others read out of RAM.
    if (!await deadline.wait(domain.largeScopes.isAtHand(scope))) return undefined;
    return await domain.index.read(
      scope,
      ({ relations }) =>
        relations.withText(digest).find((twin) =>
          twin.expiresAt === undefined && twin.standing?.validTo === undefined &&
          !domain.tombstones.isDeleted(scope, twin.id) && !relations.isOver(twin, now) &&
          // Behind what is over nobody would see it; what was said since may be over by it.
          !relations.isOver(relations.rootOf(twin), now) &&
          !relations.isContested(relations.rootOf(twin), now) &&
          // Of what stands for it and was corrected since it says something else.
          relations.isStoodForAsSaid(twin) &&
          ![twin, relations.rootOf(twin)].some(changesUnderWay(domain, scope)) &&
          ![twin, relations.rootOf(twin)].some(isReplaced)
        ),
      { signal },
    );
  } catch {
    // A text that is stored twice is better than one that is not.
    return undefined;
  }
}

/** What stands for one of several memories that are about to be stored, if anything does. */
export type Twin = {
  /** The memory that is there. */
  readonly id: string;
} | {
  /** The place of an earlier one of them that says the same. */
  readonly place: number;
};

/** For each of several memories as {@linkcode twinOf}, and among themselves. */
export async function twinsOf(
  domain: FindingTwins,
  caller: Caller,
  memories: readonly NewMemory[],
): Promise<(Twin | undefined)[]> {
  const places = new Map<string, number>();
  const twins: (Twin | undefined)[] = [];
  const superseded = new Set<string>();
  const keyed = new Set<string>();
  for (const [place, memory] of memories.entries()) {
    const { payload, namespace, standing } = memory;
    for (const { id } of standing?.links ?? []) superseded.add(id);
    if (payload.kind === "text" && payload.key !== undefined) keyed.add(namespace);
    if (payload.kind !== "text" || !mayHaveTwin(domain, caller, memory)) {
      twins.push(undefined);
      continue;
    }
    const digest = textDigest(domain, scopeOf(caller, memory.namespace), payload.text);
    const first = places.get(digest);
    const isReplaced = (one: IndexedMemory): boolean =>
      superseded.has(one.id) || (one.standing?.keyDigest !== undefined && keyed.has(namespace));
    const stored = first === undefined
      ? await twinOf(domain, caller, memory, isReplaced)
      : undefined;
    if (first !== undefined) twins.push({ place: first });
    else twins.push(stored === undefined ? undefined : { id: stored.id });
    if (first === undefined && stored === undefined) places.set(digest, place);
  }
  return twins;
}
