import { isObjectId, isPublicKey } from "../wire/keys.ts";
import { type DelegateKeyPair, makeDelegateKey } from "./delegate_key.ts";
import { parseBaseUrl } from "./options.ts";

/** The credentials of a signed-in user (docs/protocol.md#14.1); hex in lower case. */
export interface Credentials {
  /** Ed25519 seed, 64 hex characters. */
  readonly delegatePrivateKey: string;
  /** Its public key, 64 hex characters. */
  readonly delegatePublicKeyHex: string;
  /** Address of the public key. */
  readonly delegateAddress: string;
  /** The wallet that approved the key. */
  readonly walletAddress: string;
  /** The account that lists the key. */
  readonly accountId: string;
  /** Package of the account. */
  readonly packageId: string;
  /** Relayer the key was made for. */
  readonly relayerUrl: string;
  /** Name of the key for people. */
  readonly label?: string;
  /** Creation time, ISO 8601. */
  readonly createdAt: string;
  /** Version of this format. */
  readonly version: 1;
  /** Dashboard used, for the next login. */
  readonly webUrl?: string;
}

const isHttp = (value: unknown): boolean =>
  typeof value === "string" && parseBaseUrl(value) !== undefined;
const isKey = (value: unknown): boolean => typeof value === "string" && isPublicKey(value);
const isId = (value: unknown): boolean => typeof value === "string" && isObjectId(value);

/** What each member must be; the first one that is not is named. */
const RULES: Readonly<Record<keyof Credentials, (value: unknown) => boolean>> = {
  version: (value) => value === 1,
  delegatePrivateKey: isKey,
  delegatePublicKeyHex: isKey,
  delegateAddress: isId,
  walletAddress: isId,
  accountId: isId,
  packageId: isId,
  relayerUrl: isHttp,
  createdAt: (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
  label: (value) => value === undefined || typeof value === "string",
  webUrl: (value) => value === undefined || isHttp(value),
};

/** Every key of {@linkcode Credentials}; others in a file are somebody else's and are kept. */
export const CREDENTIAL_KEYS = Object.keys(RULES) as readonly (keyof Credentials)[];

/** Credentials of a key pair, with the members of the format only; empty ones are left out. */
export function credentialsOf(
  pair: DelegateKeyPair,
  given: Omit<Credentials, `delegate${string}` | "version">,
): Credentials {
  return {
    delegatePrivateKey: pair.privateKey,
    delegatePublicKeyHex: pair.publicKey,
    delegateAddress: pair.address,
    walletAddress: given.walletAddress,
    accountId: given.accountId,
    packageId: given.packageId,
    relayerUrl: given.relayerUrl,
    ...(given.label ? { label: given.label } : {}),
    createdAt: given.createdAt,
    version: 1,
    ...(given.webUrl ? { webUrl: given.webUrl } : {}),
  };
}

/** Credentials, or why there are none; the reason never quotes a value. */
export type CredentialsCheck =
  | { readonly credentials: Credentials; readonly reason?: undefined }
  | { readonly credentials?: undefined; readonly reason: string };

/** Checks every key of parsed JSON, also that public key and address belong to the private key. */
export async function checkCredentials(file: unknown): Promise<CredentialsCheck> {
  if (typeof file !== "object" || file === null || Array.isArray(file)) {
    return { reason: "it is not a JSON object" };
  }
  const broken = CREDENTIAL_KEYS.find((key) => !RULES[key](Reflect.get(file, key)));
  if (broken !== undefined) return { reason: `${broken} is missing or not valid` };
  const given = file as Credentials;
  const pair = await makeDelegateKey(Uint8Array.fromHex(given.delegatePrivateKey));
  if (pair.publicKey !== given.delegatePublicKeyHex.toLowerCase()) {
    return { reason: "delegatePublicKeyHex does not belong to the private key" };
  }
  if (pair.address !== given.delegateAddress.toLowerCase()) {
    return { reason: "delegateAddress does not belong to the private key" };
  }
  const { walletAddress, accountId, packageId } = given;
  return {
    credentials: credentialsOf(pair, {
      ...given,
      walletAddress: walletAddress.toLowerCase(),
      accountId: accountId.toLowerCase(),
      packageId: packageId.toLowerCase(),
    }),
  };
}
