/** Sends texts together; answers one result a text, in order. */
type Send<T> = (
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<readonly PromiseSettledResult<T>[]>;

/** Bounds of {@linkcode Batches}. */
interface BatchBounds {
  /** Most texts of a batch. */
  readonly items: number;
  /** Most characters of a batch of several texts. */
  readonly characters: number;
  /** Batches under way at once. */
  readonly lanes: number;
}

interface Item<T> {
  readonly text: string;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
  readonly batch: { current?: Batch<T> };
  given: boolean;
}

interface Batch<T> {
  readonly items: readonly Item<T>[];
  readonly controller: AbortController;
}

/**
 * Texts of many callers in few calls: what waits together is sent together, as soon as a lane is
 * free. A text whose caller left is not sent; a batch all of whose callers left is ended.
 */
export class Batches<T> {
  readonly #send: Send<T>;
  readonly #bounds: BatchBounds;
  #waiting: Item<T>[] = [];
  #underWay = 0;
  #flushQueued = false;
  #items: number;

  /** Sends nothing by itself. */
  constructor(send: Send<T>, bounds: BatchBounds) {
    this.#send = send;
    this.#bounds = bounds;
    this.#items = bounds.items;
  }

  /** So many texts were too many: batches have half as many from here on. */
  shrink(items: number): void {
    this.#items = Math.max(1, Math.min(this.#items, items >> 1));
  }

  /** The result for one text; rejects with the signal's reason when that comes first. */
  add(text: string, signal?: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const item: Item<T> = { text, resolve, reject, batch: {}, given: true };
    const leave = () => {
      item.given = false;
      reject(signal?.reason);
      this.#abandon(item);
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiting.push(item);
    this.#queueFlush();
    return promise.finally(() => signal?.removeEventListener("abort", leave));
  }

  #abandon(item: Item<T>): void {
    const batch = item.batch.current;
    if (batch === undefined) this.#waiting = this.#waiting.filter((other) => other !== item);
    else if (batch.items.every(({ given }) => !given)) batch.controller.abort();
  }

  /** Waits for the end of the tick, so that calls of one tick share a batch. */
  #queueFlush(): void {
    if (this.#flushQueued) return;
    this.#flushQueued = true;
    queueMicrotask(() => {
      this.#flushQueued = false;
      while (this.#underWay < this.#bounds.lanes && this.#waiting.length > 0) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const items = this.#waiting.splice(0, this.#length());
    const batch: Batch<T> = { items, controller: new AbortController() };
    for (const item of items) item.batch.current = batch;
    this.#underWay++;
    try {
      const texts = items.map(({ text }) => text);
      const results = await this.#send(texts, batch.controller.signal);
      for (const [i, item] of items.entries()) {
        const result = results[i];
        if (result?.status === "fulfilled") item.resolve(result.value);
        else item.reject(result?.reason);
      }
    } catch (error) {
      for (const item of items) item.reject(error);
    } finally {
      this.#underWay--;
      this.#queueFlush();
    }
  }

  #length(): number {
    let characters = 0;
    const over = this.#waiting.findIndex(({ text }) => {
      characters += text.length;
      return characters > this.#bounds.characters;
    });
    const fits = over < 0 ? this.#waiting.length : Math.max(1, over);
    return Math.min(fits, this.#items);
  }
}
