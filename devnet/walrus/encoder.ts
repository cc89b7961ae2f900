import { blobIdNumber, toUrlBase64 } from "./blob_id.ts";
import { bcs } from "@mysten/sui/bcs";

/** What the worker is asked. */
export type EncoderRequest =
  & { readonly shards: number }
  & (
    | { readonly kind: "identify"; readonly bytes: Uint8Array }
    | { readonly kind: "encode"; readonly bytes: Uint8Array }
    | {
      readonly kind: "decode";
      readonly blobId: Uint8Array;
      readonly size: number;
      /** BCS of primary slivers, at least n - 2f. */
      readonly slivers: readonly Uint8Array[];
    }
  );

/** The id of a blob and what it is made of. */
export interface Identity {
  /** URL-safe base64. */
  readonly blobId: string;
  /** Root of the Merkle tree over all slivers. */
  readonly rootHash: Uint8Array;
}

/** An encoded blob. */
export interface Encoded {
  /** URL-safe base64. */
  readonly blobId: string;
  /** BCS of its metadata. */
  readonly metadata: Uint8Array;
  /** BCS of the primary slivers by sliver pair. */
  readonly primary: readonly Uint8Array[];
  /** BCS of the secondary slivers by sliver pair. */
  readonly secondary: readonly Uint8Array[];
}

interface Result {
  readonly blobId?: Uint8Array;
  readonly rootHash?: Uint8Array;
  readonly metadata?: Uint8Array;
  readonly primary?: readonly Uint8Array[];
  readonly secondary?: readonly Uint8Array[];
  readonly bytes?: Uint8Array;
}

/** What the worker answers. */
export interface EncoderAnswer {
  /** The call it answers. */
  readonly call: number;
  /** The result; absent when it failed. */
  readonly result?: Result;
  /** Why it failed. */
  readonly error?: string;
}

type Ask =
  | { readonly kind: "identify" | "encode"; readonly bytes: Uint8Array }
  | {
    readonly kind: "decode";
    readonly blobId: Uint8Array;
    readonly size: number;
    readonly slivers: readonly Uint8Array[];
  };

const NOTHING = new Uint8Array();

/** Encodes blobs in a worker: at 1,000 shards a blob of any size takes seconds of CPU. */
export class Encoder implements Disposable {
  /** Number of shards. */
  readonly shards: number;
  #worker: Worker | undefined;
  #calls = 0;
  readonly #waiting = new Map<number, PromiseWithResolvers<Result>>();

  /** The worker starts with the first call. */
  constructor(shards: number) {
    this.shards = shards;
  }

  /** The id and root hash of a blob. */
  async identify(bytes: Uint8Array): Promise<Identity> {
    const { blobId = NOTHING, rootHash = NOTHING } = await this.#ask({ kind: "identify", bytes });
    return { blobId: toUrlBase64(blobId), rootHash };
  }

  /** All slivers of a blob. */
  async encode(bytes: Uint8Array): Promise<Encoded> {
    const result = await this.#ask({ kind: "encode", bytes });
    const { blobId = NOTHING, metadata = NOTHING, primary = [], secondary = [] } = result;
    return { blobId: toUrlBase64(blobId), metadata, primary, secondary };
  }

  /** The blob of enough primary slivers. Rejects when they do not decode. */
  async decode(blobId: string, size: number, slivers: readonly Uint8Array[]): Promise<Uint8Array> {
    const id = bcs.u256().serialize(blobIdNumber(blobId) ?? 0n).toBytes();
    const { bytes = NOTHING } = await this.#ask({ kind: "decode", blobId: id, size, slivers });
    return bytes;
  }

  #ask(question: Ask): Promise<Result> {
    const call = this.#calls++;
    const waiting = Promise.withResolvers<Result>();
    this.#waiting.set(call, waiting);
    this.#start().postMessage({ ...question, shards: this.shards, call });
    return waiting.promise;
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL("./encode_worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<EncoderAnswer>) => {
      const waiting = this.#waiting.get(data.call);
      this.#waiting.delete(data.call);
      if (data.result === undefined) waiting?.reject(new Error(data.error ?? "no result"));
      else waiting?.resolve(data.result);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(new Error(event.message));
    };
    this.#worker = worker;
    return worker;
  }

  #fail(error: Error): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  /** Ends the worker; calls in flight fail. */
  [Symbol.dispose](): void {
    this.#fail(new Error("the encoder is closed"));
  }
}
