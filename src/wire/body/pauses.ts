/** Parts after which others have a turn: those that have arrived already come without one. */
const PARTS_A_TURN = 32;

/** Those who let others have a turn; of the whole process, as they share its event loop. */
let pausing = 0;

/** Counts the parts of one body, and lets others have a turn now and then. */
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
