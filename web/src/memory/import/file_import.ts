import type { SvcClient } from "../../../../src/client/client.ts";
import type { Imported } from "../../../../src/client/results.ts";
import { randomUuid } from "../../../../src/client/transport.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { Conversation } from "../../importers/answer.ts";
import { explain } from "../../text/explain.ts";
import { type Batch, batchFrom } from "./batches.ts";
import type { PlacedLine } from "./import_lines.ts";

/** Most refusals that are kept in words. */
const REFUSALS = 50;

/** What is to be imported. */
export interface ImportPlan {
  readonly items: readonly PlacedLine[];
  readonly conversations: readonly Conversation[];
  /** Where everything goes; absent: where a line says, else to {@linkcode namespace}. */
  readonly isAllInto: boolean;
  readonly namespace: string;
  /** What its reader found odd, in words for people. */
  readonly remarks: readonly string[];
}

/** Why a line was not taken. */
export interface Refusal {
  readonly where: string;
  readonly reason: string;
}

/** How far an import is. */
export interface ImportProgress {
  /** Memories in all, and those of which it is known what became of them. */
  readonly total: number;
  readonly sent: number;
  readonly taken: number;
  readonly exists: number;
  readonly older: number;
  readonly deleted: number;
  readonly expired: number;
  readonly refused: number;
  readonly refusals: readonly Refusal[];
  /** Parts of conversations in all, those that were read, and the facts in them. */
  readonly parts: number;
  readonly read: number;
  readonly facts: number;
}

/** What an import needs of the page. */
export interface ImportSurroundings {
  /** A question to the relayer. */
  readonly ask: <T>(use: (client: SvcClient) => Promise<T>) => Promise<T>;
  /** Told of every change. */
  readonly changed: () => void;
}

/** A part of a conversation that is to be read. */
interface Part {
  readonly where: string;
  readonly text: string;
  readonly at: string | undefined;
  /** That of all parts of its conversation; absent where there is only one. */
  readonly session: string | undefined;
  readonly idempotencyKey: string;
}

const NOTHING: ImportProgress = {
  total: 0,
  sent: 0,
  taken: 0,
  exists: 0,
  older: 0,
  deleted: 0,
  expired: 0,
  refused: 0,
  refusals: [],
  parts: 0,
  read: 0,
  facts: 0,
};

function partsOf(conversations: readonly Conversation[]): Part[] {
  return conversations.flatMap(({ title, texts }, i) => {
    const session = texts.length < 2 ? undefined : randomUuid();
    return texts.map(({ text, at }) => ({
      where: title === undefined ? `conversation ${i + 1}` : `“${title}”`,
      text,
      at,
      session,
      idempotencyKey: randomUuid(),
    }));
  });
}

/** Whether this alone is wrong with it, so that the others need not wait. */
const isItsOwnFault = (error: unknown): error is SvcError =>
  error instanceof SvcError && !error.retryable &&
  (error.status === 400 || error.status === 413 || error.status === 422) &&
  !error.code.startsWith("decrypt_credential");

/** Saves what files hold, batch by batch; stopped or broken off, it can go on where it was. */
export class FileImport {
  readonly #surroundings: ImportSurroundings;
  readonly #plan: ImportPlan;
  #items: readonly PlacedLine[];
  #parts: readonly Part[];
  #next = 0;
  #batch: Batch | undefined;
  #deleted: PlacedLine[] = [];
  #bringBack = false;
  #stop = new AbortController();
  progress: ImportProgress;
  /** Whether it is under way. */
  running = false;
  /** Why it broke off. */
  error: unknown;
  /** When the relayer takes more, milliseconds since the epoch. */
  pausedUntil: number | undefined;

  /** Sends nothing until {@linkcode run}. */
  constructor(plan: ImportPlan, surroundings: ImportSurroundings) {
    this.#plan = plan;
    this.#surroundings = surroundings;
    this.#items = plan.items;
    this.#parts = partsOf(plan.conversations);
    this.progress = { ...NOTHING, total: plan.items.length, parts: this.#parts.length };
  }

  /** What its reader found odd. */
  get remarks(): readonly string[] {
    return this.#plan.remarks;
  }

  /** Whether everything was sent. */
  get isDone(): boolean {
    const { total, sent, parts, read } = this.progress;
    return !this.running && sent === total && read === parts;
  }

  /** Saves what is left. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    this.error = undefined;
    this.#stop = new AbortController();
    this.#surroundings.changed();
    try {
      await this.#sendLines();
      await this.#readParts();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.error = error;
    }
    this.pausedUntil = undefined;
    this.running = false;
    this.#surroundings.changed();
  }

  /** Sends nothing more; what was sent may still be taken. */
  stop(): void {
    this.#stop.abort();
  }

  /** Imports once more what was deleted here earlier, under other ids. */
  async bringBack(): Promise<void> {
    if (!this.isDone) return;
    this.#items = this.#deleted;
    this.#deleted = [];
    this.#next = 0;
    this.#bringBack = true;
    this.progress = {
      ...this.progress,
      total: this.progress.total + this.#items.length - this.progress.deleted,
      sent: this.progress.sent - this.progress.deleted,
      deleted: 0,
    };
    await this.run();
  }

  async #sendLines(): Promise<void> {
    const { namespace, isAllInto } = this.#plan;
    const namespaceOf = (line: PlacedLine["line"]) =>
      isAllInto ? namespace : line.namespace ?? namespace;
    while ((this.#batch ??= batchFrom(this.#items, this.#next, namespaceOf)) !== undefined) {
      const batch = this.#batch;
      const bringBack = this.#bringBack;
      await this.#patiently(async (client, signal) => {
        const { ndjson, idempotencyKey } = batch;
        const answer = await client.importMemories(ndjson, { idempotencyKey, bringBack, signal });
        this.#count(batch, answer);
      }, (error) => this.#refuse(batch.items, explain(error)));
      this.#next += batch.items.length;
      this.#batch = undefined;
      this.#surroundings.changed();
    }
  }

  async #readParts(): Promise<void> {
    const { namespace } = this.#plan;
    for (
      const { where, text, at, session, idempotencyKey } of this.#parts.slice(this.progress.read)
    ) {
      await this.#patiently(async (client, signal) => {
        const fields = { namespace, occurred_at: at, session };
        const { fact_count } = await client.analyze(text, fields, { idempotencyKey, signal });
        this.progress = { ...this.progress, facts: this.progress.facts + fact_count };
      }, (error) => this.#note([{ where, reason: explain(error) }], 1));
      this.progress = { ...this.progress, read: this.progress.read + 1 };
      this.#surroundings.changed();
    }
  }

  /** Asks until the relayer has time for it, or says that it is wrong. */
  async #patiently(
    use: (client: SvcClient, signal: AbortSignal) => Promise<void>,
    refused: (error: SvcError) => void,
  ): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.#surroundings.ask((client) => use(client, signal));
      } catch (error) {
        if (isItsOwnFault(error)) return refused(error);
        const isBusy = error instanceof SvcError && error.retryable;
        if (!isBusy || error.retryAfter === undefined) throw error;
        await this.#pause(error.retryAfter * 1000, signal);
      }
    }
  }

  #count({ items }: Batch, { accepted, skips, errors }: Imported): void {
    const { progress } = this;
    const number = (wanted: string) => skips.filter(({ reason }) => reason === wanted).length;
    for (const { line, reason } of skips) {
      const item = items[line - 1];
      if (reason === "deleted" && item !== undefined) this.#deleted.push(item);
    }
    this.progress = {
      ...progress,
      sent: progress.sent + items.length,
      taken: progress.taken + accepted,
      exists: progress.exists + number("exists"),
      older: progress.older + number("older"),
      deleted: progress.deleted + number("deleted"),
      expired: progress.expired + number("expired"),
    };
    const refusals = errors.map(({ line, error }) => ({
      where: items[line - 1]?.where ?? `line ${line}`,
      reason: error,
    }));
    this.#note(refusals, refusals.length);
  }

  #refuse(items: readonly PlacedLine[], reason: string): void {
    this.progress = { ...this.progress, sent: this.progress.sent + items.length };
    this.#note(items.slice(0, 1).map(({ where }) => ({ where, reason })), items.length);
  }

  #note(refusals: readonly Refusal[], count: number): void {
    const { progress } = this;
    this.progress = {
      ...progress,
      refused: progress.refused + count,
      refusals: [...progress.refusals, ...refusals].slice(0, REFUSALS),
    };
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    this.pausedUntil = Date.now() + ms;
    this.#surroundings.changed();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      }, { once: true });
    });
    this.pausedUntil = undefined;
    this.#surroundings.changed();
  }
}
