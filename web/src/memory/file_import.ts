import type { SvcClient } from "../../../src/client/client.ts";
import type { RememberItem } from "../../../src/client/requests.ts";
import { randomUuid } from "../../../src/client/transport.ts";
import { SvcError } from "../../../src/errors.ts";
import { explain } from "../text/explain.ts";
import type { ImportLines } from "./import_lines.ts";

/** Memories of one request, and bytes of their JSON; a body may have 2 MiB. */
const BATCH = 20;
const BATCH_BYTES = 2_000_000;

const utf8 = new TextEncoder();

/** How far an import is. */
export interface ImportProgress {
  readonly total: number;
  readonly skipped: number;
  readonly done: number;
  readonly failed: number;
  /** Why one of them failed. */
  readonly reason?: string;
}

/** What an import needs of the page. */
export interface ImportSurroundings {
  /** A question to the relayer. */
  readonly ask: <T>(use: (client: SvcClient) => Promise<T>) => Promise<T>;
  /** Told of every change. */
  readonly changed: () => void;
}

/** Memories that are sent together, until it is known what became of them. */
interface Batch {
  readonly items: readonly RememberItem[];
  /** A repetition is answered as the first one was. */
  readonly idempotencyKey: string;
}

const batchOf = (items: readonly RememberItem[]): Batch => ({
  items,
  idempotencyKey: randomUuid(),
});

/** Which memory of a batch the relayer refuses, so that none of it was taken. */
function refusedIndex(error: unknown, { items }: Batch): number | undefined {
  if (!(error instanceof SvcError) || error.retryable) return undefined;
  const [, index] = /^items\[(\d+)\]/.exec(error.field ?? "") ?? [];
  if (index !== undefined && Number(index) < items.length) return Number(index);
  return error.code === "body_too_large" && items.length === 1 ? 0 : undefined;
}

/** Saves what a file holds, batch by batch; after a failure it can go on where it was. */
export class FileImport {
  readonly #surroundings: ImportSurroundings;
  #rest: readonly RememberItem[];
  #batch: Batch | undefined;
  progress: ImportProgress;
  /** Whether it is under way. */
  running = false;
  /** Why it stopped. */
  error: unknown;
  /** When the relayer takes more, milliseconds since the epoch. */
  pausedUntil: number | undefined;

  /** Sends nothing until {@linkcode run}. */
  constructor(
    namespace: string,
    { items, skipped }: ImportLines,
    surroundings: ImportSurroundings,
  ) {
    this.#surroundings = surroundings;
    this.#rest = items.map((item) => ({ ...item, namespace }));
    this.progress = { total: items.length, skipped, done: 0, failed: 0 };
  }

  /** Saves what is left. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    this.error = undefined;
    this.#surroundings.changed();
    try {
      while ((this.#batch ??= this.#next()) !== undefined) {
        await this.#save(this.#batch);
        this.#surroundings.changed();
      }
    } catch (error) {
      this.error = error;
    }
    this.running = false;
    this.#surroundings.changed();
  }

  #next(): Batch | undefined {
    let bytes = 0;
    let size = 0;
    for (const item of this.#rest.slice(0, BATCH)) {
      bytes += utf8.encode(JSON.stringify(item)).length;
      if (size > 0 && bytes > BATCH_BYTES) break;
      size++;
    }
    if (size === 0) return undefined;
    const batch = batchOf(this.#rest.slice(0, size));
    this.#rest = this.#rest.slice(size);
    return batch;
  }

  async #save(batch: Batch): Promise<void> {
    const { ask } = this.#surroundings;
    const { items, idempotencyKey } = batch;
    try {
      const { job_ids } = await ask((client) => client.rememberBulk(items, { idempotencyKey }));
      const { results } = await ask((client) =>
        client.waitForAll(job_ids, { until: "recallable" })
      );
      const failed = results.flatMap((job) => job.status === "failed" ? [job] : []);
      this.#count(results.length - failed.length, failed.length, failed[0]?.error);
      this.#batch = undefined;
    } catch (error) {
      const refused = refusedIndex(error, batch);
      if (refused !== undefined) {
        const left = items.toSpliced(refused, 1);
        this.#batch = left.length === 0 ? undefined : batchOf(left);
        this.#count(0, 1, explain(error).replace(/^items\[\d+\]\.?/, ""));
      } else if (
        error instanceof SvcError && error.code === "rate_limited" && error.retryAfter !== undefined
      ) {
        await this.#pause(error.retryAfter * 1000);
      } else {
        throw error;
      }
    }
  }

  #count(done: number, failed: number, reason: string | undefined): void {
    const { progress } = this;
    this.progress = {
      ...progress,
      done: progress.done + done,
      failed: progress.failed + failed,
      ...(reason === undefined ? {} : { reason: progress.reason ?? reason }),
    };
  }

  async #pause(ms: number): Promise<void> {
    this.pausedUntil = Date.now() + ms;
    this.#surroundings.changed();
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.pausedUntil = undefined;
  }
}
