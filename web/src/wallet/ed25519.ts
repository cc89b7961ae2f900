/** DER of a PrivateKeyInfo with an Ed25519 seed, up to the seed itself (RFC 8410). */
const PKCS8_PREFIX = Uint8Array.of(
  0x30,
  46,
  2,
  1,
  0,
  0x30,
  5,
  6,
  3,
  0x2b,
  0x65,
  0x70,
  4,
  34,
  4,
  32,
);

/** A key of the platform with its public key. */
export interface KeyPair {
  /** Signs; whether it can be read out was decided when it was made. */
  readonly privateKey: CryptoKey;
  /** 64 lower-case hex characters. */
  readonly publicKey: string;
}

/** Makes a key; one that is not `extractable` can never leave this browser. */
export async function makeKey(extractable: boolean): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey("Ed25519", extractable, [
    "sign",
    "verify",
  ]);
  if (!("privateKey" in pair)) {
    throw new Error("This browser cannot make Ed25519 keys");
  }
  const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
  return {
    privateKey: pair.privateKey,
    publicKey: new Uint8Array(raw).toHex(),
  };
}

/** The key of a 32-byte seed. */
export async function keyOfSeed(seed: Uint8Array): Promise<KeyPair> {
  const pkcs8 = new Uint8Array(48);
  pkcs8.set(PKCS8_PREFIX);
  pkcs8.set(seed, 16);
  const privateKey = await crypto.subtle.importKey(
    "pkcs8",
    pkcs8,
    "Ed25519",
    true,
    ["sign"],
  );
  const { x } = await crypto.subtle.exportKey("jwk", privateKey);
  const publicKey = Uint8Array.fromBase64(x ?? "", { alphabet: "base64url" })
    .toHex();
  return { privateKey, publicKey };
}

/** The 32-byte seed of a key that may be read out. */
export async function seedOf(
  privateKey: CryptoKey,
): Promise<Uint8Array<ArrayBuffer>> {
  const pkcs8 = new Uint8Array(
    await crypto.subtle.exportKey("pkcs8", privateKey),
  );
  return pkcs8.slice(16, 48);
}

/** Signs bytes; 64 bytes. */
export async function sign(
  privateKey: CryptoKey,
  message: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(
    await crypto.subtle.sign("Ed25519", privateKey, message),
  );
}

/** Whether this browser has Ed25519, on which everything here rests. */
export async function hasEd25519(): Promise<boolean> {
  try {
    await makeKey(false);
    return true;
  } catch {
    return false;
  }
}
