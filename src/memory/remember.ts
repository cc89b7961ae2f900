import type { Uses } from "./parts.ts";
import { SvcError } from "../errors.ts";
import type { SecretsRule } from "../interfaces/config.ts";
import type { Source, VectorStore } from "../interfaces/mod.ts";
import type { VersionTable } from "../storage/core/version_table.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { Buffer } from "node:buffer";
import type { AcceptedJob, JobSpec, LiveJob, Proposing } from "../jobs/job.ts";
import type { Kept } from "../jobs/replay.ts";
import { type Caller, checkOpenTo, isOpenTo, mayRead, scopeOf } from "./caller.ts";
import { inlineBytesOf } from "../jobs/staging.ts";
import { type CheckingLinks, checkSuperseded } from "./links/superseded.ts";
import {
  type ChoosingConflicts,
  type ChoosingRepetitions,
  conflictPolicy,
  deduplicates,
} from "./links/policy.ts";
import { doubtAfter } from "./owners/owners.ts";
import type { Payload } from "./waiting/job_contents.ts";
import { type Redacted, SecretScreen, secretsRule } from "./secrets.ts";
import { Slices } from "../index/scope_loading.ts";

/** What is counted, and the most it may come to. */
interface QuotaOptions {
  /** Bytes an owner may store; 0: any number. */
  readonly quotaBytes: number;
  /** Counts what is indexed. */
  readonly vectorStore: Pick<VectorStore, "scopes">;
  /** Count what is accepted and not indexed yet. */
  readonly jobs: Pick<Jobs, "unsettledBytes">;
  /** Count what was replaced and is kept. */
  readonly versions: Pick<VersionTable, "bytesOf">;
}

type Counting = Pick<QuotaOptions, "vectorStore" | "versions">;

/**
 * Ciphertext bytes of an owner's indexed memories, and of their replaced versions.
 *
 * @param counts Whether what is in a namespace counts; all of it when absent.
 */
async function usedBytes(
  { vectorStore, versions }: Counting,
  owner: string,
  counts: (namespace: string) => boolean = () => true,
): Promise<number> {
  const scopes = [...await vectorStore.scopes(owner), ...versions.bytesOf(owner)];
  return scopes.reduce((sum, { namespace, bytes }) => sum + (counts(namespace) ? bytes : 0), 0);
}

/** Ciphertext bytes of what is there for a caller. */
export async function bytesFor(domain: Counting, caller: Caller): Promise<number> {
  const { owner } = caller.account;
  return await usedBytes(domain, owner, (namespace) => isOpenTo(caller, namespace));
}

/**
 * Bytes of writes that passed the check and are no jobs yet, by owner, so that requests that arrive
 * together do not all count on the same free space.
 */
export class Quota {
  readonly #options: QuotaOptions;
  readonly #reserved = new Map<string, number>();

  constructor(options: QuotaOptions) {
    this.#options = options;
  }

  /**
   * Claims room for a write. Give it back as soon as its jobs exist, which then count themselves;
   * giving it back again does nothing.
   *
   * @throws {SvcError} `quota_exceeded`.
   */
  async reserve(owner: string, bytes: number): Promise<Disposable> {
    const { quotaBytes, jobs } = this.#options;
    if (quotaBytes === 0) return { [Symbol.dispose]: () => {} };
    this.#add(owner, bytes);
    let held = bytes;
    const reservation = {
      [Symbol.dispose]: () => {
        this.#add(owner, -held);
        held = 0;
      },
    };
    try {
      const used = await usedBytes(this.#options, owner) + jobs.unsettledBytes(owner);
      if (used + (this.#reserved.get(owner) ?? 0) > quotaBytes) {
        throw new SvcError("quota_exceeded");
      }
      return reservation;
    } catch (error) {
      reservation[Symbol.dispose]();
      throw error;
    }
  }

  #add(owner: string, bytes: number): void {
    const sum = (this.#reserved.get(owner) ?? 0) + bytes;
    if (sum === 0) this.#reserved.delete(owner);
    else this.#reserved.set(owner, sum);
  }
}

export type Accepting = Uses<{
  quota: "reserve";
  jobs: "checkRoom" | "newId" | "accept";
  contents: "stage";
  tombstones: "forgottenAt";
  owners: "doubt";
  worker: "notify";
  config: "failpoint" | "secrets";
  now: true;
}, CheckingLinks & ChoosingConflicts & ChoosingRepetitions>;

/** One memory to be stored; its importance is 0.5 when absent. */
export type NewMemory =
  & Pick<JobSpec, "namespace">
  & {
    readonly [K in "importance" | "occurredAt" | "expiresAt" | "standing"]?: JobSpec[K] | undefined;
  }
  & {
    readonly payload: Payload;
    /** What is asked for about secrets; the relayer's setting when absent. */
    readonly secrets?: SecretsRule | undefined;
    /** Its place among what was sent, where some of that is not stored. */
    readonly place?: number | undefined;
    /** Whether what says the same already may stand for it; true when absent. */
    readonly deduplicate?: boolean | undefined;
    /** Called in the turn of the acceptance, for a memory that has an id already; may refuse. */
    readonly replaces?: (jobId: string, acceptedAt: number) => Replacing;
  };

/** Which version of which memory a job writes. */
export type Replacing = Pick<
  JobSpec,
  "memoryId" | "version" | "createdAt" | "changedAt" | "source"
>;

function payloadBytes(payload: Payload): number {
  return payload.kind === "text" ? Buffer.byteLength(payload.text) : payload.data.length;
}

/** Whether a writer says nothing of a memory but its text, who says so, when, and how much it matters. */
export function isPlain({ payload, expiresAt, standing = {} }: NewMemory): boolean {
  const { validFrom, validTo, links } = standing;
  return payload.kind === "text" && payload.metadata === undefined && payload.key === undefined &&
    expiresAt === undefined && validFrom === undefined && validTo === undefined &&
    links === undefined;
}

/** Whether a writer leaves open what else a memory takes the place of, and says of no end. */
function leavesOpen({ payload, expiresAt, standing = {} }: NewMemory): boolean {
  return payload.kind === "text" && payload.key === undefined && expiresAt === undefined &&
    standing.validTo === undefined && standing.links === undefined;
}

/** What is looked for when a memory is made: nothing for what was elsewhere before, or is changed. */
function proposesFor(
  domain: Accepting,
  caller: Caller,
  source: Source,
  memory: NewMemory,
): Pick<JobSpec, "proposes"> {
  const { payload, replaces, deduplicate = true } = memory;
  const isNew = source === "remember" || source === "bulk" || source === "analyze";
  // Whoever may not read must not learn of what is there.
  if (!isNew || replaces !== undefined || payload.kind !== "text" || !mayRead(caller)) return {};
  const scope = scopeOf(caller, memory.namespace);
  const proposes: Proposing[] = [];
  if (deduplicate && isPlain(memory) && deduplicates(domain, scope)) proposes.push("repetition");
  if (leavesOpen(memory) && conflictPolicy(domain, scope) !== "off") proposes.push("conflicts");
  return proposes.length === 0 ? {} : { proposes };
}

/** Memories as they may be stored, and what was taken out of them. */
interface Screened {
  readonly memories: readonly NewMemory[];
  readonly redacted: readonly Redacted[] | undefined;
}

/**
 * Looks for secrets in what is about to be accepted; what clients sealed cannot be looked at.
 *
 * @throws {SvcError} `secret_found`, `invalid_parameter`.
 */
async function screened(
  { config }: Accepting,
  source: Source,
  memories: readonly NewMemory[],
): Promise<Screened> {
  const screen = new SecretScreen(secretsRule(config.secrets, memories[0]?.secrets));
  const slices = new Slices();
  const kept: NewMemory[] = [];
  for (const [i, memory] of memories.entries()) {
    const { payload } = memory;
    const path = source === "bulk" ? `items[${memory.place ?? i}].` : "";
    kept.push(
      payload.kind === "text" ? { ...memory, payload: screen.payload(payload, path) } : memory,
    );
    await slices.rest();
  }
  return { memories: kept, redacted: screen.redacted };
}

/** Checks the links of new memories; those of changed ones were checked before. */
async function checkLinks(
  domain: CheckingLinks,
  caller: Caller,
  memories: readonly NewMemory[],
): Promise<void> {
  for (const { namespace, standing, replaces } of memories) {
    const { links = [] } = standing ?? {};
    if (replaces === undefined) await checkSuperseded(domain, caller, namespace, links);
  }
}

/** What was accepted, and the answer that tells of it. */
interface Accepted<A> {
  /** The answer, kept for whoever sends the same again. */
  readonly answer: A;
  /** The jobs, in the order of the memories. */
  readonly jobs: readonly LiveJob[];
}

/** Ids of the jobs, and what waits for them: together it fits into the commit that accepts them. */
function stage(
  { jobs, contents }: Accepting,
  caller: Caller,
  memories: readonly NewMemory[],
) {
  const inlineBytes = inlineBytesOf(memories.length);
  const { accountId } = caller.account;
  return Promise.all(memories.map(async ({ payload, namespace }) => {
    const id = jobs.newId();
    const context = { accountId, ...scopeOf(caller, namespace) };
    return { id, ...await contents.stage(id, payload, inlineBytes, context) };
  }));
}

/**
 * Accepts memories: all of them durably in one commit, or none. All of a request ask for the same
 * about secrets; none is embedded, sealed or written before it was looked at.
 *
 * @param answering makes the answer of the accepted jobs, which is kept in the same commit.
 * @throws {SvcError} `permission_denied` for a key of other namespaces; `secret_found`,
 * `quota_exceeded`, `overloaded`, `storage_unavailable`; `chain_unavailable`,
 * `key_service_unavailable` where nothing can be sealed; as `checkSuperseded`.
 */
export async function accept<A>(
  domain: Accepting,
  caller: Caller,
  source: Source,
  given: readonly NewMemory[],
  answering: (jobs: readonly AcceptedJob[], redacted: Screened["redacted"]) => Kept<A>,
): Promise<Accepted<A>> {
  for (const { namespace } of given) checkOpenTo(caller, namespace);
  const { memories, redacted } = await screened(domain, source, given);
  // An import brings along what was checked where it comes from.
  if (source !== "import") await checkLinks(domain, caller, memories);
  const sizes = memories.map(({ payload }) => payloadBytes(payload));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  using room = await domain.quota.reserve(caller.account.owner, bytes);
  // Before anything is staged: a flood of refused requests must not fill the disk.
  domain.jobs.checkRoom(caller.account.owner, memories.length);
  const now = domain.now();
  const staged = await stage(domain, caller, memories);
  // In one turn with the acceptance: a forget comes before all of them or after all.
  const jobs = memories.map((memory, i): AcceptedJob => {
    const { id, ...waiting } = staged[i]!;
    const scope = scopeOf(caller, memory.namespace);
    // Whatever is not later than the last forget of its namespace was forgotten.
    const acceptedAt = Math.max(now, (domain.tombstones.forgottenAt(scope) ?? -Infinity) + 1);
    return {
      id,
      memoryId: id,
      version: 1,
      accountId: caller.account.accountId,
      ...(caller.key === undefined ? {} : { publicKey: caller.key.publicKey }),
      ...scope,
      source,
      createdAt: acceptedAt,
      ...memory.replaces?.(id, acceptedAt),
      acceptedAt,
      importance: memory.importance ?? 0.5,
      bytes: sizes[i] ?? 0,
      ...waiting,
      ...(memory.occurredAt === undefined ? {} : { occurredAt: memory.occurredAt }),
      ...(memory.expiresAt === undefined ? {} : { expiresAt: memory.expiresAt }),
      ...(memory.standing === undefined ? {} : { standing: memory.standing }),
      ...proposesFor(domain, caller, source, memory),
    };
  });
  domain.config.failpoint("stage");
  const { answer, mutations } = answering(jobs, redacted);
  const accepting = domain.jobs.accept(jobs, mutations);
  room[Symbol.dispose]();
  const live = await accepting.catch((error) => {
    doubtAfter(domain.owners, caller.account.owner, error);
    throw error;
  });
  domain.config.failpoint("accept");
  domain.worker.notify(live);
  return { answer, jobs: live };
}
