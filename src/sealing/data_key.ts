import { SvcError } from "../errors.ts";
import type { CoreDb } from "../storage/core_db.ts";
import { RelayerKey } from "./relayer_key.ts";

const PURPOSE = "data key";

const sealed = (dataKey: RelayerKey, relayerKey: RelayerKey): Uint8Array =>
  relayerKey.sealer(PURPOSE).seal(Uint8Array.fromHex(dataKey.reveal()), PURPOSE);

/**
 * The key that everything of a data directory is sealed under: its first relayer key, for good, so
 * that this one and the blobs alone bring everything back. A relayer key that replaced it opens it
 * from core.db, where it is sealed under the new one.
 *
 * A relayer key that replaces another one shuts that one out when it is used for the first time.
 *
 * @param source Where the relayer key comes from, for the message.
 * @param place Where the data is, for the message.
 * @throws {SvcError} `invalid_parameter` for a relayer key that does not open the data.
 */
export function openDataKey(
  core: CoreDb,
  relayerKey: RelayerKey,
  source = "this relayer",
  place = core.folder,
): RelayerKey {
  const fingerprint = relayerKey.fingerprint();
  if (core.bind(fingerprint) === fingerprint) return relayerKey;
  const slot = core.keySlots.get(fingerprint);
  if (slot === undefined) {
    const text = `The data in ${place} belongs to another relayer key than that of ${source}`;
    throw new SvcError("invalid_parameter", text);
  }
  core.keySlots.closeOlder(fingerprint);
  return new RelayerKey(relayerKey.sealer(PURPOSE).open(slot, PURPOSE));
}

/**
 * Lets the next relayer key in, beside the present one; another next one, whose change was not ended,
 * is shut out. {@linkcode openDataKey} with the next key shuts the present one out.
 *
 * @returns whether the present key is then shut out for good: not where it is the data key.
 * @throws {SvcError} `invalid_parameter` when the present key does not open the data.
 */
export function letInNextKey(
  core: CoreDb,
  present: RelayerKey,
  next: RelayerKey,
  source?: string,
  place?: string,
): boolean {
  const dataKey = openDataKey(core, present, source, place);
  core.keySlots.closeNewer(present.fingerprint());
  core.keySlots.add(next.fingerprint(), sealed(dataKey, next));
  return dataKey.fingerprint() !== present.fingerprint();
}
