import { Deadline, pause } from "../../deadline.ts";
import { SvcError } from "../../errors.ts";
import { ScanWalk } from "../../index/scope_loading.ts";
import type { AccountRegistry, IndexEntry, Scope, VectorStore } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import type { KeyStore } from "../../interfaces/plugin.ts";
import type { Caller } from "../caller.ts";
import type { Logger } from "../../log.ts";
import { type EmbeddingAnew, type ReembeddedPart, reembedPart } from "./reembed_part.ts";

/** What a {@linkcode Reembedding} works with. */
type ReembeddingParts = EmbeddingAnew & {
  readonly vectorStore: Pick<VectorStore, "scan" | "outdated">;
  readonly keys: Pick<KeyStore, "get">;
  readonly accounts: Pick<AccountRegistry, "admin">;
  readonly logger: Logger;
};

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

  /** Does nothing before {@linkcode Reembedding.start}. */
  constructor(domain: ReembeddingParts) {
    this.#domain = domain;
  }

  /** Looks what is to be done, and begins. */
  async start(): Promise<void> {
    const { vectorStore, cipher, logger } = this.#domain;
    for (const { owner, namespace, count } of await vectorStore.outdated?.() ?? []) {
      const scope = { owner, namespace };
      this.#total += count;
      this.#scopes.set(scopeKey(scope), { scope, left: count, failed: new Set(), run: undefined });
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

  /** Whether it is at work; what waits for callers' credentials is not. */
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

  /** Stops after the part under way. */
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
      const bare = page.entries.filter(({ vectors }) => vectors.length === 0);
      const able = bare.filter(({ id, source }) => source !== "manual" && !failed.has(id));
      for (let i = 0; i < able.length; i += PART) {
        const part = able.slice(i, i + PART);
        const { done, impossible, postponed } = await this.#part(part, caller);
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

  async #part(part: readonly IndexEntry[], caller: Caller | undefined): Promise<ReembeddedPart> {
    const { signal } = this.#closing;
    const [first] = part as readonly [IndexEntry, ...IndexEntry[]];
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
