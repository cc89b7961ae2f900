import { SvcError } from "../../../../src/errors.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import { scopeKey } from "../../../../src/interfaces/scope_key.ts";
import { columnsOf } from "../../../../src/storage/sqlite/database.ts";
import type { Catalogue } from "../catalogue.ts";
import type { Listing } from "../discovery/listing.ts";
import type { Discovery } from "../discovery/look.ts";
import type { BlobBytes } from "../discovery/proven_bytes.ts";
import type { BlobWriter, StoredBlob } from "../stored_blob.ts";
import type { Prices } from "./cost.ts";
import { Merger } from "./merge.ts";
import type { MoveTeller } from "./moves.ts";
import { type KeptBlob, planScope, type Step } from "./plan.ts";
import { UpkeepRows } from "./upkeep_rows.ts";

/** Walrus, as upkeep needs to know it. */
export interface WalrusState {
  /** The present epoch. */
  readonly epoch: number;
  /** Shards of the network. */
  readonly shards: number;
  /** What storing costs. */
  readonly prices: Prices;
}

/** Options of {@linkcode Upkeep}. */
export interface UpkeepOptions {
  /** What is known here; its file has `UPKEEP_SCHEMA`. */
  readonly catalogue: Catalogue;
  /** Stores. */
  readonly writer: BlobWriter;
  /** Reads what is stored again. */
  readonly bytes: Pick<BlobBytes, "patch" | "quilt" | "standalone">;
  /** Finds what others stored in the meantime. */
  readonly discovery: Pick<Discovery, "look" | "isOwn">;
  /** Knows what is in a quilt. */
  readonly listing: Pick<Listing, "index">;
  /** Tells of moves. */
  readonly moves: Pick<MoveTeller, "tell">;
  /** The state of Walrus. */
  readonly state: () => Promise<WalrusState>;
  /** When the present epoch began, milliseconds since the epoch of time. */
  readonly epochStart: () => Promise<number>;
  /** Epochs a blob is paid for. */
  readonly epochs: number;
  /** Epochs before its end at which a blob is stored again; 0: never. */
  readonly renewBefore: number;
  /** Most blobs stored in one round. */
  readonly maxWrites?: number;
  /** Milliseconds of an epoch in which others may renew what they stored; six hours if absent. */
  readonly othersMs?: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Notes for the operator. */
  readonly log: (level: "info" | "warn", message: string) => void;
}

/** What a round did. */
export interface Round {
  /** Blobs stored again as they were. */
  readonly again: number;
  /** Quilts that were merged into others. */
  readonly merged: number;
  /** Blobs that ended. */
  readonly expired: number;
  /** Whether there was more to do than a round may. */
  readonly more: boolean;
  /** What went wrong first; what was done stays done, and another round goes on. */
  readonly failure?: SvcError;
}

interface Work {
  readonly scope: Scope;
  readonly step: Step;
}

function isSame(a: Scope, b: Scope | undefined): boolean {
  return b !== undefined && scopeKey(a) === scopeKey(b);
}

/** Quilts of up to 4 MiB that are in memory at a time. */
const MAX_WRITES = 16;
const OTHERS_MS = 6 * 3_600_000;
/** Scopes and blobs looked up at a time. */
const PAGE = 256;

/**
 * Keeps what is stored from ending, merges small quilts and drops deleted patches, a few blobs a
 * round. Every round begins with what an earlier one could not finish.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #merger: Merger;
  readonly #rows: UpkeepRows;
  /** Scopes that needed nothing, and what that was seen by. */
  readonly #planned = new Map<string, string>();
  /** Owners whose blobs were looked at in this round. */
  readonly #looked = new Set<string>();
  /** Scope the next round begins with. */
  #next: Scope | undefined;

  /** Does nothing by itself. */
  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#merger = new Merger(options);
    this.#rows = new UpkeepRows(options.catalogue.database);
  }

  /**
   * One round: what earlier ones could not finish, then the scopes one after the other until there
   * is enough to do. What ends comes before what only saves; what is stored is stored together, so
   * that it shares transactions.
   *
   * @throws {SvcError} `storage_unavailable` when the state of Walrus cannot be read.
   */
  async round(): Promise<Round> {
    const { moves, maxWrites = MAX_WRITES } = this.#options;
    const failures: unknown[] = [];
    this.#looked.clear();
    await this.#merger.resume().catch((error) => failures.push(error));
    const state = await this.#options.state();
    const since = await this.#options.epochStart();
    const due: Work[] = [];
    const early: Work[] = [];
    const count = { again: 0, merged: 0, expired: 0 };
    let next: Scope | undefined;
    for (const scope of this.#scopes(this.#next)) {
      if (due.length >= maxWrites) {
        next = scope;
        break;
      }
      try {
        for (const step of await this.#plan(scope, state, since)) {
          const writes = step.kind === "again" || step.kind === "merge";
          if (!writes) await this.#take(scope, step, count);
          else (step.kind === "merge" && step.early ? early : due).push({ scope, step });
        }
      } catch (error) {
        // One scope must not keep the others from being renewed.
        failures.push(error);
      }
    }
    const work = [...due, ...early];
    // The rest is planned again, when others have had their turn.
    this.#next = next ?? work[maxWrites]?.scope;
    const turns = Map.groupBy(work.slice(0, maxWrites), ({ scope }) => scopeKey(scope));
    await Promise.all([...turns.values()].map(async (turn) => {
      for (const { scope, step } of turn) {
        await this.#take(scope, step, count).catch((error) => failures.push(error));
      }
    }));
    count.expired += await this.#expireReplaced(state.epoch);
    await moves.tell();
    // A plan packs only so many quilts at a time: after a merge there may be others to merge.
    const more = next !== undefined || work.length > maxWrites || count.merged > 0;
    const [failure] = failures;
    return {
      ...count,
      more,
      ...(failure === undefined ? {} : { failure: SvcError.from(failure) }),
    };
  }

  /** Scopes with live blobs, beginning with one of them and going round. */
  *#scopes(first: Scope | undefined): Generator<Scope> {
    const { catalogue } = this.#options;
    if (first !== undefined) yield first;
    for (const wrapped of first === undefined ? [false] : [false, true]) {
      let after = wrapped ? undefined : first;
      for (let scopes = catalogue.scopes(after, PAGE); scopes.length > 0;) {
        for (const scope of scopes) {
          if (wrapped && isSame(scope, first)) return;
          yield scope;
        }
        after = scopes.at(-1);
        scopes = catalogue.scopes(after, PAGE);
      }
    }
  }

  async #plan(scope: Scope, state: WalrusState, since: number): Promise<Step[]> {
    const { catalogue, discovery, listing, epochs, renewBefore, now } = this.#options;
    const ends = state.epoch + renewBefore;
    const others = now() - since < (this.#options.othersMs ?? OTHERS_MS);
    const foreign = (blob: StoredBlob) => !discovery.isOwn(blob.objectId);
    const known = catalogue.liveIn(scope);
    // Nothing can have become due, or worth a merge, while neither changed.
    const mark = `${state.epoch} ${known.length} ${others}`;
    const key = scopeKey(scope);
    if (this.#planned.get(key) === mark) return [];
    if (known.some((blob) => blob.endEpoch <= ends && blob.endEpoch > state.epoch)) {
      // The owner, or another relayer, may have done it already.
      if (!this.#looked.has(scope.owner)) await discovery.look(scope.owner);
      this.#looked.add(scope.owner);
    }
    const live = catalogue.liveIn(scope);
    const unread = new Set<string>();
    for (const blob of live) {
      if (blob.endEpoch <= state.epoch) continue;
      if (!await listing.index(blob)) unread.add(blob.objectId);
    }
    const blobs: KeptBlob[] = [];
    for (const blob of live) {
      // Between blobs others have their turn: a scope may have a million patches.
      await new Promise((resolve) => setTimeout(resolve, 0));
      const sizes = this.#liveSizes(scope, blob.blobId);
      const count = catalogue.database.get<{ count: number }>(
        "select count(*) as count from patch where owner = ? and namespace = ? and blob_id = ?",
        ...columnsOf(scope),
        blob.blobId,
      )?.count ?? 0;
      const replaced = blob.quilt && catalogue.isDeleted(scope, blob.blobId);
      // It may be read the next time: what is not known to be needless is not given up.
      if (unread.has(blob.objectId) && !replaced) continue;
      const kept = replaced ? [] : sizes;
      const dead = count - kept.length;
      blobs.push({ ...blob, live: kept, dead, foreign: others && foreign(blob) });
    }
    const steps = planScope(blobs, { ...state, epochs, renewBefore });
    if (steps.length === 0 && blobs.length === live.length) this.#planned.set(key, mark);
    else this.#planned.delete(key);
    return steps;
  }

  /** Sizes of the patches of a blob that are neither deleted nor moved. */
  #liveSizes({ owner, namespace }: Scope, blobId: string): number[] {
    return this.#options.catalogue.database.all<{ size: number }>(
      `select size from patch as p where owner = ? and namespace = ? and blob_id = ?
       and not exists (select 1 from tombstone as t
         where t.owner = p.owner and t.namespace = p.namespace and t.id = p.id)
       and not exists (select 1 from move as m
         where m.owner = p.owner and m.namespace = p.namespace and m.from_id = p.id)`,
      ...columnsOf({ owner, namespace }),
      blobId,
    ).map(({ size }) => size);
  }

  async #take(
    scope: Scope,
    step: Step,
    count: { again: number; merged: number; expired: number },
  ): Promise<void> {
    const { catalogue, log } = this.#options;
    if (step.kind === "merge") {
      const sources = step.blobs.flatMap(({ objectId }) => catalogue.stored(objectId) ?? []);
      await this.#merger.merge(scope, sources);
      count.merged += sources.length;
      return;
    }
    const blob = catalogue.stored(step.blob.objectId);
    if (blob === undefined) return;
    if (step.kind === "again") {
      await this.#storeAgain(blob);
      count.again++;
    } else if (step.kind === "leave") {
      await catalogue.database.write(() => catalogue.setState(blob.objectId, "replaced"));
    } else {
      count.expired++;
      await catalogue.database.write(() => this.#expire(scope, blob));
      if (step.blob.live.length > 0 && !this.#isStored(scope, blob.blobId)) {
        log("warn", `walrus: ${step.blob.live.length} stored memories ended without a renewal`);
      }
    }
  }

  async #storeAgain(blob: StoredBlob): Promise<void> {
    const { catalogue, bytes, writer } = this.#options;
    const { owner, namespace, blobId, quilt, endEpoch, objectId } = blob;
    const content = quilt ? (await bytes.quilt(blob))?.bytes : await bytes.standalone(blob);
    if (content === undefined) {
      throw new SvcError("storage_unavailable", "A blob that ends cannot be read");
    }
    // With its end in the key: the same blob is stored again at its next end, too.
    const key = `again:${blobId}:${endEpoch}`;
    const stored = await writer.storeAgain({
      owner,
      namespace,
      blobId,
      bytes: content,
      quilt,
      key,
    });
    await catalogue.database.write(() => {
      catalogue.addStored({ ...stored, createdAt: blob.createdAt });
      if (stored.endEpoch > endEpoch) catalogue.setState(objectId, "replaced");
    });
  }

  /** Forgets ended blobs that others replaced; answers how many. */
  async #expireReplaced(epoch: number): Promise<number> {
    const { catalogue } = this.#options;
    const ended = catalogue.database.all<{ id: string }>(
      `select object_id as id from stored where state = 'replaced' and end_epoch <= ? limit ${PAGE}`,
      epoch,
    ).flatMap(({ id }) => catalogue.stored(id) ?? []);
    await catalogue.database.write(() => {
      for (const blob of ended) this.#expire(blob, blob);
    });
    return ended.length;
  }

  #isStored(scope: Scope, blobId: string): boolean {
    return this.#options.catalogue.liveOf(scope, blobId) !== undefined;
  }

  /** Forgets an ended blob, and what was only in it. */
  #expire(scope: Scope, { objectId, blobId, quilt }: StoredBlob): void {
    const { catalogue } = this.#options;
    catalogue.setState(objectId, "gone");
    if (this.#isStored(scope, blobId)) return;
    for (const { id } of catalogue.patchesIn(scope, blobId)) {
      // The name of one that was not told to have moved is still needed.
      if (catalogue.movedTo(scope, id) !== undefined) continue;
      catalogue.removePatch(scope, id);
      catalogue.removeTombstone(scope, id);
      catalogue.database.run("delete from digest where id = ?", id);
    }
    if (!quilt) return;
    catalogue.removeTombstone(scope, blobId);
    this.#rows.forgetMoves(scope, blobId);
  }
}
