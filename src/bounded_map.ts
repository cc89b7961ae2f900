/**
 * A map with room for some entries. The latest one to be set is the newest, also where its key was
 * there before; the oldest make way when there is no room.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    if (this.size >= this.#most) this.#makeRoom();
    return super.set(key, value);
  }

  /** Deletes entries, the oldest first, as long as they are over. */
  deleteWhile(isOver: (value: V) => boolean): void {
    for (const [key, value] of this) {
      if (!isOver(value)) return;
      this.delete(key);
    }
  }

  /** A tenth at a time: the engine searches again what was deleted at the front before. */
  #makeRoom(): void {
    let count = Math.ceil(this.#most / 10);
    for (const key of this.keys()) {
      this.delete(key);
      if (--count === 0) return;
    }
  }
}
