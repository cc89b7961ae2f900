import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { Embedder, IndexEntry, Scope } from "../../interfaces/mod.ts";
import type { Caller } from "../caller.ts";
import { type Opening, openMemories, storedEntries } from "../open.ts";
import { documentVectors } from "../vectors.ts";
import { Deadline, pause } from "../../deadline.ts";
import { ScanWalk } from "../../index/scope_loading.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";

/** Where memories are read, embedded and written anew. */
type EmbeddingAnew = Uses<{
  embedder: true;
  vectorStore: "upsert" | "delete";
  index: "apply";
  jobs: "liveIn";
  tombstones: "isGone";
  rowWrites: "hold";
}, Opening>;

interface ReembeddedPart {
  /** Memories that have vectors of the present model now, or are gone. */
  readonly done: number;
  /** Memories to try again: their record cannot be read now, or their job is not finished. */
  readonly postponed: number;
  /** Ids of memories whose text cannot be opened or embedded at all. */
  readonly impossible: readonly string[];
}

type Vectors = readonly Float32Array[];

/**
 * The text of each memory that has one, and ids of those whose record is lost.
 * @throws {SvcError} when none of the records can be read for now.
 */
async function textsOf(domain: Opening, caller: Caller, part: readonly IndexEntry[]) {
  const { owner, namespace } = part[0]!;
  const opened = await openMemories(domain, caller, { owner, namespace }, part);
  const texts = new Map<string, string>();
  const impossible: string[] = [];
  const unreadable: SvcError[] = [];
  for (const [i, entry] of part.entries()) {
    const item = opened[i];
    if (item === undefined || "deleted" in item) continue;
    if ("record" in item) texts.set(entry.id, item.record.text);
    else if (item.error.retryable) unreadable.push(item.error);
    else impossible.push(entry.id);
  }
  const [first] = unreadable;
  if (first !== undefined && unreadable.length === part.length) throw first;
  return { texts, impossible, unreadable: unreadable.length };
}

/** The vectors of texts together; each for itself when one of them cannot be embedded. */
async function vectorsOf(
  embedder: Embedder,
  texts: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<{ made: Map<string, Vectors>; impossible: string[] }> {
  const made = new Map<string, Vectors>();
  const impossible: string[] = [];
  const embed = async (ids: readonly string[]) => {
    const batch = ids.map((id) => texts.get(id)!);
    const vectors = await documentVectors(embedder, batch, signal);
    for (const [i, id] of ids.entries()) made.set(id, vectors[i]!);
  };
  const ids = [...texts.keys()];
  try {
    if (ids.length > 0) await embed(ids);
  } catch (error) {
    if (SvcError.from(error).retryable || signal?.aborted) throw error;
    for (const id of ids) {
      try {
        await embed([id]);
      } catch (reason) {
        if (SvcError.from(reason).retryable || signal?.aborted) throw reason;
        impossible.push(id);
      }
    }
  }
  return { made, impossible };
}

/**
 * Writes vectors of the present model to memories of one scope.
 *
 * The rows are read again right before they are written, so that a blob that was linked meanwhile
 * stays linked; a memory whose job is not finished, or finishes while they are read, is left to its
 * job. Tombstones come first: one that is not there after the write is applied by whoever writes it.
 *
 * @param part Memories without vectors; at least one.
 * @throws {SvcError} what the store, the cipher or the embedder throws, when it may pass.
 */
async function reembedPart(
  domain: EmbeddingAnew,
  caller: Caller,
  part: readonly IndexEntry[],
): Promise<ReembeddedPart> {
  const { signal } = caller;
  const { owner, namespace } = part[0]!;
  const scope: Scope = { owner, namespace };
  const { texts, impossible, unreadable } = await textsOf(domain, caller, part);
  const { made, impossible: refused } = await vectorsOf(domain.embedder, texts, signal);
  const isGone = (entry: IndexEntry): boolean =>
    domain.tombstones.isGone(entry, entry.id, entry.updatedAt);
  const versions = new Map(part.map(({ id, version }) => [id, version]));
  const before = domain.jobs.liveIn(scope);
  const rows = await storedEntries(domain, owner, [...made.keys()], { signal });
  const live = new Set(
    [...before, ...domain.jobs.liveIn(scope)].map(({ job }) => job.memoryId),
  );
  const bare = rows.filter((row) =>
    row.namespace === namespace && row.version === versions.get(row.id) &&
    row.vectors.length === 0 && !isGone(row)
  );
  const entries = bare
    .filter(({ id }) => !live.has(id))
    .map((row) => ({ ...row, vectors: made.get(row.id)! }));
  // No await since the rows were looked at: what is written later is applied later.
  await domain.rowWrites.hold(scope, entries, async () => {
    if (entries.length > 0) await domain.vectorStore.upsert(entries, { signal });
    const undone = entries.filter(isGone).map(({ id }) => id);
    if (undone.length > 0) await domain.vectorStore.delete(scope, undone);
    // Looked for again: what was deleted meanwhile has left the index already.
    domain.index.apply(entries.filter((entry) => !isGone(entry)));
  });
  const lost = [...impossible, ...refused];
  const postponed = unreadable + bare.length - entries.length;
  return { done: part.length - lost.length - postponed, postponed, impossible: lost };
}

type ReembeddingParts = Uses<{
  vectorStore: "scan" | "outdated";
  keys: "get";
  accounts: "admin";
  owners: "holdFree";
  logger: true;
}, EmbeddingAnew>;

/** Memories read, opened and embedded together. */
const PART = 32;
/** Pauses after a failure, in milliseconds: doubled up to the longest. */
const PAUSE = { first: 1_000, longest: 60_000 };

/** How far the memories are that have vectors of another model. */
interface ReembeddingProgress {
  /** Memories that were embedded anew, or are gone. */
  readonly done: number;
  /** Memories that had to be, at the start. */
  readonly total: number;
  /** Memories whose text cannot be opened or embedded; they stay listed and are not found. */
  readonly failed: number;
}

/** A scope that is not finished. */
interface Outdated {
  readonly scope: Scope;
  /** Memories left that can be embedded, as far as known. */
  left: number;
  /** Memories that cannot; they are not tried again before the next start. */
  readonly failed: Set<string>;
  /** Memories that may have been written without an answer: the index does not know of it. */
  readonly unsure: Set<string>;
  run: Promise<void> | undefined;
}

/**
 * Embeds memories anew whose vectors are of another model. The store is the only record of what is
 * left, so that a stop or a crash at any moment loses nothing and repeats at most one part. Scopes
 * are worked through in the background, one part of one scope at a time; where texts open with the
 * credential of a caller only, a scope's turn comes with its next credentialed request.
 */
export class Reembedding implements AsyncDisposable {
  readonly #domain: ReembeddingParts;
  readonly #closing = new AbortController();
  readonly #scopes = new Map<string, Outdated>();
  #background: Promise<void> = Promise.resolve();
  #total = 0;
  #done = 0;
  #failed = 0;

  constructor(domain: ReembeddingParts) {
    this.#domain = domain;
  }

  /** Looks what is to be done, and begins. */
  async start(): Promise<void> {
    const { vectorStore, cipher, logger } = this.#domain;
    for (const { owner, namespace, count } of await vectorStore.outdated?.() ?? []) {
      const scope = { owner, namespace };
      this.#total += count;
      this.#scopes.set(scopeKey(scope), {
        scope,
        left: count,
        failed: new Set(),
        unsure: new Set(),
        run: undefined,
      });
    }
    if (this.#total === 0) return;
    logger.info("reembedding", { count: this.#total });
    if (!cipher.needsCredential) this.#background = this.#workThrough();
  }

  /** How far it is; `undefined` when there was nothing to do. */
  get progress(): ReembeddingProgress | undefined {
    if (this.#total === 0) return undefined;
    return { done: this.#done, total: this.#total, failed: this.#failed };
  }

  /** Whether it is embedding now, not waiting for callers' credentials. */
  get active(): boolean {
    if (!this.#domain.cipher.needsCredential) return this.#scopes.size > 0;
    return this.#scopes.values().some(({ run }) => run !== undefined);
  }

  /**
   * Puts a scope first, and waits at most so many milliseconds for it.
   * @returns how many of its memories are left.
   */
  async hurry(scope: Scope, caller: Caller, ms: number): Promise<number> {
    const outdated = this.#scopes.get(scopeKey(scope));
    if (outdated === undefined) return 0;
    const { signal: _, ...lasting } = caller;
    // The work goes on when the caller is gone.
    const run = this.#run(outdated, lasting).catch(() => {});
    using deadline = new Deadline(ms, this.#closing.signal);
    await deadline.wait(run).catch(() => {});
    return this.#scopes.get(scopeKey(scope))?.left ?? 0;
  }

  /** Stops after the current part. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new SvcError("shutting_down"));
    await this.#background;
    await Promise.allSettled(this.#scopes.values().map(({ run }) => run));
  }

  async #workThrough(): Promise<void> {
    const { signal } = this.#closing;
    const { logger } = this.#domain;
    let delay = PAUSE.first;
    while (this.#scopes.size > 0 && !signal.aborted) {
      let failure: SvcError | undefined;
      for (const outdated of [...this.#scopes.values()]) {
        if (signal.aborted) return;
        try {
          await this.#run(outdated);
          delay = PAUSE.first;
        } catch (error) {
          failure = SvcError.from(error);
        }
      }
      if (failure === undefined || signal.aborted) continue;
      logger.warn("reembedding_delayed", { reason: failure.code, delay_ms: delay });
      const asked = Math.min((failure.retryAfter ?? 0) * 1000, PAUSE.longest);
      await pause(Math.max(delay, asked), signal);
      delay = Math.min(delay * 2, PAUSE.longest);
    }
  }

  /** One run of a scope at a time; callers join it. */
  #run(outdated: Outdated, caller?: Caller): Promise<void> {
    outdated.run ??= this.#workOn(outdated, caller).finally(() => outdated.run = undefined);
    return outdated.run;
  }

  async #workOn(outdated: Outdated, caller: Caller | undefined): Promise<void> {
    const { scope, failed } = outdated;
    const { logger, vectorStore } = this.#domain;
    const { signal } = this.#closing;
    // Written memories move to the end of a scan, so that one walk meets each that is left.
    const walk = new ScanWalk();
    let cursor: string | undefined;
    let left = 0;
    do {
      const page = await vectorStore.scan(scope, cursor, { signal });
      this.#showWritten(outdated, page.entries);
      const bare = page.entries.filter(({ vectors }) => vectors.length === 0);
      const able = bare.filter(({ id, source }) => source !== "manual" && !failed.has(id));
      for (let i = 0; i < able.length; i += PART) {
        const part = able.slice(i, i + PART);
        const work = this.#part(part, caller);
        work.catch(() => part.forEach(({ id }) => outdated.unsure.add(id)));
        const { done, impossible, postponed } = await work;
        for (const id of impossible) failed.add(id);
        this.#failed += impossible.length;
        this.#done += done;
        outdated.left = Math.max(0, outdated.left - done - impossible.length);
        left += postponed;
      }
      cursor = walk.next(page);
    } while (cursor !== undefined);
    if (left > 0) throw new SvcError("overloaded");
    this.#scopes.delete(scopeKey(scope));
    if (this.#scopes.size > 0) return;
    // A client's own vectors of another model are left: there is no text to embed.
    this.#total = this.#done + this.#failed;
    logger.info("reembedded", { count: this.#done, failed: this.#failed });
  }

  /** Tells the index of memories that were written although the answer did not say so. */
  #showWritten({ unsure }: Outdated, rows: readonly IndexEntry[]): void {
    if (unsure.size === 0) return;
    const { index, tombstones } = this.#domain;
    const written = rows.filter(({ id, vectors }) => unsure.has(id) && vectors.length > 0);
    // What is deleted from now on leaves the index after this.
    index.apply(written.filter((row) => !tombstones.isGone(row, row.id, row.updatedAt)));
    for (const { id } of written) unsure.delete(id);
  }

  async #part(part: readonly IndexEntry[], caller: Caller | undefined): Promise<ReembeddedPart> {
    const { signal } = this.#closing;
    const [first] = part as readonly [IndexEntry, ...IndexEntry[]];
    using hold = await this.#domain.owners.holdFree(first.owner);
    if (hold === undefined) throw new SvcError("overloaded");
    const accountId = caller?.account.accountId ?? await this.#accountOf(first);
    if (accountId === undefined) throw new SvcError("storage_unavailable");
    const account = { accountId, owner: first.owner, active: true, keys: [] };
    return await reembedPart(this.#domain, { account, ...caller, signal }, part);
  }

  async #accountOf({ keyId, owner }: IndexEntry): Promise<string | undefined> {
    const key = this.#domain.keys.get(keyId);
    return key?.accountId ?? (await this.#domain.accounts.admin?.ofOwner(owner))?.accountId;
  }
}
