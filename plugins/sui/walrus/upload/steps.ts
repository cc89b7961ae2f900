import { createHash } from "node:crypto";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { WalrusClient } from "@mysten/walrus";
import type { ChainBlob } from "../blob_object.ts";
import type { Ground } from "../walrus_state.ts";
import { certifies, encodeCertificate } from "./certificate.ts";
import type { Chain } from "./chain.ts";
import type { Clock } from "../clock.ts";
import type { Completion } from "./completion.ts";
import type { Encoder } from "./encoder.ts";
import { StepFailure } from "./failure.ts";
import { type Outcome, settle } from "./transactions.ts";
import type { Upload } from "./upload.ts";
import { type BlobFiles, UploadBytes } from "./upload_bytes.ts";
import {
  type Progress,
  type SavedTransaction,
  type SignedTransaction,
  UNREGISTERED,
} from "./upload_rows.ts";
import type { Lease } from "./wallets.ts";

/** What the steps of an upload work with. */
export interface StepParts extends Completion, Ground {
  readonly files: BlobFiles;
  readonly encoder: Encoder;
  readonly chain: Chain;
  readonly sui: SuiGrpcClient;
  readonly walrus: WalrusClient;
  /** Where blobs go when there is no relay. */
  readonly publisher?: { readonly url: string; readonly http: typeof fetch } | undefined;
  readonly epochs: number;
  readonly clock: Clock;
  /** Called between every two steps, for tests. */
  readonly failpoint: (name: string) => void;
}

const ENDED = () =>
  new StepFailure("refused", "chain", "the space paid for ended before the blob was stored");

/**
 * How long a publisher that was asked may still be storing the blob; it is not asked again before.
 * Twice as long as its answer is waited for.
 */
const PUBLISHER_GRACE_MS = 360_000;

/**
 * The steps of an upload. Each saves what it is about to do before it pays, and the result before
 * the next one starts, so that each may be repeated after a crash at any point.
 */
export class Steps {
  readonly #parts: StepParts;
  readonly #bytes: UploadBytes;

  constructor(parts: StepParts) {
    this.#parts = parts;
    this.#bytes = new UploadBytes(parts);
  }

  /** `cut` to `encoded`. */
  async encode(upload: Upload): Promise<void> {
    const { uploads, catalogue, failpoint } = this.#parts;
    const made = await this.#bytes.make(upload);
    failpoint("written");
    const nonce = crypto.getRandomValues(new Uint8Array(32));
    await catalogue.database.write(() => uploads.setEncoded(upload.seq, made, nonce));
    failpoint("encoded");
  }

  /** `encoded` to `registered`, all in one transaction. */
  async register(lease: Lease, group: readonly Upload[], withTip: boolean): Promise<void> {
    const { chain, failpoint } = this.#parts;
    const [first] = group;
    let tip;
    if (withTip && first?.nonce !== undefined) {
      const digest = createHash("sha256").update(await this.#bytes.read(first)).digest();
      tip = { digest: new Uint8Array(digest), nonce: first.nonce };
    }
    const made = await chain.register(lease, group, tip);
    const wallet = lease.address;
    const saved = await this.#sign(made, group, (register) => {
      return { state: "registering", wallet, register };
    });
    failpoint("register signed");
    await this.settleRegister(saved, group);
  }

  /** `registering` to `registered`, or back to `encoded` when nothing was paid. */
  async settleRegister(saved: SavedTransaction, group: readonly Upload[]): Promise<void> {
    const { sui, chain, uploads, catalogue, failpoint } = this.#parts;
    const outcome = await settle(sui, saved);
    failpoint("register executed");
    const blobs = outcome.kind === "executed"
      ? await chain.blobsAmong(outcome.created)
      : outcome.kind === "failed"
      ? undefined
      : await this.#heldBlobs(saved.wallet, group);
    if (blobs === undefined) {
      const message = "the chain did not register the blobs";
      throw await this.#refused(saved, outcome, message, group, UNREGISTERED);
    }
    const byId = new Map(blobs.map((blob) => [blob.blobId, blob]));
    const found = group.map((upload) => ({ upload, blob: byId.get(upload.encoded!.blobId) }));
    if (found.some(({ blob }) => blob === undefined)) {
      throw new StepFailure("unreachable", "chain", "the node leaves out a registered blob");
    }
    await catalogue.database.write(() => {
      uploads.endSigned(saved.seq, "done");
      for (const { upload, blob } of found) {
        const { objectId, endEpoch } = blob!;
        uploads.set(upload.seq, { state: "registered", objectId, endEpoch });
      }
    });
    failpoint("registered");
  }

  /**
   * A group's Blob objects in a wallet, when all of them are there: before anything is paid again,
   * the objects themselves are read, because a node may have forgotten the transaction.
   */
  async #heldBlobs(wallet: string, group: readonly Upload[]): Promise<ChainBlob[] | undefined> {
    const { chain, uploads } = this.#parts;
    const ids = new Set(group.map(({ encoded }) => encoded!.blobId));
    const { epoch } = await chain.state();
    const held = (await chain.blobsOf(wallet)).filter((blob) =>
      ids.has(blob.blobId) && blob.certifiedEpoch === undefined && blob.endEpoch > epoch &&
      !uploads.isTaken(blob.objectId)
    );
    return new Set(held.map(({ blobId }) => blobId)).size === ids.size ? held : undefined;
  }

  /** `registered` to `uploaded`: the relay stores the blob and answers the certificate. */
  async upload(upload: Upload): Promise<void> {
    const { walrus, uploads, failpoint } = this.#parts;
    const { blobId } = upload.encoded!;
    const blobObjectId = upload.objectId!;
    if ((await this.#lasting([upload])).length === 0) throw ENDED();
    const blob = await this.#bytes.read(upload);
    const txDigest = uploads.signed(upload.register!)?.digest;
    const { certificate } = await walrus.writeBlobToUploadRelay({
      blobId,
      blob,
      nonce: upload.nonce!,
      txDigest: txDigest!,
      blobObjectId,
      deletable: true,
      encodingType: "RS2",
    }).catch((thrown) => {
      throw StepFailure.of("relay", thrown);
    });
    if (!certifies(certificate, blobId, blobObjectId)) {
      throw new StepFailure("unreachable", "relay", "the upload relay certifies another blob");
    }
    failpoint("relay answered");
    await this.#set([upload], {
      state: "uploaded",
      certificate: encodeCertificate(certificate),
    });
    failpoint("uploaded");
  }

  /** Takes blobs whose paid space has ended back to `encoded`; returns the others. */
  async #lasting(group: readonly Upload[]): Promise<readonly Upload[]> {
    const { epoch } = await this.#parts.chain.state();
    const ended = group.filter(({ endEpoch }) => endEpoch! <= epoch);
    if (ended.length === 0) return group;
    await this.#set(ended, UNREGISTERED);
    return group.filter((upload) => !ended.includes(upload));
  }

  /** `encoded` to `asked` to `uploaded`: the publisher stores the blob in an object of the wallet. */
  async publish(upload: Upload, wallet: string): Promise<void> {
    const { publisher, epochs, clock, failpoint } = this.#parts;
    const blob = await this.#bytes.read(upload);
    const asked = { state: "asked", wallet, askedAt: clock.now() } as const;
    await this.#set([upload], asked);
    failpoint("asked");
    const { url, http } = publisher!;
    const blobId = await publish(http, url, blob, wallet, epochs);
    failpoint("publisher answered");
    if (blobId !== upload.encoded?.blobId) {
      throw new StepFailure("unreachable", "publisher", "the publisher stored another blob");
    }
    await this.find({ ...upload, ...asked });
  }

  /** `asked` to `uploaded` once the wallet holds the blob; back to `encoded` when it is too late. */
  async find(upload: Upload): Promise<void> {
    const { chain, uploads, catalogue, clock, failpoint } = this.#parts;
    const { epoch } = await chain.state();
    const mine = await chain.blobsOf(upload.wallet!);
    const blob = mine.find(({ blobId, objectId, certifiedEpoch, endEpoch }) =>
      blobId === upload.encoded?.blobId && certifiedEpoch !== undefined && endEpoch > epoch &&
      !uploads.isTaken(objectId)
    );
    const isMine = blob !== undefined && await catalogue.database.write(() => {
      // Another upload of the same bytes may have taken it meanwhile.
      if (uploads.isTaken(blob.objectId)) return false;
      const { objectId, endEpoch } = blob;
      uploads.set(upload.seq, { state: "uploaded", objectId, endEpoch, certificate: undefined });
      return true;
    });
    if (isMine) {
      failpoint("uploaded");
      return;
    }
    const until = (upload.askedAt ?? 0) + PUBLISHER_GRACE_MS;
    if (clock.now() >= until) await this.#set([upload], UNREGISTERED);
    throw new StepFailure("unreachable", "publisher", "the publisher did not store the blob");
  }

  /** `uploaded` to `finishing`, all in one transaction, which is then settled. */
  async finish(lease: Lease, group: readonly Upload[]): Promise<void> {
    const { chain, failpoint } = this.#parts;
    // The chain would also name and hand over objects whose space has ended.
    group = await this.#lasting(group);
    if (group.length === 0) throw ENDED();
    let made;
    try {
      made = await chain.finish(lease, group);
    } catch (thrown) {
      const failure = StepFailure.of("chain", thrown);
      if (failure.kind !== "refused") throw failure;
      chain.reset();
      const good = await this.#sift(lease, group);
      if (good.length === 0) throw failure;
      made = await chain.finish(lease, good);
      group = good;
    }
    const saved = await this.#sign(made, group, (finish) => ({ state: "finishing", finish }));
    failpoint("finish signed");
    await this.settleFinish(saved, group);
  }

  /**
   * Checks that the transaction of `finishing` uploads was executed; else they are `uploaded`, or
   * `encoded` where it came too late for them.
   */
  async settleFinish(saved: SavedTransaction, group: readonly Upload[]): Promise<void> {
    const { sui, chain, uploads, catalogue, failpoint } = this.#parts;
    const outcome = await settle(sui, saved);
    failpoint("finish executed");
    const isDone = outcome.kind === "executed" ||
      outcome.kind !== "failed" && await chain.isHandedOver(group);
    if (isDone) {
      const left = await this.#lasting(group);
      if (left.length === 0) {
        await catalogue.database.write(() => uploads.endSigned(saved.seq, "done"));
      }
      return;
    }
    const message = "the chain did not certify the blobs";
    throw await this.#refused(saved, outcome, message, group, { state: "uploaded" });
  }

  /** Saves a signed transaction and what it makes of uploads, before it is executed. */
  async #sign(
    made: SignedTransaction,
    group: readonly Upload[],
    progress: (seq: number) => Progress,
  ): Promise<SavedTransaction> {
    const { uploads, catalogue } = this.#parts;
    return await catalogue.database.write(() => {
      const seq = uploads.addSigned(made);
      for (const upload of group) uploads.set(upload.seq, progress(seq));
      return { ...made, seq, isFresh: true };
    });
  }

  async #set(group: readonly Upload[], progress: Progress): Promise<void> {
    const { uploads, catalogue } = this.#parts;
    await catalogue.database.write(() => {
      for (const { seq } of group) uploads.set(seq, progress);
    });
  }

  /** Takes uploads back whose transaction is known not to have had its effect; returns why. */
  async #refused(
    saved: SavedTransaction,
    outcome: Outcome,
    message: string,
    group: readonly Upload[],
    progress: Progress,
  ): Promise<StepFailure> {
    const { chain, uploads, catalogue } = this.#parts;
    if (outcome.kind === "untold") {
      const untold = "the node does not know a transaction it executed";
      return new StepFailure("unreachable", "chain", untold);
    }
    await catalogue.database.write(() => {
      uploads.endSigned(saved.seq, outcome.kind === "void" ? "void" : "done");
      for (const { seq } of group) uploads.set(seq, progress);
    });
    chain.reset();
    return new StepFailure("refused", "chain", message, { cause: outcome });
  }

  /** Takes blobs whose certificate the chain refuses back to `registered`; returns the others. */
  async #sift(lease: Lease, group: readonly Upload[]): Promise<Upload[]> {
    const { chain, log } = this.#parts;
    const good: Upload[] = [];
    for (const upload of group) {
      try {
        await chain.finish(lease, [upload]);
        good.push(upload);
      } catch (thrown) {
        if (StepFailure.of("chain", thrown).kind !== "refused") throw thrown;
        if (upload.certificate === undefined) continue;
        log("warn", "walrus: the chain refuses a certificate; the blob is uploaded again");
        const back = { state: "registered", certificate: undefined, finish: undefined } as const;
        await this.#set([upload], back);
      }
    }
    return good;
  }
}

/**
 * Has a publisher store a blob in a new Blob object of a wallet. `force` asks for a new object also
 * where the blob is stored already: somebody else's object is of no use here.
 *
 * @returns the Walrus blob id of what was stored.
 * @throws {StepFailure} `unreachable`; whether the blob was stored is then unknown.
 */
async function publish(
  http: typeof fetch,
  url: string,
  blob: Uint8Array<ArrayBuffer>,
  wallet: string,
  epochs: number,
): Promise<string> {
  const query = new URLSearchParams({
    epochs: String(epochs),
    deletable: "true",
    force: "true",
    send_object_to: wallet,
  });
  // A Blob, because fetch repeats a request with bytes when its connection breaks.
  const body = new Blob([blob]);
  const response = await http(`${url}/v1/blobs?${query}`, { method: "PUT", body });
  const answer = await response.json().catch(() => undefined);
  const blobId: unknown = answer?.newlyCreated?.blobObject?.blobId;
  if (typeof blobId === "string") return blobId;
  throw new StepFailure("unreachable", "publisher", "the publisher names no new blob");
}
