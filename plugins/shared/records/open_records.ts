import type { SealedItem } from "../../../src/interfaces/mod.ts";
import { keyIdOf, type RecordOpener } from "./record.ts";

type Settled = PromiseSettledResult<Uint8Array>;

/**
 * Opens records of one scope, each for itself, in the order given.
 *
 * @param openerOf Answers what opens an item, or throws why there is nothing; asked once a key id.
 */
export async function openRecords(
  items: readonly SealedItem[],
  openerOf: (keyId: string, item: SealedItem) => RecordOpener,
): Promise<Settled[]> {
  const openers = new Map<string, RecordOpener>();
  const open = (item: SealedItem): Uint8Array | Promise<Uint8Array> => {
    const keyId = keyIdOf(item.record);
    let opener = openers.get(keyId);
    if (opener === undefined) {
      opener = openerOf(keyId, item);
      openers.set(keyId, opener);
    }
    return opener.open(item.record, item.memoryId);
  };
  const opened = items.map((item) => attempt(() => open(item)));
  // Most scopes have small records only, which are open by now: 10,000 promises would cost more.
  return opened.some((result) => result instanceof Promise)
    ? await Promise.all(opened)
    : opened as Settled[];
}

/** What a call answers or throws, later where it answers a promise. */
function attempt(call: () => Uint8Array | Promise<Uint8Array>): Settled | Promise<Settled> {
  try {
    const value = call();
    if (!(value instanceof Promise)) return { status: "fulfilled", value };
    return value.then(
      (value) => ({ status: "fulfilled", value }),
      (reason: unknown) => ({ status: "rejected", reason }),
    );
  } catch (reason) {
    return { status: "rejected", reason };
  }
}
