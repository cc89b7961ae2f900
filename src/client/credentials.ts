import { isObjectId, isPublicKey } from "../wire/keys.ts";
import { makeDelegateKey } from "./delegate_key.ts";
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

/** Every key of {@linkcode Credentials}; others in a file are somebody else's and are kept. */
export const CREDENTIAL_KEYS = [
  "delegatePrivateKey",
  "delegatePublicKeyHex",
  "delegateAddress",
  "walletAddress",
  "accountId",
  "packageId",
  "relayerUrl",
  "label",
  "createdAt",
  "version",
  "webUrl",
] as const satisfies readonly (keyof Credentials)[];

/** Credentials, or why there are none; the reason never quotes a value. */
export type CredentialsCheck =
  | { readonly credentials: Credentials; readonly reason?: undefined }
  | { readonly credentials?: undefined; readonly reason: string };

/** Members of a parsed file that are text. */
function textOf(file: object, key: keyof Credentials): string {
  const value: unknown = Reflect.get(file, key);
  return typeof value === "string" ? value : "";
}

const isHttp = (text: string): boolean => parseBaseUrl(text) !== undefined;
const isAbsentOr = (file: object, key: keyof Credentials, ok: (text: string) => boolean): boolean =>
  !Object.hasOwn(file, key) || ok(textOf(file, key));

/** The first key that breaks its rule. */
function brokenKey(file: object): keyof Credentials | undefined {
  const rules: readonly [keyof Credentials, boolean][] = [
    ["version", Reflect.get(file, "version") === 1],
    ["delegatePrivateKey", isPublicKey(textOf(file, "delegatePrivateKey"))],
    ["delegatePublicKeyHex", isPublicKey(textOf(file, "delegatePublicKeyHex"))],
    ["delegateAddress", isObjectId(textOf(file, "delegateAddress"))],
    ["walletAddress", isObjectId(textOf(file, "walletAddress"))],
    ["accountId", isObjectId(textOf(file, "accountId"))],
    ["packageId", isObjectId(textOf(file, "packageId"))],
    ["relayerUrl", isHttp(textOf(file, "relayerUrl"))],
    ["createdAt", !Number.isNaN(Date.parse(textOf(file, "createdAt")))],
    ["label", ["string", "undefined"].includes(typeof Reflect.get(file, "label"))],
    ["webUrl", isAbsentOr(file, "webUrl", isHttp)],
  ];
  return rules.find(([, ok]) => !ok)?.[0];
}

/** Checks every key of parsed JSON, also that public key and address belong to the private key. */
export async function checkCredentials(file: unknown): Promise<CredentialsCheck> {
  if (typeof file !== "object" || file === null || Array.isArray(file)) {
    return { reason: "it is not a JSON object" };
  }
  const broken = brokenKey(file);
  if (broken !== undefined) return { reason: `${broken} is missing or not valid` };
  const text = (key: keyof Credentials): string => textOf(file, key);
  const hex = (key: keyof Credentials): string => textOf(file, key).toLowerCase();
  const pair = await makeDelegateKey(Uint8Array.fromHex(text("delegatePrivateKey")));
  if (pair.publicKey !== hex("delegatePublicKeyHex")) {
    return { reason: "delegatePublicKeyHex does not belong to the private key" };
  }
  if (pair.address !== hex("delegateAddress")) {
    return { reason: "delegateAddress does not belong to the private key" };
  }
  return {
    credentials: {
      delegatePrivateKey: pair.privateKey,
      delegatePublicKeyHex: pair.publicKey,
      delegateAddress: pair.address,
      walletAddress: hex("walletAddress"),
      accountId: hex("accountId"),
      packageId: hex("packageId"),
      relayerUrl: text("relayerUrl"),
      ...(text("label") === "" ? {} : { label: text("label") }),
      createdAt: text("createdAt"),
      version: 1,
      ...(text("webUrl") === "" ? {} : { webUrl: text("webUrl") }),
    },
  };
}
