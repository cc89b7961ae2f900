import type { KeyUse } from "./core/key_use_table.ts";
import type { OwnerCountTable } from "./core/owner_count_table.ts";

const NAME = "used ";
/** A noted time may be this much older than the one in memory, in milliseconds. */
const WRITE_EVERY_MS = 300_000;

/**
 * When delegate keys were used last, where several relayers take turns: exact where the owner is, and
 * after the relayer that has the owner was killed up to five minutes old.
 */
export class OwnerKeyUse implements KeyUse {
  readonly #table: Omit<OwnerCountTable, never>;
  readonly #used = new Map<string, { at: number; written: number }>();
  /** Keys of which something is not written, by owner. */
  readonly #waiting = new Map<string, Set<string>>();

  constructor(table: Omit<OwnerCountTable, never>) {
    this.#table = table;
  }

  touch(publicKey: string, at: number, owner: string): void {
    const entry = this.#used.get(publicKey) ?? { at, written: -Infinity };
    entry.at = at;
    this.#used.set(publicKey, entry);
    if (at - entry.written < WRITE_EVERY_MS) {
      this.#waiting.getOrInsertComputed(owner, () => new Set()).add(publicKey);
      return;
    }
    this.#write(owner, publicKey);
  }

  lastUsed(publicKey: string): number | undefined {
    return this.#used.get(publicKey)?.at;
  }

  enter(owner: string): void {
    for (const { name, value } of this.#table.of(owner)) {
      if (!name.startsWith(NAME)) continue;
      this.#used.set(name.slice(NAME.length), { at: Number(value), written: Number(value) });
    }
  }

  settle(owner: string): void {
    for (const publicKey of this.#waiting.get(owner) ?? []) this.#write(owner, publicKey);
    this.#waiting.delete(owner);
  }

  forget(owner: string): void {
    this.#waiting.delete(owner);
  }

  #write(owner: string, publicKey: string): void {
    const entry = this.#used.get(publicKey)!;
    entry.written = entry.at;
    this.#table.write(owner, `${NAME}${publicKey}`, String(entry.at));
  }
}
