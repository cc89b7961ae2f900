import { SvcError } from "../../../../../src/errors.ts";
import type { Clock } from "../clock.ts";
import type { EncodeRequest, EncodeResponse, PatchSource } from "./encode_messages.ts";
import type { Encoded, PatchPlace } from "../upload.ts";

/** An encoded blob with its bytes. */
export interface EncodedBlob extends Encoded {
  /** The blob, unencoded. */
  readonly blob: Uint8Array;
}

interface Waiting {
  resolve(made: EncodedBlob): void;
  reject(reason: unknown): void;
}

/** The worker, and 50 MB with it, goes after so long without work. */
const IDLE_MS = 30_000;

/** Encodes in one worker, one blob after the other; the worker starts with the first. */
export class Encoder {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #cancelIdle: (() => void) | undefined;
  #last = 0;
  #closed: SvcError | undefined;

  /** Takes the clock that ends an idle worker. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Builds a quilt and computes its id.
   * @throws {SvcError} `storage_unavailable`.
   */
  quilt(shards: number, patches: readonly PatchSource[]): Promise<EncodedBlob> {
    return this.#ask({ shards, patches });
  }

  /**
   * Computes the id of a blob.
   * @throws {SvcError} `storage_unavailable`.
   */
  blob(shards: number, blob: Uint8Array): Promise<EncodedBlob> {
    return this.#ask({ shards, blob });
  }

  /** Ends the worker; what it works on fails. */
  close(): void {
    this.#cancelIdle?.();
    this.#worker?.terminate();
    this.#worker = undefined;
    const error = this.#closed ??= new SvcError("storage_unavailable", "The store is closed");
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #ask(request: Omit<EncodeRequest, "id">): Promise<EncodedBlob> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    this.#cancelIdle?.();
    const id = ++this.#last;
    const worker = this.#worker ??= this.#start();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, ...request });
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./encode_worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<EncodeResponse>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("error" in data) {
        const cause = new Error(data.error);
        waiting?.reject(new SvcError("storage_unavailable", "Encoding failed", { cause }));
      } else waiting?.resolve(encodedOf(data));
      if (this.#waiting.size > 0) return;
      this.#cancelIdle = this.#clock.after(IDLE_MS, () => this.#rest());
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const cause = new Error(event.message);
      const error = new SvcError("storage_unavailable", "The encoder failed", { cause });
      this.#worker?.terminate();
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    return worker;
  }

  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** `blob id (32) | version 1 | start u16 LE | end u16 LE`, as QuiltPatchId of walrus-core. */
function patchId(blobId: Uint8Array, start: number, end: number): string {
  const bytes = new Uint8Array(37);
  bytes.set(blobId);
  bytes[32] = 1;
  const view = new DataView(bytes.buffer);
  view.setUint16(33, start, true);
  view.setUint16(35, end, true);
  return base64url(bytes);
}

function encodedOf(made: Exclude<EncodeResponse, { error: string }>): EncodedBlob {
  const { blobId, rootHash, blob, places } = made;
  const patches = places.map(({ identifier, start, end }): PatchPlace => ({
    identifier,
    id: patchId(blobId, start, end),
  }));
  return { blobId: base64url(blobId), rootHash, size: blob.length, patches, blob };
}
