/** Sends texts together; answers one result a text, in order: one may fail by itself. */
type Send<Text, T> = (
  texts: readonly Text[],
  signal: AbortSignal,
) => Promise<readonly (T | Promise<T>)[]>;

interface BatchBounds<Text> {
  readonly items: number;
  /** Most characters of a batch of several texts. */
  readonly characters: number;
  /** Batches under way at once. */
  readonly lanes: number;
  readonly length: (text: Text) => number;
}

interface Item<Text, T> {
  readonly text: Text;
  readonly resolve: (value: T | Promise<T>) => void;
  readonly reject: (reason: unknown) => void;
  batch: Batch<Text, T> | undefined;
  wanted: boolean;
}

interface Batch<Text, T> {
  readonly items: readonly Item<Text, T>[];
  readonly controller: AbortController;
}

/**
 * Texts of many callers in few calls: what waits together is sent together, as soon as a lane is
 * free. A text whose caller left is not sent; a batch all of whose callers left is ended.
 */
export class Batches<Text, T> {
  readonly #send: Send<Text, T>;
  readonly #bounds: BatchBounds<Text>;
  #waiting: Item<Text, T>[] = [];
  #underWay = 0;
  #flushQueued = false;
  #items: number;

  /** Sends nothing by itself. */
  constructor(send: Send<Text, T>, bounds: BatchBounds<Text>) {
    this.#send = send;
    this.#bounds = bounds;
    this.#items = bounds.items;
  }

  /** So many texts were too many: batches have half as many from here on. */
  shrink(items: number): void {
    this.#items = Math.max(1, Math.min(this.#items, items >> 1));
  }

  /** The result for one text; rejects with the signal's reason when that comes first. */
  add(text: Text, signal?: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const item: Item<Text, T> = { text, resolve, reject, batch: undefined, wanted: true };
    const leave = () => {
      item.wanted = false;
      reject(signal?.reason);
      this.#abandon(item);
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.#waiting.push(item);
    this.#queueFlush();
    return promise.finally(() => signal?.removeEventListener("abort", leave));
  }

  #abandon(item: Item<Text, T>): void {
    const { batch } = item;
    if (batch === undefined) this.#waiting = this.#waiting.filter((other) => other !== item);
    else if (!batch.items.some(({ wanted }) => wanted)) batch.controller.abort();
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
    const batch: Batch<Text, T> = { items, controller: new AbortController() };
    for (const item of items) item.batch = batch;
    this.#underWay++;
    try {
      const texts = items.map(({ text }) => text);
      const results = await this.#send(texts, batch.controller.signal);
      for (const [i, { resolve }] of items.entries()) resolve(results[i]!);
    } catch (error) {
      for (const item of items) item.reject(error);
    } finally {
      this.#underWay--;
      this.#queueFlush();
    }
  }

  #length(): number {
    const { characters, length } = this.#bounds;
    let sum = 0;
    const over = this.#waiting.findIndex(({ text }) => (sum += length(text)) > characters);
    const fits = over < 0 ? this.#waiting.length : Math.max(1, over);
    return Math.min(fits, this.#items);
  }
}
