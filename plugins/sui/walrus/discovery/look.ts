import { abortable } from "../../../../src/deadline.ts";
import type { CallOptions, Scope } from "../../../../src/interfaces/mod.ts";
import {
  ATTRIBUTE_FORMAT,
  ATTRIBUTE_NAMESPACE,
  ATTRIBUTE_OWNER,
  ATTRIBUTE_PACKAGE,
  ATTRIBUTE_TYPE,
  FORMAT,
} from "../stored_blob.ts";
import type { Ground } from "../walrus_state.ts";
import type { ChainReads, OwnedBlob, Sent } from "./chain_reads.ts";
import { FoundRows, markIndexed, reviveStoredAnew } from "./found_rows.ts";

interface DiscoveryOptions extends Ground {
  readonly chain: Pick<ChainReads, "owned" | "attributes" | "senders">;
  /** Addresses of the wallets. */
  readonly wallets: readonly string[];
  /** Addresses whose blobs are trusted, besides the wallets' and the owner's own. */
  readonly writers: readonly string[];
  /** Package whose blobs are taken; when absent, blobs that name none. */
  readonly packageId?: string | undefined;
}

/** An owner's look under way, and the one that begins when it ends. */
interface Looks {
  now?: Promise<void>;
  next?: Promise<void>;
}

/** Noted as the sender of what this machine stored itself. */
const OWN = "";

/** Longest namespace that is read from the chain, in UTF-16 units; those of callers are shorter. */
const MAX_NAMESPACE = 1024;

/**
 * Finds blobs on chain that this machine does not know. Anybody can send objects to an address and
 * give them any attributes, so a blob counts only when the transaction that changed it last was
 * sent by the owner, by one of the wallets or by a writer that is named in the settings.
 */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #rows: FoundRows;
  readonly #writers: ReadonlySet<string>;
  readonly #looks = new Map<string, Looks>();
  readonly #closing = new AbortController();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#rows = new FoundRows(options.catalogue.database);
    this.#writers = new Set([...options.wallets, ...options.writers]);
  }

  /** Whether an object was stored by this machine, or by its wallets elsewhere. */
  isOwn(objectId: string): boolean {
    const sender = this.#rows.senderOf(objectId);
    return sender === undefined || sender === OWN || this.#options.wallets.includes(sender);
  }

  /** Whether an address may write blobs of an owner. */
  trusts(sender: string, owner: string): boolean {
    return sender === owner || this.#writers.has(sender);
  }

  /**
   * Brings the catalogue of an owner's blobs up to date. Each page of objects costs one request,
   * and when some are new or changed, one for the senders and one for the attributes. Calls for
   * one owner at the same time share a look that begins after them.
   *
   * @throws {SvcError} `storage_unavailable` when the chain does not answer.
   */
  async look(owner: string, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    const looks = this.#looks.getOrInsertComputed(owner, () => ({}));
    if (looks.now === undefined) looks.now = this.#start(owner, looks, Promise.resolve());
    else looks.next ??= this.#start(owner, looks, looks.now.catch(() => {}));
    await abortable(looks.next ?? looks.now, signal);
  }

  /** Ends the looks under way with the reason, and refuses later ones with it. */
  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason);
    const all = [...this.#looks.values()].flatMap(({ now, next }) => [now, next]);
    await Promise.allSettled(all);
  }

  async #start(owner: string, looks: Looks, before: Promise<void>): Promise<void> {
    await before;
    if (looks.next !== undefined) {
      looks.now = looks.next;
      delete looks.next;
    }
    try {
      this.#closing.signal.throwIfAborted();
      await this.#look(owner);
    } finally {
      if (looks.next === undefined) this.#looks.delete(owner);
    }
  }

  async #look(owner: string): Promise<void> {
    const { catalogue, chain } = this.#options;
    const { epoch } = await this.#options.state();
    const look = this.#rows.nextLook(owner);
    for await (const page of chain.owned(owner, this.#closing.signal)) {
      const blobs = page.filter(({ certifiedEpoch, endEpoch }) =>
        certifiedEpoch !== undefined && endEpoch > epoch
      );
      await this.#take(owner, blobs, look);
    }
    await catalogue.database.write(() => {
      for (const objectId of this.#rows.unseen(owner, look)) {
        const state = catalogue.stored(objectId)?.state;
        // An object in the catalogue keeps a row: without one it would pass for our own.
        if (state === undefined) this.#rows.remove(objectId);
        else this.#rows.reopen(objectId);
        if (state === "live") catalogue.setState(objectId, "gone");
      }
      for (const objectId of this.#rows.leftUnread(owner, look)) {
        catalogue.setState(objectId, "live");
      }
    });
  }

  async #take(owner: string, blobs: readonly OwnedBlob[], look: number): Promise<void> {
    const { signal } = this.#closing;
    await this.#takeOwn(owner, blobs, look);
    await this.#noteSenders(owner, blobs, look);
    const { catalogue, chain } = this.#options;
    const fresh = blobs.flatMap((blob) => {
      const row = this.#rows.get(blob.objectId, blob.version);
      return row?.taken === 0 && this.trusts(row.sender, owner) ? [{ blob, at: row.at }] : [];
    });
    if (fresh.length === 0) return;
    const attributes = await chain.attributes(fresh.map(({ blob }) => blob.objectId), signal);
    await catalogue.database.write(() => {
      for (const { blob, at } of fresh) {
        const known = attributes.get(blob.objectId) ?? new Map<string, string>();
        const scope = this.#scopeOf(owner, known);
        this.#rows.setTaken(blob.objectId, scope !== undefined);
        if (scope === undefined) continue;
        const { objectId, blobId, size, endEpoch } = blob;
        const quilt = known.get(ATTRIBUTE_TYPE) === "quilt";
        const state = catalogue.stored(objectId)?.state === "replaced" ? "replaced" : "live";
        const stored = { ...scope, objectId, blobId, holder: owner, quilt, size, endEpoch };
        catalogue.addStored({ ...stored, createdAt: at }, state);
        if (quilt) continue;
        reviveStoredAnew(catalogue, scope, blobId);
        if (catalogue.isDeleted(scope, blobId)) continue;
        catalogue.addPatch(scope, blobId, { id: blobId, identifier: "", size }, at);
      }
    });
  }

  /** Finds out who changed objects last that are new or were changed. */
  async #noteSenders(owner: string, blobs: readonly OwnedBlob[], look: number): Promise<void> {
    const { catalogue, chain, log } = this.#options;
    const { signal } = this.#closing;
    const unknown = blobs.filter((blob) => !this.#rows.get(blob.objectId, blob.version));
    const senders = unknown.length === 0
      ? new Map<string, Sent>()
      : await chain.senders(unknown.map(({ transaction }) => transaction), signal);
    await catalogue.database.write(() => {
      for (const blob of blobs) this.#rows.see(blob.objectId, look);
      for (const blob of unknown) {
        const sent = senders.get(blob.transaction);
        if (sent === undefined) continue;
        this.#rows.put(owner, blob, sent, look);
        const known = catalogue.stored(blob.objectId)?.state === "live";
        if (known && !this.trusts(sent.sender, owner)) catalogue.setState(blob.objectId, "gone");
      }
    });
    const unproven = unknown.filter(({ transaction }) => !senders.has(transaction)).length;
    if (unproven > 0) {
      log("warn", `walrus: ${unproven} blobs are left out: nobody knows who sent them`);
    }
  }

  /** Takes what this machine stored without a look at its sender and attributes. */
  async #takeOwn(owner: string, blobs: readonly OwnedBlob[], look: number): Promise<void> {
    const { catalogue } = this.#options;
    const own = blobs.flatMap((blob) => {
      const isKnown = this.#rows.senderOf(blob.objectId) !== undefined;
      const stored = isKnown ? undefined : catalogue.stored(blob.objectId);
      return stored?.owner === owner ? [{ blob, stored }] : [];
    });
    if (own.length === 0) return;
    await catalogue.database.write(() => {
      for (const { blob, stored } of own) {
        this.#rows.put(owner, blob, { sender: OWN, at: stored.createdAt }, look);
        this.#rows.setTaken(blob.objectId, true);
        catalogue.addStored({ ...stored, endEpoch: blob.endEpoch }, stored.state);
        if (stored.quilt) markIndexed(catalogue.database, stored, stored.blobId);
      }
    });
  }

  #scopeOf(owner: string, attributes: ReadonlyMap<string, string>): Scope | undefined {
    const namespace = attributes.get(ATTRIBUTE_NAMESPACE);
    const ours = attributes.get(ATTRIBUTE_FORMAT) === FORMAT &&
      attributes.get(ATTRIBUTE_OWNER) === owner &&
      attributes.get(ATTRIBUTE_PACKAGE) === this.#options.packageId;
    if (!ours || namespace === undefined || namespace.length > MAX_NAMESPACE) return undefined;
    return { owner, namespace };
  }
}
