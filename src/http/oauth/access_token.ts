import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import type { Permission } from "../../interfaces/mod.ts";
import type { Sealer } from "../../interfaces/plugin.ts";
import { OAUTH_TOKEN_SECONDS } from "../../wire/limits.ts";
import { canonicalText } from "../../wire/signing/signing.ts";
import { nativeBodySha256 } from "../../wire/signing/verify.ts";
import { makeSessionToken } from "../session_tokens.ts";

/** DER of an Ed25519 private key, up to its seed (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

function keyOf(seed: string): KeyObject {
  const key = Buffer.concat([PKCS8_PREFIX, Buffer.from(seed, "hex")]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

/** The public key of a seed, both of 64 lower-case hex characters. */
export function publicKeyOf(seed: string): string {
  const { x = "" } = createPublicKey(keyOf(seed)).export({ format: "jwk" });
  return Uint8Array.fromBase64(x, { alphabet: "base64url" }).toHex();
}

/** What an access token is made for. */
export interface AccessOf {
  /** Seed of the app's key, 64 hex characters. */
  readonly seed: string;
  readonly accountId: string;
  readonly permissions: readonly Permission[];
  /** Origin of the relayer. */
  readonly origin: string;
  /** Address of the resource. */
  readonly audience: string;
  /** Whether the cipher opens records with the caller's key. */
  readonly needsCredential: boolean;
}

/**
 * An access token of OAuth: a session token, for which the app's key signs as it would itself.
 *
 * @param now Milliseconds since the epoch.
 */
export function makeAccessToken(
  sealer: Pick<Sealer, "seal">,
  { seed, accountId, permissions, origin, audience, needsCredential }: AccessOf,
  now: number,
): { readonly token: string; readonly seconds: number } {
  const asked = { audience: origin, expires_in: OAUTH_TOKEN_SECONDS, permissions };
  const body = JSON.stringify(asked);
  const timestamp = String(Math.floor(now / 1000));
  const nonce = crypto.randomUUID();
  const target = "/api/session-token";
  const bodySha256 = nativeBodySha256(new TextEncoder().encode(body));
  const of = { timestamp, nonce, accountId, audience: origin };
  const text = canonicalText({ ...of, method: "POST", target, bodySha256 });
  const signature = new Uint8Array(sign(null, text, keyOf(seed)));
  return makeSessionToken(sealer, {
    key: { publicKey: publicKeyOf(seed), accountId },
    signed: { body, ...of, signature },
    audience,
    credential: needsCredential ? { delegateKey: seed } : undefined,
  }, now);
}
