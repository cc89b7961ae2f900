import { onOneLine } from "../../../src/printable.ts";
import type { BundleStatement } from "../../../src/wire/signing/bundles.ts";
import { CommandError, EXIT } from "../../io.ts";
import { clientOf, type Session } from "../../session.ts";
import { Unreadable } from "../unreadable.ts";

/** Who made a bundle, as far as anybody here can tell. */
export interface Maker {
  /** Whether the key is one that was given, or of the account that is signed in. */
  readonly isKnown: boolean;
  /** A sentence for people. */
  readonly words: string;
}

/** The key that must have signed; `undefined` where any may. @throws {CommandError} for no key. */
export function keyOf({ line: { texts: { key } } }: Session): string | undefined {
  if (key === undefined || /^[0-9a-f]{64}$/i.test(key)) return key?.toLowerCase();
  throw new CommandError(EXIT.usage, "--key must be 64 hex characters.");
}

/** Name of a key of the account that is signed in; `undefined` where the relayer knows no such key. */
async function labelOf(session: Session, publicKey: string): Promise<string | undefined> {
  // A relayer that does not tell leaves the key unknown, and then somebody is asked.
  const { keys } = await clientOf(session).accountKeys().catch(() => ({ keys: [] }));
  return keys.find(({ public_key }) => public_key.toLowerCase() === publicKey)?.label;
}

/**
 * Finds out whose key signed a bundle.
 *
 * @param asksRelayer Whether the relayer may be asked for the keys of the account.
 * @throws {Unreadable} when another key was named.
 */
export async function makerOf(
  session: Session,
  { public_key, account_id }: BundleStatement,
  asksRelayer: boolean,
): Promise<Maker> {
  const wanted = keyOf(session);
  if (wanted !== undefined && wanted !== public_key) {
    throw new Unreadable(`another key than the one you gave signed it (${public_key})`);
  }
  const known = (words: string): Maker => ({ isKnown: true, words });
  if (wanted !== undefined) return known("The key that you gave signed it.");
  if (session.credentials?.delegatePublicKeyHex.toLowerCase() === public_key) {
    return known("The key of this computer signed it.");
  }
  const label = asksRelayer ? await labelOf(session, public_key) : undefined;
  if (label !== undefined) return known(`Your key "${onOneLine(label)}" signed it.`);
  const words = `Nothing here says whose key signed it: compare it with the one you know.\n` +
    `Key: ${public_key}\nAccount it names: ${account_id}`;
  return { isKnown: false, words };
}
