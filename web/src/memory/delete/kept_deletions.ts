import { randomUuid } from "../../../../src/client/transport.ts";
import { keep, read } from "../../storage.ts";

const NAME = "deletions";
/** Held while the list is changed. */
const LIST_LOCK = "svc-deletions";

/** A memory that a tab is to delete; never its text. */
interface Kept {
  readonly memoryId: string;
  readonly namespace: string;
  readonly accountId: string;
  /** Name of the lock that the tab holds as long as it is there. */
  readonly tab: string;
}

async function change(to: (before: readonly Kept[]) => readonly Kept[]): Promise<void> {
  await navigator.locks.request(LIST_LOCK, async () => {
    await keep(NAME, to(await read<readonly Kept[]>(NAME) ?? []));
  });
}

/**
 * Deletions that wait, kept in this browser: a browser that is closed, or a relayer that does not
 * answer then, only puts them off until the page is opened again.
 */
export class KeptDeletions {
  #tab: string | undefined;

  #lock(): string {
    if (this.#tab === undefined) {
      this.#tab = `svc-tab-${randomUuid()}`;
      void navigator.locks.request(this.#tab, () => new Promise(() => {}));
    }
    return this.#tab;
  }

  /** Notes that a memory is to be deleted. */
  async add(accountId: string, memoryId: string, namespace: string): Promise<void> {
    const kept = { memoryId, namespace, accountId, tab: this.#lock() };
    await change((before) => [...before, kept]);
  }

  /** Notes that nothing is left to be done about a memory. */
  async remove(memoryId: string): Promise<void> {
    await change((before) => before.filter((item) => item.memoryId !== memoryId));
  }

  /** What tabs left that are there no more; from now on it is this one's. */
  async takeOver(accountId: string): Promise<readonly Pick<Kept, "memoryId" | "namespace">[]> {
    const found = await read<readonly Kept[]>(NAME) ?? [];
    if (found.length === 0) return [];
    const { held = [] } = await navigator.locks.query();
    const tabs = new Set(held.map(({ name }) => name));
    const tab = this.#lock();
    const isLeft = (item: Kept) => item.accountId === accountId && !tabs.has(item.tab);
    const left: Kept[] = [];
    await change((before) => {
      left.push(...before.filter(isLeft));
      return before.map((item) => isLeft(item) ? { ...item, tab } : item);
    });
    return left;
  }
}
