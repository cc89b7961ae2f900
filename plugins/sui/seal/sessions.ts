import {
  ExpiredSessionKeyError,
  type ExportedSessionKey,
  type SealClientOptions,
  SessionKey,
} from "@mysten/seal";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { isValidPersonalMessageSignature } from "@mysten/sui/verify";
import type { DecryptCredential } from "../../../src/interfaces/mod.ts";
import { isObjectId } from "../../../src/wire/keys.ts";
import type { Proof } from "./calls.ts";
import { chainDown, credentialRefused } from "./failures.ts";

type SuiClient = SealClientOptions["suiClient"];

/** Life of a session made from a delegate key, which serves one exchange. */
const OWN_SESSION_MINUTES = 2;
/** How far in the future a session may have been made, because clocks differ. */
const SKEW_MS = 60_000;
/** How long before its end the SDK takes a session for expired. */
const MARGIN_MS = 10_000;
const MAX_SESSION_CHARS = 8192;

/** An exported session of the SDK; `x-seal-session` carries it as JSON in base64. */
type Envelope = ExportedSessionKey & { readonly personalMessageSignature: string };

function envelopeOf(session: string): Envelope {
  if (session.length > MAX_SESSION_CHARS) throw credentialRefused();
  let value: unknown;
  try {
    const alphabet = /[-_]/.test(session) ? "base64url" : "base64";
    const bytes = Uint8Array.fromBase64(session, { alphabet });
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // A parser's message may quote the session key.
    throw credentialRefused();
  }
  if (typeof value !== "object" || value === null) throw credentialRefused();
  const given: { readonly [Name in keyof Envelope]?: unknown } = value;
  const { address, packageId, mvrName, creationTimeMs, ttlMin, ...rest } = given;
  const { personalMessageSignature, sessionKey } = rest;
  if (
    typeof address !== "string" || !isObjectId(address) ||
    typeof packageId !== "string" || !isObjectId(packageId) ||
    (mvrName !== undefined && mvrName !== null && typeof mvrName !== "string") ||
    typeof creationTimeMs !== "number" || !Number.isSafeInteger(creationTimeMs) ||
    typeof ttlMin !== "number" || !Number.isInteger(ttlMin) ||
    typeof personalMessageSignature !== "string" || typeof sessionKey !== "string"
  ) throw credentialRefused();
  return {
    address: address.toLowerCase(),
    packageId: packageId.toLowerCase(),
    ...(typeof mvrName === "string" ? { mvrName } : {}),
    creationTimeMs,
    ttlMin,
    personalMessageSignature,
    sessionKey,
  };
}

/** Key pair of `x-delegate-key`: 64 hex characters or `suiprivkey1…`. */
function keypairOf(delegateKey: string): Ed25519Keypair {
  try {
    const isHex = /^[0-9a-fA-F]{64}$/.test(delegateKey);
    return Ed25519Keypair.fromSecretKey(isHex ? Uint8Array.fromHex(delegateKey) : delegateKey);
  } catch {
    // The SDK's message may quote the key.
    throw credentialRefused();
  }
}

/** Turns callers' credentials into sessions with the key servers. */
export class Sessions {
  readonly #client: SuiClient;
  readonly #packageId: string;

  /** @param packageId First version of the package, as in `SVC_PACKAGE_ID`. */
  constructor(client: SuiClient, packageId: string) {
    this.#client = client;
    this.#packageId = packageId;
  }

  /**
   * Finds out whose credential it is. A session must have been signed by its address.
   *
   * @throws {SvcError} `decrypt_credential_invalid`; `chain_unavailable` when a signature can only
   * be checked by the chain.
   */
  async prove({ session, delegateKey }: DecryptCredential): Promise<Proof> {
    if (session === undefined) {
      return { address: keypairOf(delegateKey ?? "").toSuiAddress() };
    }
    const envelope = envelopeOf(session);
    const imported = this.#import(envelope);
    const { address, personalMessageSignature, creationTimeMs, ttlMin } = envelope;
    const options = { address, client: this.#client };
    const message = imported.getPersonalMessage();
    const valid = await isValidPersonalMessageSignature(message, personalMessageSignature, options)
      .catch((error) => {
        throw chainDown(error);
      });
    if (!valid) throw credentialRefused();
    return { address, expiresAt: creationTimeMs + ttlMin * 60_000 - MARGIN_MS };
  }

  /**
   * Opens a session with the key servers.
   *
   * @throws {SvcError} `decrypt_credential_invalid`; `chain_unavailable`.
   */
  async open({ session, delegateKey }: DecryptCredential): Promise<SessionKey> {
    if (session !== undefined) return this.#import(envelopeOf(session));
    const signer = keypairOf(delegateKey ?? "");
    return await SessionKey.create({
      address: signer.toSuiAddress(),
      packageId: this.#packageId,
      ttlMin: OWN_SESSION_MINUTES,
      signer,
      suiClient: this.#client,
    }).catch((error) => {
      throw chainDown(error);
    });
  }

  #import(envelope: Envelope): SessionKey {
    const { packageId, mvrName, creationTimeMs } = envelope;
    // The signature of a session with a name does not cover the package: a session made for another
    // application would pass for ours where keys are open already.
    const foreign = packageId !== this.#packageId || mvrName !== undefined;
    if (foreign || creationTimeMs > Date.now() + SKEW_MS) throw credentialRefused();
    try {
      return SessionKey.import(envelope, this.#client);
    } catch (error) {
      // Other messages of the SDK may quote the key.
      throw credentialRefused(error instanceof ExpiredSessionKeyError ? "expired" : undefined);
    }
  }
}
