import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { Expiry, ExpiryStore, Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { applyDeletion, type Gone, type Removing } from "./remove.ts";
import { storedEntries } from "../open.ts";

/** How often expired memories are looked for, milliseconds. */
const SWEEP_MS = 60_000;

/** Removes expired memories; answers which. */
async function remove(
  domain: Removing,
  scope: Scope,
  expired: readonly Gone[],
): Promise<ReadonlySet<string>> {
  // What is being replaced may last longer than the version that is indexed.
  const over = expired.filter(({ id, version = 0 }) =>
    (domain.jobs.newestOf(scope.owner, id)?.job.version ?? 0) <= version
  );
  const ids = new Set(over.map(({ id }) => id));
  if (over.length === 0) return ids;
  domain.tombstones.addTombstones(scope, [...ids], domain.now());
  const live = domain.jobs.liveIn(scope).filter(({ job }) => ids.has(job.memoryId));
  await applyDeletion(domain, scope, over, live);
  return ids;
}

type Expiring = Removing & Uses<{ owners: "holdFree" }>;

/** Deletes memories that have expired, whether or not somebody came across them. */
export class ExpirySweeper implements AsyncDisposable {
  readonly #domain: Expiring;
  readonly #expiries: Pick<ExpiryStore, "due" | "remove">;
  #closing = false;
  #running: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(domain: Expiring, expiries: Pick<ExpiryStore, "due" | "remove">) {
    this.#domain = domain;
    this.#expiries = expiries;
  }

  /** Looks at once, since memories may have expired while nothing ran, and each minute. */
  start(): void {
    this.#running = this.#sweep()
      .catch((error) => this.#noteFailure(error))
      .finally(() => {
        if (!this.#closing) this.#timer = setTimeout(() => this.start(), SWEEP_MS);
      });
  }

  /** Deletes the expired memories of a scope that somebody came across, in the background. */
  purge(scope: Scope): void {
    void this.#purge(scope).catch((error) => this.#noteFailure(error));
  }

  /** Stops; what is due still is deleted by the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #purge(scope: Scope): Promise<void> {
    using hold = this.#domain.owners.holdOwn(scope.owner);
    if (hold === undefined) return;
    const now = this.#domain.now();
    const expired = await this.#domain.index.read(
      scope,
      (loaded) => loaded.entries().filter((memory) => (memory.expiresAt ?? Infinity) <= now),
    );
    await remove(this.#domain, scope, expired);
  }

  #noteFailure(error: unknown): void {
    this.#domain.logger.warn("purge_failed", { reason: SvcError.from(error).code });
  }

  /** Tries everything that is due: what fails in one scope must not hold up the others. */
  async #sweep(): Promise<void> {
    const until = this.#domain.now();
    const failures: unknown[] = [];
    for (let page = await this.#expiries.due(until); page.length > 0;) {
      const scopes = Map.groupBy(page, scopeKey);
      for (const group of scopes.values()) {
        if (this.#closing) return;
        await this.#removeFrom(group).catch((error) => failures.push(error));
      }
      page = await this.#expiries.due(until, page.at(-1));
    }
    if (failures.length > 0) throw failures[0];
  }

  async #removeFrom(group: readonly Expiry[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    const { owner, namespace } = first;
    const { jobs, now } = this.#domain;
    // Another relayer looks after those that it has.
    using hold = await this.#domain.owners.holdFree(owner);
    if (hold === undefined) return;
    // Before the rows are read: a job may be about to write one.
    const waiting = new Set(jobs.liveIn(first).map(({ job }) => job.memoryId));
    const rows = await storedEntries(this.#domain, owner, group.map(({ id }) => id));
    const expired = rows.filter((row) =>
      row.namespace === namespace && (row.expiresAt ?? Infinity) <= now()
    );
    const removed = await remove(this.#domain, { owner, namespace }, expired);
    // One that is being replaced is looked at again: its replacement may fail.
    for (const { id } of expired) if (!removed.has(id)) waiting.add(id);
    for (const id of removed) waiting.delete(id);
    await this.#expiries.remove(group.filter(({ id }) => !waiting.has(id)));
  }
}
