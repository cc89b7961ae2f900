/** Buffered chunks never yield to the event loop, so yield after this many. */
const PARTS_A_TURN = 32;

/** Bodies that yield at this moment, in the whole process: they share one event loop. */
let pausing = 0;

/** Counts the chunks of one body, and yields to the event loop now and then. */
export class Pauses {
  #parts = 0;

  /**
   * To be waited for after each part. The more bodies come in crumbs, the longer each waits: together
   * they must not fill the time.
   */
  async next(): Promise<void> {
    if (++this.#parts % PARTS_A_TURN !== 0) return;
    pausing++;
    await new Promise((resolve) => setTimeout(resolve, pausing));
    pausing--;
  }
}
