import type { AnswerOf } from "../../../../src/wire/route_types.ts";
import type { SvcClient } from "../../../../src/client/client.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { Left } from "./kept_deletions.ts";
import { type Outcome, outcomeOf } from "./receipt.ts";
import { sendAtOnce, type SignedRequest } from "./presigned.ts";

/** How long a deletion can be undone, and at least after it was looked at, in milliseconds. */
const UNDO_MS = 10_000;
const LEAST_MS = 3000;

/** What deletions need of the page. */
export interface DeletionSurroundings {
  /** A question to the relayer. */
  readonly ask: <T>(use: (client: SvcClient) => Promise<T>) => Promise<T>;
  /** Signs a request for later. */
  readonly sign: (
    name: string,
    use: (client: SvcClient) => Promise<unknown>,
  ) => Promise<SignedRequest>;
  /** Told of every change. */
  readonly changed: () => void;
  /** Keeps in the browser that a memory is to be deleted. */
  readonly keep: (memory: Left) => void;
  /** Nothing is left to be done about it. */
  readonly settle: (memoryId: string) => void;
}

/** A memory that is to be deleted. */
export interface Doomed {
  readonly memoryId: string;
  readonly namespace: string;
  /** The version that was shown: what was changed meanwhile stays. */
  readonly version?: number | undefined;
  /** The beginning of its text. */
  readonly text: string;
}

/** A deletion that can be undone, is under way, or is over. */
export interface Deletion {
  readonly id: number;
  readonly state: "waiting" | "sending" | "failed" | "over";
  /** What is deleted, in a few words. */
  readonly what: string;
  /** The memory; absent where it was a namespace. */
  readonly memory?: Doomed;
  /** Whether it was left over by a page that was closed. */
  readonly isLate?: true;
  /** When it can be undone no more, milliseconds since the epoch. */
  readonly endsAt: number;
  readonly error?: unknown;
  readonly outcome?: Outcome;
}

const deleted = (client: SvcClient, { memoryId, version }: Doomed) =>
  client.deleteMemory(memoryId, { expectedVersion: version });

/** A timer, and the request that is sent if the page is left first. */
interface Pending {
  timer: ReturnType<typeof setTimeout> | undefined;
  request?: SignedRequest;
}

/** Deletions of this page, which wait until they can be undone no more. */
export class Deletions {
  readonly #surroundings: DeletionSurroundings;
  readonly #pending = new Map<number, Pending>();
  #last = 0;
  /** When the time was stopped, milliseconds since the epoch. */
  #heldAt: number | undefined;
  /** Newest first. */
  items: readonly Deletion[] = [];
  /** Ids of memories that are shown no more. */
  hidden: ReadonlySet<string> = new Set();
  /** How many have come to their end: lists are loaded again. */
  ended = 0;
  /** What was done last, for those who do not see it. */
  said = "";

  /** Nothing is deleted yet. */
  constructor(surroundings: DeletionSurroundings) {
    this.#surroundings = surroundings;
  }

  /** Whether the time stands still. */
  get isHeld(): boolean {
    return this.#heldAt !== undefined;
  }

  /** How many memories of a namespace are hidden, but not deleted yet. */
  waitingIn(namespace: string): number {
    return this.items.filter(({ state, memory }) =>
      (state === "waiting" || state === "sending") && memory?.namespace === namespace
    ).length;
  }

  /** Hides a memory, and deletes it unless that is undone in time. */
  delete(memory: Doomed): void {
    const id = ++this.#last;
    const endsAt = (this.#heldAt ?? Date.now()) + UNDO_MS;
    this.items = [{ id, state: "waiting", what: memory.text, memory, endsAt }, ...this.items];
    this.hidden = new Set([...this.hidden, memory.memoryId]);
    const pending: Pending = { timer: undefined };
    this.#pending.set(id, pending);
    this.#plan(id);
    this.#surroundings
      .sign(
        `DELETE /api/memories/${memory.memoryId}`,
        (client) => deleted(client, memory),
      )
      .then((request) => pending.request = request)
      // Then it is not deleted if the page is left; whoever stays learns why by and by.
      .catch(() => undefined);
    this.#surroundings.keep(memory);
    this.#say(`Deleted: ${memory.text}. Undo with Control and Z.`);
  }

  /** Deletes what a page that was closed did not. */
  finishLate(memories: readonly Left[]): void {
    for (const { memoryId, namespace, version } of memories) {
      const id = ++this.#last;
      const memory = {
        memoryId,
        namespace,
        version,
        text: "a memory deleted before the page was closed",
      };
      const item = { id, state: "sending", what: memory.text, memory, endsAt: 0 } as const;
      this.items = [{ ...item, isLate: true }, ...this.items];
      this.hidden = new Set([...this.hidden, memoryId]);
      void this.#send(id, memory);
    }
  }

  /** Takes a deletion back; answers its memory, or nothing when it is too late. */
  undo(id = this.items.find(({ state }) => state === "waiting")?.id): Doomed | undefined {
    const item = this.items.find((one) => one.id === id && one.state === "waiting");
    if (item?.memory === undefined) return undefined;
    this.#forget(item);
    this.#show(item.memory.memoryId);
    this.#surroundings.settle(item.memory.memoryId);
    this.#say(`Kept: ${item.memory.text}`);
    return item.memory;
  }

  /** Tries again what failed. */
  retry(id: number): void {
    const item = this.items.find((one) => one.id === id && one.state === "failed");
    if (item?.memory === undefined) return;
    this.hidden = new Set([...this.hidden, item.memory.memoryId]);
    void this.#send(id, item.memory);
  }

  /** Takes an entry off that is over, or all of them. */
  close(id?: number): void {
    this.items = this.items.filter((item) =>
      item.state === "waiting" || item.state === "sending" || (id !== undefined && item.id !== id)
    );
    this.#surroundings.changed();
  }

  /** Adds the end of a deletion that could not be undone. */
  report(what: string, answer: AnswerOf<"POST /api/forget">): void {
    const outcome = outcomeOf(answer);
    const ended = { id: ++this.#last, state: "over", what, endsAt: 0, outcome } as const;
    this.items = [ended, ...this.items];
    this.#say(`${what}. ${outcome.words}`);
  }

  /** Stops the time while somebody reads. */
  hold(): void {
    if (this.isHeld) return;
    this.#heldAt = Date.now();
    for (const pending of this.#pending.values()) clearTimeout(pending.timer);
    this.#surroundings.changed();
  }

  /** Lets the time go on. */
  release(): void {
    if (this.#heldAt === undefined) return;
    const now = Date.now();
    const held = now - this.#heldAt;
    this.#heldAt = undefined;
    this.items = this.items.map((item) =>
      item.state !== "waiting" ? item : {
        ...item,
        endsAt: Math.max(item.endsAt + held, now + LEAST_MS),
      }
    );
    for (const id of this.#pending.keys()) this.#plan(id);
    this.#surroundings.changed();
  }

  /** The page is being left: what waits is sent now, without an answer. */
  leave(): void {
    for (const [id, { timer, request }] of this.#pending) {
      clearTimeout(timer);
      if (request !== undefined) sendAtOnce(request);
      // Where the page is shown again it does not know the outcome, and need not.
      this.items = this.items.filter((item) => item.id !== id);
      this.ended++;
    }
    this.#pending.clear();
    this.#surroundings.changed();
  }

  /** Deletes what waits, before somebody signs out. */
  async finish(): Promise<void> {
    await Promise.all(this.items.map(async ({ id, state, memory }) => {
      if (state === "waiting" && memory !== undefined) await this.#send(id, memory);
    }));
    this.items = [];
    this.hidden = new Set();
  }

  #plan(id: number): void {
    const pending = this.#pending.get(id);
    const item = this.items.find((one) => one.id === id);
    if (pending === undefined || item?.memory === undefined || this.isHeld) return;
    const { memory } = item;
    pending.timer = setTimeout(() => void this.#send(id, memory), item.endsAt - Date.now());
  }

  async #send(id: number, memory: Doomed): Promise<void> {
    const { memoryId, text } = memory;
    clearTimeout(this.#pending.get(id)?.timer);
    this.#pending.delete(id);
    this.#set(id, { state: "sending" });
    try {
      const answer = await this.#surroundings.ask((client) => deleted(client, memory));
      const outcome = outcomeOf(answer);
      this.#set(id, { state: "over", outcome });
      this.#say(`Deleted for good: ${text}. ${outcome.words}`);
    } catch (error) {
      if (error instanceof SvcError && error.code === "memory_not_found") {
        const outcome = { words: "It was deleted elsewhere before." };
        const isLate = this.items.some((item) => item.id === id && item.isLate === true);
        // The page that was closed could do it after all.
        if (isLate) this.items = this.items.filter((item) => item.id !== id);
        else this.#set(id, { state: "over", outcome });
      } else {
        this.#set(id, { state: "failed", error });
        this.#show(memoryId);
      }
    }
    this.#surroundings.settle(memoryId);
    this.ended++;
    this.#surroundings.changed();
  }

  #set(id: number, change: Partial<Deletion>): void {
    this.items = this.items.map((item) => item.id === id ? { ...item, ...change } : item);
    this.#surroundings.changed();
  }

  #show(memoryId: string): void {
    this.hidden = new Set([...this.hidden].filter((one) => one !== memoryId));
  }

  #forget({ id }: Deletion): void {
    clearTimeout(this.#pending.get(id)?.timer);
    this.#pending.delete(id);
    this.items = this.items.filter((item) => item.id !== id);
  }

  #say(text: string): void {
    this.said = text;
    this.#surroundings.changed();
  }
}
