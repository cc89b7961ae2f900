import { Deadline } from "../../deadline.ts";
import type { Uses } from "../parts.ts";
import type { IndexedMemory } from "../../index/ranking.ts";
import { type Caller, mayRead, scopeOf } from "../caller.ts";
import { isPlain, type NewMemory } from "../remember.ts";
import { type Digesting, textDigest } from "../standing.ts";

type FindingTwins = Uses<{
  index: "read";
  largeScopes: "isAtHand";
  tombstones: "isDeleted";
  config: "deduplicate";
  now: true;
}, Digesting>;

/** Longest wait for a namespace that is not loaded, milliseconds: its first write is stored then. */
const WAIT_MS = 250;

function mayHaveTwin(
  { config }: Pick<FindingTwins, "config">,
  caller: Caller,
  memory: NewMemory,
): boolean {
  const { deduplicate = true, secrets } = memory;
  // Where something is asked for about secrets, what is stored may be another text.
  return config.deduplicate && deduplicate && mayRead(caller) && secrets === undefined &&
    isPlain(memory);
}

/**
 * A memory of the namespace that says the same, word for word, counts today, and has no end: there is
 * nothing to store. `undefined` where there is none, where the new one says more than its text, for
 * callers that may not read, and in namespaces that are too large to be looked at.
 */
export async function twinOf(
  domain: FindingTwins,
  caller: Caller,
  memory: NewMemory,
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
          !relations.isContested(relations.rootOf(twin), now)
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
  for (const [place, memory] of memories.entries()) {
    const { payload } = memory;
    if (payload.kind !== "text" || !mayHaveTwin(domain, caller, memory)) {
      twins.push(undefined);
      continue;
    }
    const digest = textDigest(domain, scopeOf(caller, memory.namespace), payload.text);
    const first = places.get(digest);
    const stored = first === undefined ? await twinOf(domain, caller, memory) : undefined;
    if (first !== undefined) twins.push({ place: first });
    else twins.push(stored === undefined ? undefined : { id: stored.id });
    if (first === undefined && stored === undefined) places.set(digest, place);
  }
  return twins;
}
