import { SvcError } from "../../../../src/errors.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import { scopeKey } from "../../../../src/interfaces/scope_key.ts";
import { columnsOf } from "../../../../src/storage/sqlite/database.ts";
import type { Listing } from "../discovery/listing.ts";
import type { Discovery } from "../discovery/look.ts";
import type { BlobBytes } from "../discovery/proven_bytes.ts";
import type { StoredBlob } from "../stored_blob.ts";
import type { BlobWriter } from "../upload/uploads.ts";
import type { WalrusState } from "../walrus_state.ts";
import { type MergeOptions, Merger } from "./merge.ts";
import type { MoveTeller } from "./moves.ts";
import { type KeptBlob, planScope, type Step } from "./plan.ts";

interface UpkeepOptions extends MergeOptions {
  readonly writer: BlobWriter;
  readonly bytes: Pick<BlobBytes, "patch" | "quilt" | "standalone">;
  readonly discovery: Pick<Discovery, "look" | "isOwn">;
  readonly listing: Pick<Listing, "index">;
  readonly moves: Pick<MoveTeller, "tell">;
  /** When the present Walrus epoch began, milliseconds since the epoch of time. */
  readonly epochStart: () => Promise<number>;
  /** Epochs a blob is paid for. */
  readonly epochs: number;
  /** Epochs before its end at which a blob is stored again; 0: never. */
  readonly renewBefore: number;
}

/** How many blobs a round stored again as they were, merged into others and noted as ended. */
interface Count {
  again: number;
  merged: number;
  expired: number;
}

/** What a round did. */
interface Round extends Readonly<Count> {
  /** Whether another round should come soon. */
  readonly more: boolean;
  /** What went wrong first; the rest was done, and another round goes on. */
  readonly failure?: SvcError;
}

interface Work {
  readonly scope: Scope;
  readonly step: Step;
}

/** Most blobs stored in one round: so many quilts of up to 4 MiB are in memory at a time. */
const MAX_WRITES = 16;
/** How long after its begin an epoch is left to others to renew what they stored. */
const OTHERS_MS = 6 * 3_600_000;
/** Scopes and blobs looked up at a time. */
const PAGE = 256;

/**
 * Renews blobs before they end, merges small quilts and leaves out deleted patches, a few blobs a
 * round. Every round begins with what an earlier one could not finish.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #merger: Merger;
  /** Scopes that needed nothing, with what that depends on. */
  readonly #planned = new Map<string, string>();
  /** Owners whose blobs this round has looked at. */
  readonly #looked = new Set<string>();
  /** The scope with which the next round begins. */
  #next: Scope | undefined;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#merger = new Merger(options);
  }

  /**
   * Finishes what earlier rounds could not, then plans one scope after the other until there is
   * enough to do. Renewals come before what only saves. Scopes are stored at the same time, so that
   * their blobs share transactions.
   *
   * @throws {SvcError} `storage_unavailable` when the state of Walrus cannot be read.
   */
  async round(): Promise<Round> {
    const { moves } = this.#options;
    const failures: unknown[] = [];
    this.#looked.clear();
    await this.#merger.resume().catch((error) => failures.push(error));
    const state = await this.#options.state();
    const since = await this.#options.epochStart();
    const due: Work[] = [];
    const early: Work[] = [];
    const count: Count = { again: 0, merged: 0, expired: 0 };
    let next: Scope | undefined;
    for (const scope of this.#scopes(this.#next)) {
      if (due.length >= MAX_WRITES) {
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
        // One scope must not keep others from being renewed.
        failures.push(error);
      }
    }
    const work = [...due, ...early];
    // The rest is planned again, after other scopes had their turn.
    this.#next = next ?? work[MAX_WRITES]?.scope;
    const turns = Map.groupBy(work.slice(0, MAX_WRITES), ({ scope }) => scopeKey(scope));
    await Promise.all([...turns.values()].map(async (turn) => {
      for (const { scope, step } of turn) {
        await this.#take(scope, step, count).catch((error) => failures.push(error));
      }
    }));
    count.expired += await this.#expireReplaced(state.epoch);
    await moves.tell();
    // A plan packs a limited number of quilts, so after a merge there may be others.
    const more = next !== undefined || work.length > MAX_WRITES || count.merged > 0;
    const [failure] = failures;
    return {
      ...count,
      more,
      ...(failure === undefined ? {} : { failure: SvcError.from(failure) }),
    };
  }

  /** All scopes with live blobs; after the last one come those before `first`. */
  *#scopes(first: Scope | undefined): Generator<Scope> {
    const { catalogue } = this.#options;
    if (first !== undefined) yield first;
    for (const wrapped of first === undefined ? [false] : [false, true]) {
      let after = wrapped ? undefined : first;
      for (let scopes = catalogue.scopes(after, PAGE); scopes.length > 0;) {
        for (const scope of scopes) {
          if (wrapped && scopeKey(scope) === scopeKey(first!)) return;
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
    const others = now() - since < OTHERS_MS;
    const foreign = (blob: StoredBlob) => !discovery.isOwn(blob.objectId);
    const known = catalogue.liveIn(scope);
    // As long as this is the same, nothing can have become due or worth a merge.
    const mark = `${state.epoch} ${known.length} ${others}`;
    const key = scopeKey(scope);
    if (this.#planned.get(key) === mark) return [];
    if (known.some((blob) => blob.endEpoch <= ends && blob.endEpoch > state.epoch)) {
      // The owner, or another relayer, may have renewed them already.
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
      // Lets the event loop run: a scope may have a million patches.
      await new Promise((resolve) => setTimeout(resolve, 0));
      const sizes = catalogue.livePatchesIn(scope, blob.blobId).map(({ size }) => size);
      const replaced = blob.quilt && catalogue.isDeleted(scope, blob.blobId);
      // A quilt that cannot be read now may hold memories, so it is kept for the next round.
      if (unread.has(blob.objectId) && !replaced) continue;
      const kept = replaced ? [] : sizes;
      const dead = catalogue.patchesIn(scope, blob.blobId).length - kept.length;
      blobs.push({ ...blob, live: kept, dead, foreign: others && foreign(blob) });
    }
    const steps = planScope(blobs, { ...state, epochs, renewBefore });
    if (steps.length === 0 && blobs.length === live.length) this.#planned.set(key, mark);
    else this.#planned.delete(key);
    return steps;
  }

  async #take(scope: Scope, step: Step, count: Count): Promise<void> {
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
      if (step.blob.live.length > 0 && catalogue.liveOf(scope, blob.blobId) === undefined) {
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
    // The end is part of the key, because the blob is stored again at its next end, too.
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

  /** Forgets ended blobs that others replaced; returns how many. */
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

  /** Forgets an ended blob, and the patches that no other object holds. */
  #expire(scope: Scope, { objectId, blobId, quilt }: StoredBlob): void {
    const { catalogue } = this.#options;
    catalogue.setState(objectId, "gone");
    if (catalogue.liveOf(scope, blobId) !== undefined) return;
    for (const { id } of catalogue.patchesIn(scope, blobId)) {
      // Until listeners were told of a move, the old id is needed.
      if (catalogue.movedTo(scope, id) !== undefined) continue;
      catalogue.removePatch(scope, id);
      catalogue.removeTombstone(scope, id);
      catalogue.dropDigest(id);
    }
    if (!quilt) return;
    catalogue.removeTombstone(scope, blobId);
    // A patch id begins with the bits of its quilt's id, whose last character is not complete.
    const prefix = blobId.slice(0, -1);
    const sql = `delete from move where owner = ? and namespace = ? and told = 1
       and from_id >= ? and from_id < ?`;
    catalogue.database.run(sql, ...columnsOf(scope), prefix, `${prefix}~`);
  }
}
