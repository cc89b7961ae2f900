/** Timers that are cleared together. */
export class Timers {
  readonly #ids = new Set<ReturnType<typeof setTimeout>>();

  /** Calls back after so many milliseconds of elapsed time. */
  after(ms: number, call: () => void): void {
    const id = setTimeout(() => {
      this.#ids.delete(id);
      call();
    }, ms);
    this.#ids.add(id);
  }

  /** Clears every timer. */
  clear(): void {
    for (const id of this.#ids) clearTimeout(id);
    this.#ids.clear();
  }
}
