import { randomUuid } from "../../../../src/client/transport.ts";

/** What the entries of tabs begin with, and the locks that tabs hold as long as they are there. */
const PREFIX = "svc-deletions-";

/** A memory that is to be deleted; never its text. */
export interface Left {
  readonly memoryId: string;
  readonly namespace: string;
  /** The version that was shown. */
  readonly version?: number | undefined;
}

/** As {@linkcode Left}, of an account. */
interface Kept extends Left {
  readonly accountId: string;
}

function read(name: string): readonly Kept[] {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "[]");
  } catch {
    return [];
  }
}

function write(name: string, items: readonly Kept[]): void {
  try {
    if (items.length === 0) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(items));
  } catch {
    // A browser that keeps nothing sends what it can when the page is left.
  }
}

function names(): string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
  } catch {
    return [];
  }
}

/**
 * Deletions that wait, kept in this browser: a browser that is closed, or a relayer that does not
 * answer then, only puts them off until the page is opened again. Written at once and not by and by:
 * what was taken back must not be deleted because the tab was closed right after it.
 */
export class KeptDeletions {
  readonly #name = PREFIX + randomUuid();

  /** Holds the lock from the beginning: nobody can take up what is added later. */
  constructor() {
    void navigator.locks.request(this.#name, () => new Promise(() => {}));
  }

  /** Notes that a memory is to be deleted. */
  add(accountId: string, { memoryId, namespace, version }: Left): void {
    write(this.#name, [...read(this.#name), { memoryId, namespace, version, accountId }]);
  }

  /** Notes that nothing is left to be done about a memory. */
  remove(memoryId: string): void {
    write(this.#name, read(this.#name).filter((item) => item.memoryId !== memoryId));
  }

  /** Forgets everything that tabs were to do. */
  clear(): void {
    for (const name of names()) write(name, []);
  }

  /**
   * Takes up what other tabs are to delete, as soon as they are gone.
   *
   * @param take Is given what a tab left; from then on it is this one's.
   */
  watch(accountId: string, take: (left: readonly Left[]) => void): void {
    for (const name of names()) {
      if (name === this.#name) continue;
      void navigator.locks.request(name, () => {
        const left = read(name).filter((item) => item.accountId === accountId);
        write(name, []);
        for (const item of left) this.add(accountId, item);
        if (left.length > 0) take(left);
      });
    }
  }
}
