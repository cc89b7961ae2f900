import type { Uses } from "../parts.ts";
import type { IndexedMemory } from "../../index/ranking.ts";
import type { Scope } from "../../interfaces/mod.ts";
import { type Caller, scopeOf } from "../caller.ts";
import { type Opening, openMemories } from "../open.ts";
import { rank, type Searching } from "../recall/recall.ts";

/** Memories that are compared with one vector: the nearest. */
const NEAREST = 20;
/** More memories at the distance of an equal text: a model may give many texts one vector. */
const EQUALLY_NEAR = 200;
const EQUAL_DISTANCE = 0.02;
/** Waiting jobs that are compared, newest first, and the most bytes of a possible fact. */
const WAITING = 1000;
const FACT_BYTES = 4096;

/** What reading waiting jobs needs. */
type KnowingJobs = Uses<{ jobs: "liveIn"; contents: "payload"; tombstones: "isDeleted" }>;

/** Whether a memory may be a fact; what is kept outside of the index is far too long for one. */
function isShort(memory: IndexedMemory): boolean {
  return memory.source !== "manual" && memory.payload.length > 0;
}

/**
 * Texts of the short memories nearest to any of the vectors, the nearest first.
 *
 * @throws {SvcError} a retryable failure to open one: its text would be stored a second time.
 */
export async function nearestTexts(
  domain: Searching,
  caller: Caller,
  namespace: string,
  vectors: readonly Float32Array[],
): Promise<string[]> {
  const near = new Map<string, { readonly memory: IndexedMemory; readonly distance: number }>();
  for (const vector of vectors) {
    const options = { namespace, limit: EQUALLY_NEAR, accept: isShort };
    const hits = await rank(domain, caller, { vector }, options);
    for (const [i, { entry: memory, distance }] of hits.entries()) {
      if (i >= NEAREST && distance > EQUAL_DISTANCE) break;
      const known = near.get(memory.id);
      if (known === undefined || distance < known.distance) {
        near.set(memory.id, { memory, distance });
      }
    }
  }
  const ordered = [...near.values()].sort((a, b) => a.distance - b.distance);
  return await textsOf(domain, caller, namespace, ordered.map(({ memory }) => memory));
}

async function textsOf(
  domain: Opening,
  caller: Caller,
  namespace: string,
  memories: readonly IndexedMemory[],
): Promise<string[]> {
  const opened = await openMemories(domain, caller, scopeOf(caller, namespace), memories);
  return opened.flatMap((item) => {
    if ("record" in item) return [item.record.text];
    if ("error" in item && item.error.retryable) throw item.error;
    return [];
  });
}

/**
 * Texts of the short memories that no vector finds, because theirs are of another model.
 *
 * @throws {SvcError} as {@linkcode nearestTexts}.
 */
export async function outdatedTexts(
  domain: Searching,
  caller: Caller,
  namespace: string,
): Promise<string[]> {
  const bare = await domain.index.read(
    scopeOf(caller, namespace),
    (loaded) => loaded.withoutVectors(),
  );
  return await textsOf(domain, caller, namespace, bare.filter(isShort).slice(-WAITING));
}

/** Texts that were accepted but are not indexed yet. */
export async function waitingTexts(domain: KnowingJobs, scope: Scope): Promise<string[]> {
  const waiting = domain.jobs.liveIn(scope).filter((live) =>
    !live.recallable && live.job.source !== "manual" && live.job.bytes <= FACT_BYTES &&
    !domain.tombstones.isDeleted(scope, live.job.memoryId)
  ).slice(-WAITING);
  const texts = await Promise.all(waiting.map(async (live) => {
    // The commit that accepts it may still fail.
    if (!await live.accepted) return [];
    // A job that ended meanwhile has no payload, but its memory is in the index.
    const payload = await domain.contents.payload(live).catch((error) => {
      if (live.isLocked) throw error;
    });
    return payload?.kind === "text" ? [payload.text] : [];
  }));
  return texts.flat();
}
