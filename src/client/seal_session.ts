import { addressOf } from "../wire/keys.ts";
import { personalMessageDigest } from "../wire/signing/signing.ts";
import { formatPrivateKey } from "../wire/signing/private_key.ts";
import { makeSigner, type Signer } from "./signer.ts";

/** How long a session lasts, in minutes; key servers take 1 to 30. */
const TTL_MINUTES = 10;
/** A session is replaced when it has less left than this, in milliseconds. */
const EARLY_MS = 60_000;

const encoder = new TextEncoder();

/** A session and when it should be replaced, milliseconds since the epoch. */
export interface SealSession {
  /** Value of `x-seal-session`. */
  readonly header: string;
  /** From then on another one is made. */
  readonly renewAt: number;
}

/**
 * Makes a session for a threshold key service: for some minutes, whoever holds it opens what the
 * signing key may open, and nothing else is given away. The text that is signed is that of Seal's
 * `SessionKey` (@mysten/seal); the header is its exported form as base64 of JSON.
 *
 * @param packageId Package of the account contract, from `GET /config`.
 * @param now Current time of the key servers, milliseconds since the epoch.
 */
export async function makeSealSession(
  signer: Signer,
  packageId: string,
  now: number,
): Promise<SealSession> {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const { publicKey } = await makeSigner(seed);
  const sessionKey = Uint8Array.fromHex(publicKey).toBase64();
  // Servers refuse sessions from the future, and clocks differ by a little.
  const creationTimeMs = now - 2_000;
  const time = new Date(creationTimeMs).toISOString().slice(0, 19).replace("T", " ");
  const text = `Accessing keys of package ${packageId} for ${TTL_MINUTES} mins from ${time} UTC, ` +
    `session key ${sessionKey}`;
  const digest = new Uint8Array(personalMessageDigest(encoder.encode(text)));
  const signature = new Uint8Array(97); // flag 0 is Ed25519
  signature.set(await signer.sign(digest), 1);
  signature.set(Uint8Array.fromHex(signer.publicKey), 65);
  const envelope = {
    address: addressOf(signer.publicKey),
    packageId,
    creationTimeMs,
    ttlMin: TTL_MINUTES,
    personalMessageSignature: signature.toBase64(),
    sessionKey: formatPrivateKey(seed),
  };
  return {
    header: encoder.encode(JSON.stringify(envelope)).toBase64(),
    renewAt: creationTimeMs + TTL_MINUTES * 60_000 - EARLY_MS,
  };
}
