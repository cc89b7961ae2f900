import type { OpenContext, SealedItem } from "../../src/interfaces/mod.ts";
import { type DataKey, keyIdOf, RecordOpener } from "./record.ts";

type Settled = PromiseSettledResult<Uint8Array>;

/**
 * Opens records of one scope, each for itself, in the order given.
 *
 * @param keyOf Answers the data key of an item, or throws why there is none; asked once a key id.
 */
export async function openRecords(
  items: readonly SealedItem[],
  context: OpenContext,
  keyOf: (keyId: string, item: SealedItem) => DataKey,
): Promise<Settled[]> {
  const openers = new Map<string, RecordOpener>();
  const open = (item: SealedItem): Uint8Array | Promise<Uint8Array> => {
    const keyId = keyIdOf(item.record);
    let opener = openers.get(keyId);
    if (opener === undefined) {
      opener = new RecordOpener(keyOf(keyId, item), context);
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
