import { Buffer } from "node:buffer";
import type { Imported } from "../../../src/client/mod.ts";
import { onOneLine } from "../../../src/printable.ts";
import { BULK_STATUS_IDS, IMPORT_MEMORIES } from "../../../src/wire/limits.ts";
import { clientOf, type Session } from "../../session.ts";
import { patiently } from "../patience.ts";
import type { Progress } from "../progress.ts";

/** Bytes of lines that are sent together; a longer line goes alone. */
const BATCH_BYTES = 1_048_576;
/** Requests under way at once: while one is answered, the next is made ready. */
const IN_FLIGHT = 2;
/** Refused lines that are kept for the report. */
const KEPT_FAILURES = 1000;

/** Where a memory comes from, for people. */
export interface Origin {
  /** The file, on one line. */
  readonly file: string;
  /** Its place there, such as `line 3`. */
  readonly where: string;
  /** Whether it is an earlier version of a memory that follows. */
  readonly isEarlier?: boolean;
}

/** A memory that was not taken because something is wrong with it. */
export interface Failure extends Origin {
  /** For people, on one line. */
  readonly error: string;
}

/** What became of the memories of an import. */
export interface Counts {
  /** Lines that were sent. */
  sent: number;
  accepted: number;
  /** Earlier versions that were taken. */
  versions: number;
  exists: number;
  older: number;
  deleted: number;
  expired: number;
  /** Earlier versions that were left out. */
  history: number;
  failed: number;
}

/** How the relayer is to take the lines. */
export interface SendOptions {
  readonly progress: Progress;
  readonly bringBack: boolean;
  readonly secrets?: "redact";
}

/** Sends lines of an import in batches, and counts what became of them. */
export class Sending {
  readonly counts: Counts = {
    sent: 0,
    accepted: 0,
    versions: 0,
    exists: 0,
    older: 0,
    deleted: 0,
    expired: 0,
    history: 0,
    failed: 0,
  };
  /** The first of the lines that were refused. */
  readonly failures: Failure[] = [];
  /** Jobs of the memories that were taken last, to wait for. */
  lastJobs: readonly string[] = [];
  readonly #session: Session;
  readonly #options: SendOptions;
  #lines: string[] = [];
  #origins: Origin[] = [];
  #bytes = 0;
  readonly #underWay = new Set<Promise<void>>();
  /** Why the import broke off. */
  #broken: { readonly error: unknown } | undefined;

  /** Nothing is sent yet. */
  constructor(session: Session, options: SendOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Notes something that cannot be sent at all. */
  fail(failure: Failure): void {
    this.counts.failed++;
    if (this.failures.length < KEPT_FAILURES) this.failures.push(failure);
  }

  /**
   * Adds a line; waits while enough others are under way.
   *
   * @throws what kept an earlier batch from being taken.
   */
  async add(line: string, origin: Origin): Promise<void> {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#lines.length === IMPORT_MEMORIES || this.#bytes + bytes > BATCH_BYTES) {
      await this.flush();
    }
    this.#lines.push(line);
    this.#origins.push(origin);
    this.#bytes += bytes;
  }

  /** Sends what is there. @throws what kept an earlier batch from being taken. */
  async flush(): Promise<void> {
    while (this.#underWay.size >= IN_FLIGHT) await Promise.race(this.#underWay);
    if (this.#broken !== undefined) await this.#end();
    if (this.#lines.length === 0) return;
    const [lines, origins] = [this.#lines, this.#origins];
    [this.#lines, this.#origins, this.#bytes] = [[], [], 0];
    const sending = this.#send(lines, origins).catch((error: unknown) => {
      this.#broken ??= { error };
    }).finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
    // Versions are taken in their order only: what follows must not overtake them.
    if (origins.at(-1)?.isEarlier) await sending;
  }

  /** Sends what is left and waits for every answer. @throws what kept a batch from being taken. */
  async finish(): Promise<void> {
    await this.flush();
    await this.#end();
  }

  /** Waits for what is under way; answers do count, also after another batch failed. */
  async #end(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  async #send(lines: readonly string[], origins: readonly Origin[]): Promise<void> {
    const { progress, bringBack, secrets } = this.#options;
    const client = clientOf(this.#session);
    const body = `${lines.join("\n")}\n`;
    // The same key each time: what a broken connection hid is answered again, and not done again.
    const idempotencyKey = crypto.randomUUID();
    const answer = await patiently(
      this.#session,
      progress,
      () => client.importMemories(body, { bringBack, secrets, idempotencyKey }),
    );
    this.#count(answer, origins);
    progress.show(`${this.counts.sent.toLocaleString("en")} memories read`);
  }

  #count({ accepted, skips, errors, job_ids }: Imported, origins: readonly Origin[]): void {
    const { counts } = this;
    counts.sent += origins.length;
    const isMemory = ({ line }: { readonly line: number }) => !origins[line - 1]?.isEarlier;
    const earlier = origins.filter(({ isEarlier }) => isEarlier).length;
    const skipped = skips.filter(isMemory);
    for (const { reason } of skipped) counts[reason]++;
    const refused = errors.filter(isMemory).length;
    const memories = origins.length - earlier - skipped.length - refused;
    const versions = Math.max(0, accepted - memories);
    counts.accepted += accepted - versions;
    counts.versions += versions;
    // Also those that a relayer of before passed over without a word.
    counts.history += earlier - versions - (errors.length - refused);
    for (const { line, code, error } of errors) {
      const origin = origins[line - 1] ?? { file: "", where: `line ${line}` };
      this.fail({ ...origin, error: `${onOneLine(error)} (${onOneLine(code)})` });
    }
    if (job_ids.length > 0) this.lastJobs = job_ids.slice(-BULK_STATUS_IDS);
  }
}
