import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { SuiClientTypes } from "@mysten/sui/client";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { SvcError } from "../../../../src/errors.ts";
import { type ChainBlob, parseBlobObject } from "../blob_object.ts";

/** BCS of the field of a Blob object that holds its attributes: `vector<u8>` to `Metadata`. */
const AttributesField = bcs.struct("Field", {
  id: bcs.Address,
  name: bcs.byteVector(),
  metadata: bcs.vector(bcs.struct("Entry", { key: bcs.string(), value: bcs.string() })),
});

const ATTRIBUTES_NAME = bcs.byteVector().serialize(new TextEncoder().encode("metadata")).toBytes();

/** Objects and transactions of one request: the node's limit for batches. */
const BATCH = 50;

const INCLUDE = { content: true, previousTransaction: true } as const;
type Page = SuiClientTypes.ListOwnedObjectsResponse<typeof INCLUDE>;

/** A Blob object that somebody holds. */
export interface OwnedBlob extends ChainBlob {
  /** Raised by every transaction that takes the object, also by those that change attributes. */
  readonly version: string;
  /** Digest of the transaction that changed it last. */
  readonly transaction: string;
}

/** Who sent a transaction, not who sponsored it, and when it was executed. */
export interface Sent {
  readonly sender: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The reads that discovery makes of the chain, in batches. */
export class ChainReads {
  readonly #sui: SuiGrpcClient;
  readonly #archive: SuiGrpcClient | undefined;
  readonly #blobType: () => string | Promise<string>;

  /**
   * @param blobType returns the exact type of Blob objects, `<package>::blob::Blob`; called for each
   * listing, because the type changes when a node has lied about it.
   * @param archive has the transactions that the node has forgotten; nodes keep some weeks.
   */
  constructor(
    sui: SuiGrpcClient,
    blobType: () => string | Promise<string>,
    archive?: SuiGrpcClient,
  ) {
    this.#sui = sui;
    this.#blobType = blobType;
    this.#archive = archive;
  }

  /** Blob objects of an address, page by page, in the order of the node. */
  async *owned(owner: string, signal?: AbortSignal): AsyncGenerator<OwnedBlob[]> {
    const type = await this.#blobType();
    let cursor: string | null = null;
    const seen = new Set<string>();
    do {
      const page: Page = await guarded(
        this.#sui.listOwnedObjects({
          owner,
          type,
          cursor,
          limit: BATCH,
          include: INCLUDE,
          ...(signal === undefined ? {} : { signal }),
        }),
        signal,
      );
      yield page.objects.flatMap((object): OwnedBlob[] => {
        const { version, content, previousTransaction } = object;
        if (object.type !== type || previousTransaction === null) return [];
        return [{ ...parseBlobObject(content), version, transaction: previousTransaction }];
      });
      cursor = page.hasNextPage ? page.cursor : null;
      // Otherwise a node that repeats a page would never let this end.
      if (cursor !== null && seen.has(cursor)) throw unavailable();
      if (cursor !== null) seen.add(cursor);
    } while (cursor !== null);
  }

  /** Attributes by object id; blobs without, or with unreadable ones, are left out. */
  async attributes(
    objectIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, ReadonlyMap<string, string>>> {
    const { objects } = await guarded(
      this.#sui.getObjects({
        objectIds: objectIds.map((id) => deriveDynamicFieldID(id, "vector<u8>", ATTRIBUTES_NAME)),
        include: { content: true },
        ...(signal === undefined ? {} : { signal }),
      }),
      signal,
    );
    const found = new Map<string, ReadonlyMap<string, string>>();
    if (objects.length !== objectIds.length) throw unavailable();
    for (const [n, object] of objects.entries()) {
      if (object instanceof Error) {
        if ("code" in object && object.code === "notExists") continue;
        throw unavailable(object);
      }
      const attributes = parseAttributes(object.content);
      if (attributes !== undefined) found.set(objectIds[n]!, attributes);
    }
    return found;
  }

  /** Senders by digest; transactions that neither node nor archive have are left out. */
  async senders(digests: readonly string[], signal?: AbortSignal): Promise<Map<string, Sent>> {
    const found = new Map<string, Sent>();
    for (const sui of [this.#sui, this.#archive]) {
      const left = [...new Set(digests)].filter((digest) => !found.has(digest));
      if (sui === undefined) continue;
      for (let at = 0; at < left.length; at += BATCH) {
        await addSenders(sui, left.slice(at, at + BATCH), found, signal);
      }
    }
    return found;
  }
}

async function addSenders(
  sui: SuiGrpcClient,
  digests: readonly string[],
  found: Map<string, Sent>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { response } = await guarded(
    sui.ledgerService.batchGetTransactions({
      digests: [...digests],
      readMask: { paths: ["digest", "transaction.sender", "timestamp"] },
    }, signal === undefined ? {} : { abort: signal }),
    signal,
  );
  for (const [n, { result }] of response.transactions.entries()) {
    if (result.oneofKind !== "transaction") continue;
    const { digest, transaction, timestamp } = result.transaction;
    const sender = transaction?.sender;
    if (digest !== digests[n] || sender === undefined || timestamp === undefined) continue;
    const at = Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1e6);
    found.set(digest!, { sender, at });
  }
}

function parseAttributes(content: Uint8Array): ReadonlyMap<string, string> | undefined {
  try {
    const { metadata } = AttributesField.parse(content);
    return new Map(metadata.map(({ key, value }) => [key, value]));
  } catch {
    return undefined;
  }
}

function unavailable(cause?: unknown): SvcError {
  return new SvcError("storage_unavailable", "The chain does not answer", { cause });
}

async function guarded<T>(call: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    signal?.throwIfAborted();
    throw unavailable(cause);
  }
}
