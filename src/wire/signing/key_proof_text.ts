/** What stands before the account id in the bytes a new key signs (docs/protocol.md#14.2). */
const PREFIX = new TextEncoder().encode("svc-delegate-v1:");

/**
 * The bytes by whose signature a new key shows that somebody holds it.
 *
 * @param accountId `0x` and 64 hex characters: the account that shall list the key.
 */
export function keyProofText(accountId: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(PREFIX.length + 32);
  bytes.set(PREFIX);
  bytes.set(Uint8Array.fromHex(accountId.slice(2)), PREFIX.length);
  return bytes;
}
