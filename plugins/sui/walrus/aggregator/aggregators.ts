import { createHash } from "node:crypto";
import { pause } from "../../../../src/deadline.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { BackendHealth, CallOptions } from "../../../../src/interfaces/mod.ts";
import { AggregatorFailure, ask } from "./answer.ts";
import { race, type RaceOptions, type Run } from "./race.ts";
import { Standing } from "./standing.ts";

/** Options of {@linkcode Aggregators}. */
export interface AggregatorsOptions {
  /** Addresses of the aggregators, the preferred one first. */
  readonly urls: readonly string[];
  /** Milliseconds without an answer after which the next one is asked too. */
  readonly raceAfterMs: number;
  /** Longest request in milliseconds; 15 s when absent. */
  readonly timeoutMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Waits, for the pauses between attempts; ends early with the signal's reason. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** See {@linkcode RaceOptions}. */
  readonly schedule?: RaceOptions<unknown>["schedule"];
}

/** Options of {@linkcode Aggregators.read}. */
export interface ReadOptions extends CallOptions {
  /** Most bytes of the answer. */
  readonly maxBytes: number;
  /** SHA-256 of the bytes, where it is known: other bytes are not taken. */
  readonly sha256?: Uint8Array | undefined;
  /** Whether bytes are what they should be, as far as that can be seen. */
  readonly accepts?: ((bytes: Uint8Array) => boolean) | undefined;
  /** Bytes that were accepted are asked for once more elsewhere, and compared. */
  readonly compare?: boolean | undefined;
  /** Whether accepted bytes are the blob's; costly, so asked only when aggregators differ. */
  readonly proves?: ((bytes: Uint8Array) => Promise<boolean>) | undefined;
  /** Also when there is nothing that differs. */
  readonly provesAlways?: boolean | undefined;
  /** The blob was stored moments ago: aggregators that do not have it yet are asked again. */
  readonly fresh?: boolean | undefined;
}

/** Bytes, and why they are taken for the blob's. */
export interface ReadBlob {
  /** The bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /**
   * `digest`: they have the known SHA-256. `proven`: a proof was asked for, and found. `agreed`: two
   * aggregators gave the same bytes. `form`: they were accepted. `unchecked`: nothing was known of
   * them.
   */
  readonly proof: "digest" | "proven" | "form" | "agreed" | "unchecked";
}

const TIMEOUT_MS = 15_000;
/** How long a second aggregator may take that only confirms, in milliseconds. */
const COMPARE_MS = 1_000;
/** Pauses before a fresh blob that no aggregator has is asked for again, in milliseconds. */
const FRESH_PAUSES_MS = [250, 500, 1_000, 2_000, 4_000] as const;

/**
 * Reads blobs from several aggregators. The second one is asked when the first does not answer or
 * fails; that a blob does not exist is believed when every aggregator says so. An aggregator that
 * lies about bytes whose SHA-256 is known counts as one that fails.
 */
export class Aggregators {
  readonly #options: AggregatorsOptions;
  readonly #standing: Standing;
  readonly #now: () => number;
  readonly #closing = new AbortController();

  /** Contacts nobody by itself. */
  constructor(options: AggregatorsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#standing = new Standing(options.urls, this.#now);
  }

  /** What the last requests say about them. */
  get health(): BackendHealth {
    return this.#standing.health;
  }

  /** A quilt, or a blob stored by itself. */
  blob(blobId: string, options: ReadOptions): Promise<ReadBlob | undefined> {
    return this.read(`/v1/blobs/${blobId}`, options);
  }

  /** A patch of a quilt. */
  patch(patchId: string, options: ReadOptions): Promise<ReadBlob | undefined> {
    return this.read(`/v1/blobs/by-quilt-patch-id/${patchId}`, options);
  }

  /**
   * Reads a path of the aggregators' API.
   *
   * @returns `undefined` when every aggregator says that there is no such blob.
   * @throws {SvcError} `storage_unavailable` when no aggregator gives an answer that can be used.
   */
  async read(path: string, options: ReadOptions): Promise<ReadBlob | undefined> {
    const pauses = options.fresh ? FRESH_PAUSES_MS : [];
    for (const ms of pauses) {
      const found = await this.#readOnce(path, options);
      if (found !== undefined) return found;
      await (this.#options.sleep ?? pause)(ms, options.signal);
    }
    return await this.#readOnce(path, options);
  }

  /** Ends the reads under way with the reason, and refuses later ones with it. */
  close(reason: Error): void {
    this.#closing.abort(reason);
  }

  async #readOnce(path: string, options: ReadOptions): Promise<ReadBlob | undefined> {
    const accepted = new Map<string, ReadBlob & { readonly url: string }>();
    let won: ReadBlob | undefined;
    let missing = 0;
    for (const run of await this.#race(path, options)) {
      const { runner: url } = run;
      if ("outrun" in run) this.#standing.outrun(url);
      else if ("error" in run) this.#standing.failed(url, pauseOf(run.error));
      else {
        const { answer } = run;
        // Whether it lies is known only with a digest.
        const lies = answer?.proof === "refused" && options.sha256 !== undefined;
        if (lies) this.#standing.failed(url, 0);
        else this.#standing.answered(url);
        if (answer === undefined) missing++;
        else if (answer.proof !== "refused") {
          const { bytes, proof, digest = "" } = answer;
          if (settles(proof, options)) won = { bytes, proof };
          else accepted.set(digest, { bytes, proof, url });
        }
      }
    }
    const found = won ?? await this.#proven([...accepted.values()], options);
    if (found !== undefined) return found;
    // One that is in a pause may have it.
    if (missing === this.#options.urls.length && missing > 0) return undefined;
    throw unreadable(this.#standing.waitMs);
  }

  /** Asks as many as it takes, and says what each of their answers proves. */
  async #race(path: string, options: ReadOptions): Promise<Run<string, Answer | undefined>[]> {
    const { signal = this.#closing.signal, maxBytes } = options;
    const { raceAfterMs, timeoutMs = TIMEOUT_MS, schedule } = this.#options;
    const counts = new Map<string, number>();
    return await race<string, Answer | undefined>(
      this.#standing.order(),
      async (url, signal) => {
        const bounds = { maxBytes, timeoutMs, now: this.#now, signal };
        const bytes = await ask(`${url}${path}`, bounds);
        if (bytes === undefined) return undefined;
        const proof = proofOf(bytes, options);
        const isDecided = proof === "refused"
          ? options.sha256 !== undefined
          : proof === "digest" || options.compare !== true;
        if (isDecided) return { bytes, proof };
        const digest = sha256Of(bytes).toHex();
        const count = (counts.get(digest) ?? 0) + 1;
        counts.set(digest, count);
        return { bytes, proof: count > 1 ? "agreed" : proof, digest };
      },
      {
        afterMs: raceAfterMs,
        signal: AbortSignal.any([signal, this.#closing.signal]),
        schedule,
        wins: (answer) => answer !== undefined && settles(answer.proof, options),
        suffices: (answer) => answer?.proof === "form" || answer?.proof === "unchecked",
        patienceMs: COMPARE_MS,
      },
    );
  }

  /** The answer that was accepted alone, or the first that can be proven. */
  async #proven(
    accepted: readonly (ReadBlob & { readonly url: string })[],
    { proves, provesAlways }: ReadOptions,
  ): Promise<ReadBlob | undefined> {
    for (const { bytes, proof, url } of accepted) {
      const isAlone = accepted.length === 1;
      if (isAlone && (proves === undefined || provesAlways !== true)) return { bytes, proof };
      // Of two that differ neither is taken without a proof.
      if (await proves?.(bytes)) return { bytes, proof: "proven" };
      if (proves !== undefined) this.#standing.failed(url, 0);
    }
    return undefined;
  }
}

type Proof = ReadBlob["proof"] | "refused";

/** What an aggregator answered. */
interface Answer {
  readonly bytes: ReadBlob["bytes"];
  readonly proof: Proof;
  /** Their SHA-256, where answers are compared. */
  readonly digest?: string;
}

function proofOf(bytes: Uint8Array, { sha256, accepts }: ReadOptions): Proof {
  if (sha256 !== undefined) return equal(sha256Of(bytes), sha256) ? "digest" : "refused";
  if (accepts === undefined) return "unchecked";
  return accepts(bytes) ? "form" : "refused";
}

/** Whether nobody else needs to be asked. */
function settles(proof: Proof, { compare }: ReadOptions): boolean {
  if (proof === "digest" || proof === "agreed") return true;
  return proof !== "refused" && compare !== true;
}

/** SHA-256. */
export function sha256Of(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function pauseOf(error: unknown): number {
  return error instanceof AggregatorFailure ? error.pauseMs : 0;
}

function unreadable(waitMs: number): SvcError {
  return new SvcError("storage_unavailable", "The blob cannot be read from Walrus now", {
    ...(waitMs === 0 ? {} : { retryAfter: Math.ceil(waitMs / 1000) }),
  });
}
