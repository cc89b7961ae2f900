import { Deadline } from "../../deadline.ts";
import type { IndexedMemory } from "../../index/ranking.ts";
import { startOf } from "../../index/relations.ts";
import type { LoadedScope } from "../../index/resident_scope.ts";
import type { MemoryLink, Scope, Trust } from "../../interfaces/mod.ts";
import type { JobSpec, Proposing } from "../../jobs/job.ts";
import type { Caller } from "../caller.ts";
import type { Payload } from "../waiting/job_contents.ts";
import { type Opening, openMemories } from "../open.ts";
import type { Uses } from "../parts.ts";
import { changesUnderWay, type SeeingChanges } from "./changing.ts";
import { judgeConflict } from "./conflict.ts";
import { arrivingLink, type ComparingArriving } from "./arriving.ts";
import type { Judge, Proposal } from "./judge.ts";
import { type ChoosingConflicts, conflictPolicy } from "./policy.ts";
import { judgeEcho } from "./echo.ts";
import { ECHO, judgeRepetition } from "./restatement.ts";
import { judgeResent } from "./resent.ts";

export type ProposingLinks =
  & ComparingArriving
  & Uses<{
    index: "read";
    largeScopes: "isAtHand";
    recentlyRecalled: "has";
    now: true;
  }, Opening & ChoosingConflicts & SeeingChanges>;

/** Judges by what they look for, in the order they are asked. */
const JUDGES: readonly (readonly [Proposing, Judge])[] = [
  ["repetition", judgeRepetition],
  ["repetition", judgeResent],
  ["conflicts", judgeConflict],
];

/** The same for what the writer was answered just before: most likely it has it from there. */
const JUDGES_OF_RECALLED: typeof JUDGES = [
  ["repetition", judgeRepetition],
  ["repetition", judgeEcho],
  ...JUDGES.slice(1),
];

/** Memories that a new one is compared with: the nearest by vector and words. */
const NEAREST = 12;
/** Characters of a text by which its candidates are found. */
const LOOKED_UP = 2_000;
/** In larger namespaces a comparison would take longer than a write should. */
const MOST_MEMORIES = 25_000;
/** Longest time it may take, milliseconds: then the memory has no links. */
const WAIT_MS = 1_000;
/** Whose word weighs more comes first. */
const TRUSTS: readonly Trust[] = ["user", "agent", "import", "web"];

/** A memory that a new one is compared with. */
interface Candidate {
  readonly memory: IndexedMemory;
  readonly cosine: number;
  /** What a repetition of it is tied to: itself, or the memory that stands for it. */
  readonly root: IndexedMemory;
  /** Whether that says the same as the memory does, and goes on to. */
  readonly mayStand: boolean;
  /** Whether something newer contradicts that. */
  readonly isContested: boolean;
  /** Whether it was answered to the writer in the minutes before. */
  readonly isRecalled: boolean;
}

/**
 * Links that are proposed for the new memory of a job: what says the same already, and what else its
 * judges find. None for memories whose writer asked for none, that cannot be opened without their
 * owner's credential, and in namespaces that are not at hand. A failure is no link, never an error:
 * a memory without links is better than one that is not stored.
 */
export async function proposeLinks(
  domain: ProposingLinks,
  job: JobSpec,
  payload: Payload,
  vectors: readonly Float32Array[],
): Promise<readonly MemoryLink[]> {
  const { proposes = [] } = job;
  const [vector] = vectors;
  if (proposes.length === 0 || payload.kind !== "text" || vector === undefined) return [];
  if (domain.cipher.needsCredential) return [];
  const { text } = payload;
  const isChanging = changesUnderWay(domain, job, job.id);
  const standsFor = (other: JobSpec) =>
    mayStandFor(other, job) && !isChanging({ id: other.memoryId, version: other.version });
  using deadline = new Deadline(WAIT_MS);
  try {
    // A write must not push what others read out of RAM.
    if (!await deadline.wait(domain.largeScopes.isAtHand(job))) return [];
    const isCompared = proposes.includes("repetition");
    // At once: what is on its way now may be in the index when that was read.
    const [links, arriving] = await Promise.all([
      nearestLinks(domain, job, { vector, text }, deadline),
      isCompared ? deadline.wait(arrivingLink(domain, job, text, standsFor)) : undefined,
    ]);
    return distinct(arriving === undefined ? links : [...links, arriving]);
  } catch {
    return [];
  }
}

/** Links to what is there, by its nearest memories. */
async function nearestLinks(
  domain: ProposingLinks,
  job: JobSpec,
  { vector, text }: { readonly vector: Float32Array; readonly text: string },
  deadline: Deadline,
): Promise<MemoryLink[]> {
  const { owner, namespace, accountId } = job;
  const { signal } = deadline;
  const scope: Scope = { owner, namespace };
  const query = { vector, text: text.slice(0, LOOKED_UP) };
  const candidates = await domain.index.read(
    scope,
    (loaded) => candidatesOf(domain, loaded, job, query),
    { signal },
  );
  if (candidates.length === 0) return [];
  const caller: Caller = { account: { accountId, owner, active: true, keys: [] }, signal };
  const memories = candidates.map(({ memory }) => memory);
  const opened = await deadline.wait(openMemories(domain, caller, scope, memories));
  return candidates.flatMap((candidate, i) => {
    const item = opened[i];
    if (item === undefined || !("record" in item)) return [];
    return judged(domain, job, candidate, { older: item.record.text, newer: text });
  });
}

/** What a new memory may be tied to, the nearest first. */
function candidatesOf(
  domain: ProposingLinks,
  loaded: LoadedScope,
  job: JobSpec,
  query: { readonly vector: Float32Array; readonly text: string },
): Candidate[] {
  const { tombstones, recentlyRecalled, now } = domain;
  const { relations, scope } = loaded;
  if (loaded.size > MOST_MEMORIES) return [];
  const time = now();
  const isChanging = changesUnderWay(domain, scope, job.id);
  const superseded = new Set(job.standing?.links?.map(({ id }) => id));
  const stays = (memory: IndexedMemory): boolean =>
    memory.id !== job.memoryId && memory.source !== "manual" && memory.payload.length > 0 &&
    memory.expiresAt === undefined && memory.standing?.validTo === undefined &&
    !superseded.has(memory.id) && !relations.isOver(memory, time) &&
    !tombstones.isDeleted(scope, memory.id);
  const matches = loaded.match(query, { limit: NEAREST, accept: stays });
  return matches.flatMap(({ entry: memory, distance }) => {
    const root = relations.rootOf(memory);
    const isContested = relations.isContested(root, time);
    const isRecalled = recentlyRecalled.has(scope, job.publicKey, memory.id, job.acceptedAt);
    const mayStand = relations.isStoodForAsSaid(memory) &&
      ![memory, root].some(isChanging);
    const cosine = 1 - distance;
    return stays(root) ? [{ memory, root, cosine, mayStand, isContested, isRecalled }] : [];
  });
}

/** What two memories say. */
interface Texts {
  readonly older: string;
  readonly newer: string;
}

/** The link to one candidate, if a judge finds one. */
function judged(
  domain: ChoosingConflicts,
  job: JobSpec,
  candidate: Candidate,
  texts: Texts,
): MemoryLink[] {
  const { memory, root } = candidate;
  for (const [name, judge] of candidate.isRecalled ? JUDGES_OF_RECALLED : JUDGES) {
    if (!job.proposes?.includes(name)) continue;
    const found = name === "conflicts"
      ? contradiction(domain, job, candidate, judge, texts)
      : judge(texts.older, texts.newer, candidate.cosine);
    if (found === undefined) continue;
    const other = found.kind === "restates" ? root : memory;
    if (found.kind === "restates" && !(candidate.mayStand && mayStandFor(other, job))) continue;
    // Who says again what was contradicted since may mean it: only an echo does not.
    if (found.kind === "restates" && candidate.isContested && found.by !== ECHO) continue;
    if (found.kind === "supersedes" && !mayReplace(other, job)) continue;
    return [{ ...found, id: other.id, version: other.version }];
  }
  return [];
}

/** A contradiction as the owner wants it. */
function contradiction(
  domain: ChoosingConflicts,
  job: JobSpec,
  { memory, cosine }: Candidate,
  judge: Judge,
  { older, newer }: Texts,
): Proposal | undefined {
  // What is written now may have been true before what was written then.
  if (startOf(job) < startOf(memory)) return judge(newer, older, cosine);
  const found = judge(older, newer, cosine);
  const replaces = conflictPolicy(domain, job) === "auto" && mayReplace(memory, job);
  return found && replaces ? { ...found, kind: "supersedes" } : found;
}

/** Whether a memory may stand for what a job writes: who says so weighs as much, and the day is no other. */
function mayStandFor(
  { standing, occurredAt }: Pick<JobSpec, "standing" | "occurredAt">,
  job: JobSpec,
): boolean {
  if (rankOf(standing?.trust) > rankOf(job.standing?.trust)) return false;
  return occurredAt === undefined || job.occurredAt === undefined ||
    Math.abs(occurredAt - job.occurredAt) < DAY_MS;
}

/** Whether what a job writes may take the place of a memory without being asked to. */
function mayReplace({ standing, source }: IndexedMemory, job: JobSpec): boolean {
  return rankOf(job.standing?.trust) <= rankOf(standing?.trust) && source !== "manual";
}

function rankOf(trust: Trust = "user"): number {
  return TRUSTS.indexOf(trust);
}

const DAY_MS = 86_400_000;

/** The links of a memory: where others stand for it, to the surest of them alone. */
function distinct(links: readonly MemoryLink[]): readonly MemoryLink[] {
  const [surest] = links.filter(({ kind }) => kind === "restates")
    .sort((a, b) => b.score - a.score);
  // What stands for it has the conflicts already.
  return surest === undefined ? links : [surest];
}
