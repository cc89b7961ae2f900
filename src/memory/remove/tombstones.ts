import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { backoff } from "../../jobs/retries.ts";
import type { UnsentTombstone } from "../../storage/core/tombstone_blob_table.ts";
import { encodeBlob, timeText } from "../record.ts";

/**
 * The plaintext of a sealed tombstone: deletions, for a relayer that restores from the blob store
 * alone. Times are RFC 3339, UTC.
 */
export interface TombstoneRecord {
  /** Format of the record: 1. */
  readonly v: 1;
  /** Id of the tombstone itself, a UUID. */
  readonly id: string;
  readonly deleted: readonly string[];
  /** Everything the namespace held until then was deleted. */
  readonly forgotten_until?: string;
  readonly created_at: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Canonical JSON of a tombstone: members in a fixed order, without blanks. */
function encodeTombstone(record: TombstoneRecord): Uint8Array {
  const { v, id, deleted, forgotten_until, created_at } = record;
  return encoder.encode(JSON.stringify({ v, id, deleted, forgotten_until, created_at }));
}

/** A tombstone from its canonical JSON; `undefined` for every other record. */
export function decodeTombstone(bytes: Uint8Array): TombstoneRecord | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isTombstone(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTombstone(value: unknown): value is TombstoneRecord {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Partial<Record<keyof TombstoneRecord, unknown>>;
  const until = record.forgotten_until;
  return record.v === 1 && typeof record.id === "string" &&
    typeof record.created_at === "string" && Array.isArray(record.deleted) &&
    record.deleted.every((id) => typeof id === "string") &&
    (until === undefined || typeof until === "string" && !Number.isNaN(Date.parse(until)));
}

type SendingTombstones = Uses<{
  cipher: "seal";
  blobStore: "put";
  tombstoneBlobs: "unsent" | "sent";
  owners: "holdOwn";
  logger: true;
  now: true;
}>;

/** Deletions taken up together. */
const BATCH = 2_000;

/**
 * Puts sealed tombstones into blob stores that keep the bytes of deleted memories, so that a
 * restore elsewhere does not bring those back. One blob for all deletions of a scope that wait.
 */
export class TombstoneSender implements AsyncDisposable {
  readonly #domain: SendingTombstones;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #again = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(domain: SendingTombstones) {
    this.#domain = domain;
  }

  /** To be called when deletions may wait. */
  notify(): void {
    if (this.#closing.signal.aborted) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => this.#running = undefined);
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Stops; what is unsent is sent by the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new SvcError("shutting_down"));
    clearTimeout(this.#timer);
    await this.idle();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failure: unknown;
    while (this.#again && !signal.aborted) {
      this.#again = false;
      failure = await this.#sendAll().then(() => undefined, (error: unknown) => error);
    }
    if (signal.aborted) return;
    if (failure === undefined) {
      this.#failures = 0;
      return;
    }
    this.#domain.logger.warn("tombstones_not_sent", { reason: SvcError.from(failure).code });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.notify(), backoff(++this.#failures, Math.random()));
  }

  /** Tries everything that waits: what one account's keys refuse must not hold up the others. */
  async #sendAll(): Promise<void> {
    const { signal } = this.#closing;
    const failures: unknown[] = [];
    for (let after = 0; !signal.aborted;) {
      const waiting = this.#domain.tombstoneBlobs.unsent(BATCH, after);
      const groups = Map.groupBy(waiting, (item) => `${item.accountId}\n${scopeKey(item)}`);
      const sends = [...groups.values()].map((group) => this.#send(group));
      for (const result of await Promise.allSettled(sends)) {
        if (result.status === "rejected") failures.push(result.reason);
      }
      const last = waiting.at(-1);
      if (last === undefined || waiting.length < BATCH) break;
      after = last.seq;
    }
    if (failures.length > 0) throw SvcError.from(failures[0]);
  }

  async #send(group: readonly UnsentTombstone[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    const { accountId, owner, namespace } = first;
    using hold = this.#domain.owners.holdOwn(owner);
    if (hold === undefined) return;
    const scope: Scope = { owner, namespace };
    const forgotten = group.find(({ id }) => id === "");
    // The same deletions have the same id, so that a try after a crash is answered the first blob.
    const id = await tombstoneId(group);
    const record = encodeTombstone({
      v: 1,
      id,
      deleted: group.flatMap((tombstone) => tombstone.id === "" ? [] : [tombstone.id]),
      ...(forgotten === undefined ? {} : { forgotten_until: timeText(forgotten.at) }),
      created_at: timeText(this.#domain.now()),
    });
    const { signal } = this.#closing;
    const sealed = await this.#domain.cipher.seal(record, { accountId, ...scope, memoryId: id }, {
      signal,
    });
    const blobId = await this.#domain.blobStore.put(encodeBlob({ memoryId: id, ...sealed }), {
      ...scope,
      idempotencyKey: `tombstone:${id}`,
      signal,
    });
    this.#domain.tombstoneBlobs.sent(scope, blobId, group);
  }
}

/** A UUID of version 8 out of what the tombstone holds. */
async function tombstoneId(group: readonly UnsentTombstone[]): Promise<string> {
  const text = JSON.stringify(group.map(({ seq, accountId, id, at }) => [seq, accountId, id, at]));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = new Uint8Array(digest).toHex();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-` +
    hex.slice(20, 32);
}
