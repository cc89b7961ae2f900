import { createHash } from "node:crypto";
import { pause } from "../../../../src/deadline.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { BackendHealth, CallOptions } from "../../../../src/interfaces/mod.ts";
import type { Clock } from "../clock.ts";
import { type Bounds, exchange, ExchangeFailure } from "../exchange.ts";
import { race, type Run } from "./race.ts";
import { Standing } from "./standing.ts";

interface AggregatorsOptions {
  /** Addresses of the aggregators, the preferred one first. */
  readonly urls: readonly string[];
  /** Milliseconds without an answer after which the next one is asked too. */
  readonly raceAfterMs: number;
  /** Longest request in milliseconds; 15 s when absent. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
  /** Waits between attempts, until the signal at most. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** What to read, and how far to believe it. */
interface ReadOptions extends CallOptions {
  readonly maxBytes: number;
  /** SHA-256 of the bytes; other bytes are refused. */
  readonly sha256?: Uint8Array | undefined;
  /** Whether bytes have the form they should have; others are refused. */
  readonly accepts?: ((bytes: Uint8Array) => boolean) | undefined;
  /** Accepted bytes are also read from another aggregator, and compared. */
  readonly compare?: boolean | undefined;
  /** Whether accepted bytes are the blob's; costly, so only called when aggregators differ. */
  readonly proves?: ((bytes: Uint8Array) => Promise<boolean>) | undefined;
  /** `proves` is also called when only one answer was accepted. */
  readonly provesAlways?: boolean | undefined;
  /** The blob was stored moments ago, so aggregators that lack it are asked again. */
  readonly fresh?: boolean | undefined;
}

/** Bytes, and why they are taken for the blob's. */
export interface ReadBlob {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /**
   * `digest`: they have the known SHA-256. `proven`: `proves` said so. `agreed`: two aggregators gave
   * the same bytes. `form`: `accepts` said so. `unchecked`: there was nothing to check them by.
   */
  readonly proof: "digest" | "proven" | "form" | "agreed" | "unchecked";
}

const TIMEOUT_MS = 15_000;
/** Pause of an aggregator that asks for one (429) without saying how long, in milliseconds. */
const PAUSE_MS = 2_000;
/** How long a second aggregator, which only confirms, may take in milliseconds. */
const COMPARE_MS = 1_000;
/** Pauses before a fresh blob that no aggregator has is asked for again, in milliseconds. */
const FRESH_PAUSES_MS = [250, 500, 1_000, 2_000, 4_000] as const;

/**
 * Reads blobs from several aggregators. The next one is asked when one is slow or fails. A blob does
 * not exist only if every aggregator says so. One that lies about bytes whose SHA-256 is known counts
 * as failing.
 */
export class Aggregators {
  readonly #options: AggregatorsOptions;
  readonly #standing: Standing;
  readonly #closing = new AbortController();

  constructor(options: AggregatorsOptions) {
    this.#options = options;
    this.#standing = new Standing(options.urls, () => options.clock.now());
  }

  get health(): BackendHealth {
    return this.#standing.health;
  }

  /** A quilt, or a blob stored by itself. */
  blob(blobId: string, options: ReadOptions): Promise<ReadBlob | undefined> {
    return this.read(`/v1/blobs/${blobId}`, options);
  }

  patch(patchId: string, options: ReadOptions): Promise<ReadBlob | undefined> {
    return this.read(`/v1/blobs/by-quilt-patch-id/${patchId}`, options);
  }

  /**
   * Reads a path of the aggregators' API.
   *
   * @returns `undefined` when every aggregator says that there is no such blob.
   * @throws {SvcError} `storage_unavailable` when no answer can be used.
   */
  async read(path: string, options: ReadOptions): Promise<ReadBlob | undefined> {
    for (const ms of options.fresh ? FRESH_PAUSES_MS : []) {
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
    const runs = await this.#race(path, options);
    for (const run of runs) this.#note(run, options);
    const answered = runs.filter((run) => "answer" in run);
    const accepted = new Map<string, ReadBlob & { readonly runner: string }>();
    for (const { runner, answer } of answered) {
      if (answer === undefined || answer.proof === "refused") continue;
      const { bytes, proof, digest } = answer;
      if (settles(proof, options)) return { bytes, proof };
      accepted.set(digest, { bytes, proof, runner });
    }
    const { proves, provesAlways } = options;
    for (const { bytes, proof, runner } of accepted.values()) {
      const alone = accepted.size === 1;
      if (alone && (proves === undefined || provesAlways !== true)) return { bytes, proof };
      // When two differ, neither is taken without a proof.
      if (await proves?.(bytes)) return { bytes, proof: "proven" };
      if (proves !== undefined) this.#standing.failed(runner, 0);
    }
    const missing = answered.filter(({ answer }) => answer === undefined).length;
    // An aggregator that was left out for a while may have it.
    if (missing === this.#options.urls.length && missing > 0) return undefined;
    const { waitMs } = this.#standing;
    throw new SvcError("storage_unavailable", "The blob cannot be read from Walrus now", {
      retryAfter: waitMs === 0 ? undefined : Math.ceil(waitMs / 1000),
    });
  }

  async #race(path: string, options: ReadOptions): Promise<Run<string, Answer>[]> {
    const { signal = this.#closing.signal, maxBytes, compare } = options;
    const { raceAfterMs, timeoutMs = TIMEOUT_MS, clock } = this.#options;
    const bounds = { maxBytes, timeoutMs, now: () => clock.now() };
    const counts = new Map<string, number>();
    return await race(this.#standing.order(), async (url, signal): Promise<Answer> => {
      const bytes = await this.#ask(`${url}${path}`, { ...bounds, signal });
      if (bytes === undefined) return undefined;
      const proof = proofOf(bytes, options);
      if (options.sha256 !== undefined || proof !== "refused" && compare !== true) {
        return { bytes, proof, digest: "" };
      }
      const digest = sha256Of(bytes).toHex();
      const count = (counts.get(digest) ?? 0) + 1;
      counts.set(digest, count);
      return { bytes, proof: count > 1 ? "agreed" : proof, digest };
    }, {
      afterMs: raceAfterMs,
      signal: AbortSignal.any([signal, this.#closing.signal]),
      after: (ms, callback) => clock.after(ms, callback),
      wins: (answer) => answer !== undefined && settles(answer.proof, options),
      suffices: (answer) => answer?.proof === "form" || answer?.proof === "unchecked",
      patienceMs: COMPARE_MS,
    });
  }

  /** The bytes of an answer, or `undefined` for 404. */
  async #ask(url: string, bounds: Bounds): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      // A copy without the spare room in which the bytes were gathered, because it is kept for long.
      return (await exchange(url, {}, bounds)).slice();
    } catch (error) {
      if (error instanceof ExchangeFailure && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Notes how an aggregator did. Whether it lies is known only with a digest. */
  #note(run: Run<string, Answer>, { sha256 }: ReadOptions): void {
    const { runner } = run;
    if ("outrun" in run) this.#standing.outrun(runner);
    else if ("error" in run) {
      const { status, pauseMs } = run.error instanceof ExchangeFailure ? run.error : {};
      this.#standing.failed(runner, pauseMs ?? (status === 429 ? PAUSE_MS : 0));
    } else if (run.answer?.proof === "refused" && sha256 !== undefined) {
      this.#standing.failed(runner, 0);
    } else this.#standing.answered(runner);
  }
}

type Proof = ReadBlob["proof"] | "refused";

/** Bytes and what they are taken for, or `undefined` when there is no such blob. */
type Answer = { bytes: ReadBlob["bytes"]; proof: Proof; digest: string } | undefined;

function proofOf(bytes: Uint8Array, { sha256, accepts }: ReadOptions): Proof {
  if (sha256 !== undefined) return hasDigest(bytes, sha256) ? "digest" : "refused";
  if (accepts === undefined) return "unchecked";
  return accepts(bytes) ? "form" : "refused";
}

/** Whether no other aggregator needs to be asked. */
function settles(proof: Proof, { compare }: ReadOptions): boolean {
  if (proof === "digest" || proof === "agreed") return true;
  return proof !== "refused" && compare !== true;
}

export function sha256Of(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

export function hasDigest(bytes: Uint8Array, sha256: Uint8Array): boolean {
  return sha256Of(bytes).toHex() === sha256.toHex();
}
