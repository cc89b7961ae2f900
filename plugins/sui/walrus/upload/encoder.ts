import { SvcError } from "../../../../src/errors.ts";
import { ThreadCalls } from "../../../../src/threads.ts";
import { patchId } from "../quilt/patch_id.ts";
import type { Clock } from "../clock.ts";
import type { EncodeAnswer, EncodedParts, EncodeSource } from "./encode_worker.ts";
import type { Encoded } from "./upload.ts";

/** An encoded blob with its unencoded bytes. */
export interface EncodedBlob extends Encoded {
  readonly blob: Uint8Array;
}

/** Time without work after which the worker ends, and frees 50 MB. */
const IDLE_MS = 30_000;

/** Encodes one blob after the other in a worker, which the first one starts. */
export class Encoder {
  readonly #clock: Clock;
  readonly #calls = new ThreadCalls<EncodeAnswer>(
    () => new Worker(new URL("./encode_worker.ts", import.meta.url), { type: "module" }),
    (reason) => failure("The encoder failed", reason),
  );
  #cancelIdle: (() => void) | undefined;
  #closed: SvcError | undefined;

  /** @param clock Counts the time without work. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Computes the id of a blob, or builds a quilt of patches first.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  async encode(source: EncodeSource): Promise<EncodedBlob> {
    if (this.#closed !== undefined) throw this.#closed;
    this.#cancelIdle?.();
    const answer = await this.#calls.call(source);
    if (this.#calls.waiting === 0 && this.#closed === undefined) {
      this.#cancelIdle?.();
      this.#cancelIdle = this.#clock.after(IDLE_MS, () => {
        if (this.#calls.waiting === 0) this.#calls.stop(failure("The encoder rests"));
      });
    }
    if ("error" in answer) throw failure("Encoding failed", answer.error);
    return encodedOf(answer);
  }

  /** Ends the worker; what it works on fails. */
  close(): void {
    this.#cancelIdle?.();
    this.#closed ??= new SvcError("storage_unavailable", "The store is closed");
    this.#calls.stop(this.#closed);
  }
}

function failure(message: string, reason?: string): SvcError {
  return new SvcError("storage_unavailable", message, { cause: new Error(reason) });
}

function encodedOf({ blobId, rootHash, blob, places }: EncodedParts): EncodedBlob {
  const id = blobId.toBase64({ alphabet: "base64url", omitPadding: true });
  const patches = places.map(({ identifier, start, end }) => ({
    identifier,
    id: patchId({ quiltId: id, start, end }),
  }));
  return { blobId: id, rootHash, size: blob.length, patches, blob };
}
